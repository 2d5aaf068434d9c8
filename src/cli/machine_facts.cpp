#include "cli/machine_facts.h"

#include <fmt/format.h>

#include <chrono>
#include <variant>

#include "base/process.h"
#include "device/cuda/driver_api.h"
#include "profile/peaks.h"

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

// What NVML and the peaks' file say of a GPU.
void AddDetails(const Result<cuda::Nvml>& nvml, const MachinePlaces& places, int driver_version,
                GpuFact& gpu) {
  gpu.peaks = LoadPeaks(places.peaks, {gpu.name, gpu.uuid, driver_version});
  if (!nvml) {
    gpu.nvml_problem = nvml.error().message();
    return;
  }
  const Result<cuda::NvmlGpu> found = nvml->Find({gpu.uuid, gpu.pci_bus_id});
  if (found) {
    gpu.nvml = found->Facts();
  } else {
    gpu.nvml_problem = found.error().message();
  }
}

std::optional<GpuFact> DescribeGpu(const cuda::DriverApi& api, int ordinal) {
  using cuda::DriverApi;
  int device = 0;
  char name[256] = {};
  if (api.device_get(&device, ordinal) != DriverApi::kSuccess ||
      api.device_name(name, sizeof(name), device) != DriverApi::kSuccess) {
    return std::nullopt;
  }
  const auto attribute = [&](int which) {
    int value = 0;
    api.device_attribute(&value, which, device);
    return value;
  };
  GpuFact gpu;
  gpu.name = name;
  gpu.architecture =
      fmt::format("sm_{}{}", attribute(DriverApi::kMajor), attribute(DriverApi::kMinor));
  gpu.multiprocessors = attribute(DriverApi::kMultiprocessors);
  gpu.l2_bytes = static_cast<uint64_t>(attribute(DriverApi::kL2Bytes));
  unsigned char uuid[16] = {};
  if (api.device_uuid != nullptr && api.device_uuid(uuid, device) == DriverApi::kSuccess) {
    gpu.uuid = cuda::FormatUuid(uuid);
  }
  char bus[32] = {};
  if (api.device_pci_bus_id != nullptr &&
      api.device_pci_bus_id(bus, sizeof(bus), device) == DriverApi::kSuccess) {
    gpu.pci_bus_id = bus;
  }
  return gpu;
}

// By the driver's few calls that need no context.
void FindGpus(const MachinePlaces& places, MachineFacts& facts) {
  facts.has_driver = cuda::DriverIsHere(places.driver_library);
  if (!facts.has_driver) {
    return;
  }
  const Result<cuda::DriverApi> opened = cuda::OpenDriver(places.driver_library);
  if (!opened) {
    facts.driver_problem = opened.error().message();
    return;
  }
  const cuda::DriverApi& api = *opened;
  if (api.driver_version != nullptr) {
    api.driver_version(&facts.driver_version);
  }
  int count = 0;
  if (const int code = api.init(0); code != cuda::DriverApi::kSuccess) {
    facts.driver_problem = "the driver does not start: " + api.Describe(code);
  } else if (const int listed = api.device_count(&count); listed != cuda::DriverApi::kSuccess) {
    facts.driver_problem = "the driver does not list its GPUs: " + api.Describe(listed);
  }
  const Result<cuda::Nvml> nvml =
      count > 0 ? cuda::Nvml::Open(places.nvml_library)
                : Result<cuda::Nvml>(Error(ErrorCode::kUnavailable, "there is no GPU"));
  for (int i = 0; i < count; ++i) {
    if (std::optional<GpuFact> gpu = DescribeGpu(api, i)) {
      AddDetails(nvml, places, facts.driver_version, *gpu);
      facts.gpus.push_back(*std::move(gpu));
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

MachineFacts InspectThisMachine(Builder& builder, const MachinePlaces& places) {
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
  FindGpus(places, facts);
  facts.clang_version = OPTIML_CLANG_VERSION;
  return facts;
}

}  // namespace optiml
