#ifndef OPTIML_TASK_REFERENCE_DRIVER_H_
#define OPTIML_TASK_REFERENCE_DRIVER_H_

// The C++ program around a task's reference function: it includes the reference file, says the
// types of the function's parameters, and calls it on buffers whose ends lie at guard pages, so
// that an access outside of a buffer ends the child with the buffer's name instead of wrong
// numbers.
//
// The request file: u64 count, begin, end, flags (1: call the range function); then per argument
// u64 kind (0 scalar, 1 read-only buffer, 2 buffer), bytes, element bytes; the data. The answer
// file: the contents of the buffers of kind 2, in order.
//
// `PROGRAM --serve REQUEST ANSWER` says the types in a line ("f32 *f32 | i64 i64 f32 *f32": after
// the bar those of the range function), then runs the request in a new process of its own for each
// byte of its standard input, and says how that ended in a line: exit code, signal, 1 if processes
// of it are left, and its message. `PROGRAM REQUEST ANSWER` is such a run.

#include <filesystem>
#include <string>
#include <vector>

namespace optiml {

struct DriverText {
  std::filesystem::path reference;          // absolute
  std::string entry;                        // ENTRY of ENTRY_reference
  bool has_range = false;                   // ENTRY_reference_range is defined
  std::vector<std::string> argument_names;  // for messages
};

std::string MakeDriverText(const DriverText& parts);

// Lines of the program's standard output that begin with this are the driver's own.
inline constexpr char kDriverMark[] = "optiml-reference: ";

}  // namespace optiml

#endif  // OPTIML_TASK_REFERENCE_DRIVER_H_
