#include "cli/machine_facts.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <variant>

#include "base/process.h"

namespace optiml {
namespace {

// Where CUDA's installer puts nvcc when it is not on PATH.
constexpr char kDefaultNvcc[] = "/usr/local/cuda/bin/nvcc";

// The line that names a release (nvcc prints four lines), else the first one with a digit.
std::string VersionLine(const std::string& text) {
  std::string first;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find("release") != std::string::npos) {
      return line;
    }
    if (first.empty() && line.find_first_of("0123456789") != std::string::npos) {
      first = line;
    }
    begin = end + 1;
  }
  return first;
}

ProgramFact FindFact(const std::string& name, const std::filesystem::path& fallback = {}) {
  ProgramFact fact;
  fact.name = name;
  if (const auto path = FindProgram(name)) {
    fact.path = *path;
  } else if (std::error_code ignored;
             !fallback.empty() && std::filesystem::exists(fallback, ignored)) {
    fact.path = fallback;
  } else {
    return fact;
  }
  ProcessRequest request;
  request.argv = {fact.path.string(), "--version"};
  request.limits.wall_time = std::chrono::seconds(5);
  if (const auto outcome = RunProcess(request); outcome && outcome->succeeded()) {
    fact.version = VersionLine(outcome->standard_output);
  }
  return fact;
}

// The driver API's few calls that need no context (CUDA Driver API reference, "Device Management").
void FindGpus(MachineFacts& facts) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) {
    return;
  }
  facts.has_driver = true;
  const auto symbol = [&](const char* name) { return dlsym(driver, name); };
  const auto init = reinterpret_cast<int (*)(unsigned)>(symbol("cuInit"));
  const auto version = reinterpret_cast<int (*)(int*)>(symbol("cuDriverGetVersion"));
  const auto count = reinterpret_cast<int (*)(int*)>(symbol("cuDeviceGetCount"));
  const auto get = reinterpret_cast<int (*)(int*, int)>(symbol("cuDeviceGet"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(symbol("cuDeviceGetName"));
  const auto attribute = reinterpret_cast<int (*)(int*, int, int)>(symbol("cuDeviceGetAttribute"));
  int number = 0;
  if (init == nullptr || version == nullptr || count == nullptr || get == nullptr ||
      name == nullptr || attribute == nullptr) {
    facts.driver_problem = "libcuda.so.1 lacks a function of the driver API";
  } else if (const int status = init(0); status != 0) {
    facts.driver_problem = fmt::format("cuInit failed with status {}", status);
  } else if (const int status2 = count(&number); status2 != 0) {
    facts.driver_problem = fmt::format("cuDeviceGetCount failed with status {}", status2);
  } else {
    int value = 0;
    if (version(&value) == 0) {
      facts.driver_version = fmt::format("{}.{}", value / 1000, value % 1000 / 10);
    }
    constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    constexpr int kMinor = 76;
    for (int i = 0; i < number; ++i) {
      int device = 0;
      int major = 0;
      int minor = 0;
      std::array<char, 256> text{};
      if (get(&device, i) == 0 && name(text.data(), static_cast<int>(text.size()), device) == 0 &&
          attribute(&major, kMajor, device) == 0 && attribute(&minor, kMinor, device) == 0) {
        facts.gpus.push_back({text.data(), fmt::format("sm_{}{}", major, minor)});
      }
    }
  }
  // The driver stays open: it does not survive being unloaded.
}

// That the libraries open does not mean that they work: they have parts that they open later.
Result<void> TryBuild(Builder& builder) {
  BuildRequest request;
  request.device_text = "__global__ void trial(float* x) { x[threadIdx.x] += 1.0f; }\n";
  request.file_name = "trial.cu";
  request.name_expressions = {"trial"};
  OPTIML_ASSIGN(const BuildOutcome outcome, builder.Build(request));
  if (const auto* failure = std::get_if<BuildFailure>(&outcome)) {
    return Error(ErrorCode::kUnavailable, fmt::format("a trial kernel does not {}: {}",
                                                      failure->stage, failure->first_error));
  }
  return {};
}

}  // namespace

MachineFacts InspectThisMachine(Builder& builder) {
  MachineFacts facts;
  facts.toolchain = builder.Toolchain();
  if (facts.toolchain) {
    if (const Result<void> works = TryBuild(builder); !works) {
      facts.toolchain = works.error();
    }
  }
  facts.nvcc = FindFact("nvcc", kDefaultNvcc);
  facts.compiler = FindFact("c++");
  facts.bubblewrap = FindFact("bwrap");
  facts.sandbox = SandboxAvailable();
  FindGpus(facts);
  facts.clang_version = OPTIML_CLANG_VERSION;
  return facts;
}

}  // namespace optiml
