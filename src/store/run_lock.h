#ifndef OPTIML_STORE_RUN_LOCK_H_
#define OPTIML_STORE_RUN_LOCK_H_

#include <string>
#include <utility>

#include "base/file_system.h"
#include "base/result.h"

namespace optiml {

// Holds the run for one process: an advisory lock on a file of its own beside the store, which the
// kernel gives back when the process ends, however it ends. (A lock on the store itself would clash
// with SQLite's, which closing any other descriptor of that file gives up.)
//
// The file has room for a note: how the run ended, when the store itself could not be written any
// more. Writing over what is there needs no space on a full disk.
class RunLock {
 public:
  static Result<RunLock> Take(const fs::path& store);

  // Replaces the note. Without room for one nothing is noted.
  void Note(std::string text) const;

  // The note beside a store; empty when there is none.
  static std::string NoteBeside(const fs::path& store);

  RunLock(RunLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RunLock& operator=(RunLock&&) = delete;  // a store keeps its lock for life
  ~RunLock();

 private:
  static constexpr size_t kNoteBytes = 4096;

  explicit RunLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace optiml

#endif  // OPTIML_STORE_RUN_LOCK_H_
