#ifndef OPTIML_CLI_MACHINE_FACTS_H_
#define OPTIML_CLI_MACHINE_FACTS_H_

// MachineFacts: what `optiml doctor` finds on this machine. Only facts; what follows from them is
// the command's affair.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"

namespace optiml {

// A program that was looked for.
struct ProgramFact {
  std::string name;
  std::filesystem::path path;  // empty: not found
  std::string version;         // first line of its --version; may be empty
};

struct GpuFact {
  std::string name;
  std::string architecture;  // "sm_90"
};

struct MachineFacts {
  Result<ToolchainInfo> toolchain = ToolchainInfo{};
  ProgramFact nvcc;
  ProgramFact compiler;  // of host references
  ProgramFact bubblewrap;
  Result<void> sandbox;
  bool has_driver = false;     // libcuda.so.1
  std::string driver_version;  // the CUDA version it supports: "13.0"
  std::string driver_problem;  // why its GPUs could not be listed
  std::vector<GpuFact> gpus;
  std::string clang_version;  // the front end that is linked in
};

// Starts no kernel and creates no context. `builder` is asked for its toolchain and
// compiles a small kernel; it should have no cache.
MachineFacts InspectThisMachine(Builder& builder);

}  // namespace optiml

#endif  // OPTIML_CLI_MACHINE_FACTS_H_
