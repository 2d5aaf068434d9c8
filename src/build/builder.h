#ifndef OPTIML_BUILD_BUILDER_H_
#define OPTIML_BUILD_BUILDER_H_

// Builder: device text -> PTX, cubin and resource usage by NVRTC, in process, with a cache by
// content.
//
// NVRTC is opened at run time; without it every call fails with kUnavailable and the remedy. The
// PTX in an Artifact is the text that the cubin was assembled from. Compile errors are values
// (BuildFailure) and are cached like successes. Threads: calls may be made from several threads.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/artifact.h"
#include "core/kernel_source.h"

namespace optiml {

struct BuildRequest {
  std::string device_text;                    // ast::SourceUnit::device_text
  std::string file_name;                      // what messages call it
  std::vector<std::string> name_expressions;  // the kernels that the plans launch
  std::string architecture = "sm_90";
  std::vector<std::string> options;  // further NVRTC options: "-use_fast_math" is never added by us
};

struct ToolchainInfo {
  std::string nvrtc_version;                // "13.0"
  std::filesystem::path nvrtc;              // the library that was opened
  std::filesystem::path include_directory;  // CUDA headers; empty when there are none
};

class Builder {
 public:
  virtual ~Builder() = default;
  virtual Result<BuildOutcome> Build(const BuildRequest& request) = 0;
  virtual Result<ToolchainInfo> Toolchain() = 0;
};

struct BuilderOptions {
  std::filesystem::path cache_directory;  // empty: no cache on disk (a cache in memory always)
};

// Opens nothing until the first call.
std::unique_ptr<Builder> MakeNvrtcBuilder(BuilderOptions options);

}  // namespace optiml

#endif  // OPTIML_BUILD_BUILDER_H_
