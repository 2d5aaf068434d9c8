#ifndef OPTIML_CLI_MACHINE_FACTS_H_
#define OPTIML_CLI_MACHINE_FACTS_H_

// MachineFacts: what `optiml doctor` finds on this machine. Only facts; what follows from them is
// the command's affair.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/measured_peaks.h"
#include "device/cuda/nvml.h"

namespace optiml {

// A program that was looked for.
struct ProgramFact {
  std::string name;
  std::filesystem::path path;  // empty: not found
  std::string version;         // first line of its --version; may be empty
};

// One that the driver lists, in its order: what CUDA_VISIBLE_DEVICES hides is not there.
struct GpuFact {
  std::string name;
  std::string architecture;  // "sm_90"
  int multiprocessors = 0;   // of a MIG slice its own
  uint64_t l2_bytes = 0;
  std::string uuid = {};  // empty: not known
  std::string pci_bus_id = {};
  std::optional<cuda::NvmlFacts> nvml = {};
  std::string nvml_problem = {};            // why there are none
  std::optional<MeasuredPeaks> peaks = {};  // absent: not measured with this driver
};

struct MachineFacts {
  Result<ToolchainInfo> toolchain = ToolchainInfo{};
  ProgramFact nvcc;
  ProgramFact compiler;  // of host references
  ProgramFact bubblewrap;
  Result<void> sandbox;
  bool has_driver = false;     // libcuda.so.1
  int driver_version = 0;      // the CUDA version it is for: 13000 is 13.0
  std::string driver_problem;  // why its GPUs could not be listed
  std::vector<GpuFact> gpus;
  std::string clang_version;  // the front end that is linked in
};

// Where this machine's GPU software is.
struct MachinePlaces {
  std::string driver_library = "libcuda.so.1";
  std::string nvml_library = cuda::kNvmlLibrary;
  std::filesystem::path peaks;  // folder of measured peaks; empty: none
};

// Starts no kernel and creates no context. `builder` is asked for its toolchain and
// compiles a small kernel; it should have no cache.
MachineFacts InspectThisMachine(Builder& builder, const MachinePlaces& places);

}  // namespace optiml

#endif  // OPTIML_CLI_MACHINE_FACTS_H_
