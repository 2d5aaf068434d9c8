#ifndef OPTIML_CLI_PTX_TARGET_H_
#define OPTIML_CLI_PTX_TARGET_H_

// A file of PTX as something that the emulator can run: one kernel, its launch and its arguments
// from flags, in the form that tasks have.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/artifact.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "device/device.h"

namespace optiml {

struct PtxLaunchOptions {
  std::string entry;               // the kernel; empty: the only one
  std::vector<std::string> args;   // "x=f32[n]:in:normal", one for each parameter, in order
  std::vector<std::string> sizes;  // "n=100", at most one row
  std::vector<uint32_t> grid = {1};
  std::vector<uint32_t> block = {1};
  uint64_t dynamic_shared_bytes = 0;
  uint64_t seed = 1;
};

struct PtxTarget {
  std::string title;  // "scale in scale.ptx at n=100, seed 1"
  Artifact artifact;  // without cubin; registers are not known
  LaunchPlan plan;
  std::vector<BufferContents> buffers;
  std::vector<ArgSpec> args;
};

// Fails with kParse when the text is no PTX, with kInvalidArgument when flags and kernel disagree:
// the message names the flag, or the parameter and its size.
Result<PtxTarget> MakePtxTarget(const std::filesystem::path& file, const PtxLaunchOptions& options);

}  // namespace optiml

#endif  // OPTIML_CLI_PTX_TARGET_H_
