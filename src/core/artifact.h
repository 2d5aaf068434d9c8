#ifndef OPTIML_CORE_ARTIFACT_H_
#define OPTIML_CORE_ARTIFACT_H_

// Artifact: what the build made of a source for one architecture: the PTX that is emulated, the
// cubin that was linked from that very PTX, and what ptxas says of each kernel.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/content_hash.h"

namespace optiml {

// Per kernel, as ptxas reports it for the architecture.
struct KernelResources {
  std::string name_expression;  // as in KernelLaunch::kernel
  std::string lowered_name;     // the PTX entry
  int registers = 0;            // per thread
  uint64_t static_shared_bytes = 0;
  uint64_t stack_bytes = 0;
  uint64_t spill_store_bytes = 0;
  uint64_t spill_load_bytes = 0;
  int barriers = 0;
};

struct Artifact {
  ContentHash key;           // of source, options, toolchain, headers and architecture
  ContentHash ptx_hash;      // of the PTX without comments, debug lines and the file's name
  std::string architecture;  // "sm_90"
  std::string ptx;
  std::vector<std::byte> cubin;
  std::vector<KernelResources> kernels;
  std::string log;                         // warnings of the compiler and of ptxas
  std::vector<std::string> options;        // exact
  std::string toolchain;                   // "NVRTC 13.0"
  std::chrono::nanoseconds build_time{0};  // 0 when it came from the cache
  bool from_cache = false;

  // Null when there is no such kernel.
  const KernelResources* FindKernel(const std::string& name_expression) const;
};

// The source is not CUDA that compiles: a value, not an Error.
struct BuildFailure {
  std::string stage;        // "compile" or "assemble" (ptxas)
  std::string log;          // the whole log, with the candidate's line numbers
  std::string first_error;  // "kernel.cu:12: identifier \"foo\" is undefined"
  bool from_cache = false;
};

using BuildOutcome = std::variant<Artifact, BuildFailure>;

}  // namespace optiml

#endif  // OPTIML_CORE_ARTIFACT_H_
