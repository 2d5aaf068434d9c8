#ifndef OPTIML_FRONTEND_RECORDER_PROGRAM_H_
#define OPTIML_FRONTEND_RECORDER_PROGRAM_H_

#include <string>

#include "frontend/ast.h"
#include "frontend/recorder.h"

namespace optiml::frontend {

// The text of launcher.cpp: the host text, the file's kernels and module variables by number, and
// the call with its first `arguments` arguments. Fills `names`.
std::string RecorderProgramText(const ast::SourceUnit& unit, const ast::Function& launcher,
                                size_t arguments, RecordedNames& names);

// What launcher.cpp calls the file; messages name its real path.
inline constexpr char kRecordedFile[] = "optiml_source.cu";

// `text` with the namespace of this unit's program in place of OPTIML_SPACE.
std::string WithRecorderNamespace(std::string text, const std::string& space);

// The functions of launcher.h and runtime.cpp that the two call in each other.
inline constexpr const char* kRuntimeCalls[] = {"at",     "configure", "hand",
                                                "kernel", "symbol",    "potential"};
inline constexpr const char* kLauncherCalls[] = {"register", "call"};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_RECORDER_PROGRAM_H_
