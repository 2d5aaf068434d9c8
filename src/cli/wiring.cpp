// The real toolbox: the one place where the program's parts are chosen.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/memory_limits.h"
#include "build/cuda_libraries.h"
#include "cli/open_model.h"
#include "cli/toolbox.h"
#include "device/checked_device.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/driver_api.h"
#include "device/device_description.h"
#include "device/emulator_device.h"
#include "frontend/ast_format.h"
#include "frontend/buffer_uses.h"
#include "frontend/frontend.h"
#include "rewrite/lift/buffer_shapes.h"
#include "verify/prepare.h"

namespace optiml {
namespace {

Result<ast::SourceUnit> Parse(const KernelSource& source,
                              const std::filesystem::path& cuda_headers) {
  ParseOptions options;
  options.cuda_include_directory = cuda_headers.string();
  OPTIML_ASSIGN(ParseOutcome outcome, ParseSource(source, options));
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return Error(ErrorCode::kParse, refusal->reason);
  }
  return std::get<ast::SourceUnit>(std::move(outcome));
}

// Roles and extents, as far as the kernels say them.
void AddUses(const ast::SourceUnit& unit, const std::string& entry,
             std::vector<LauncherFact>& facts) {
  const std::vector<BufferUse> uses = BufferUses(unit, entry);
  const std::vector<std::vector<std::string>> shapes = rewrite::BufferShapes(unit, entry);
  for (size_t i = 0; i < facts.size() && i < uses.size() && i < shapes.size(); ++i) {
    LauncherFact& fact = facts[i];
    if (!fact.is_pointer) {
      continue;
    }
    const BufferUse& use = uses[i];
    fact.shape = shapes[i];
    if (use.escapes) {
      fact.role_reason = "its pointer cannot be followed";
    } else if (!use.is_written) {
      fact.role = ArgRole::kIn;
      fact.role_reason = use.is_read ? "" : "role assumed: no kernel uses it";
    } else if (!use.is_read) {
      fact.role = ArgRole::kOut;
    } else if (use.starts_written) {
      fact.role = ArgRole::kOut;
      fact.role_reason = "written, then read: workspace, if nobody needs it afterwards";
    } else {
      fact.role = ArgRole::kInOut;
      fact.role_reason = "read and written: out, if each element is written before it is read";
    }
  }
}

EmulatorOptions EmulatorOptionsOf(const DeviceChoice& choice) {
  EmulatorOptions options;
  options.model = choice.description;
  options.threads = choice.threads;
  options.stop = choice.stop;
  return options;
}

// "cuda" is the first GPU, "cuda:1" the second.
Result<int> OrdinalOf(const std::string& kind) {
  if (kind == "cuda") {
    return 0;
  }
  int ordinal = -1;
  const std::string_view number = std::string_view(kind).substr(std::min<size_t>(kind.size(), 5));
  const auto [end, error] = std::from_chars(number.begin(), number.end(), ordinal);
  if (!kind.starts_with("cuda:") || error != std::errc() || end != number.end() || ordinal < 0) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--device: unknown device \"{}\" (known: auto, emulator, cuda, cuda:N)", kind));
  }
  return ordinal;
}

// The model whose counters stand beside the times of a GPU of this name, unless the user named one.
std::string DescriptionFor(const std::string& gpu, const std::string& chosen) {
  const auto plain = [](const std::string& name) {
    std::string letters;
    for (const char c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    return letters;
  };
  for (const std::string& name : DeviceDescriptionNames()) {
    if (plain(gpu).find(plain(name)) != std::string::npos && chosen == kDefaultDescription) {
      return name;
    }
  }
  return chosen;
}

Result<std::unique_ptr<CudaDevice>> MakeGpu(const DeviceChoice& choice) {
  CudaOptions options;
  options.worker.stop = choice.stop;
  options.is_one_of_several = choice.is_one_of_several;
  options.find_cupti = [] { return LibraryFiles(LibrarySearch::OfThisProcess(), "libcupti"); };
  if (const char* file = std::getenv("OPTIML_KEEP_COUNTED")) {
    options.keep_counted = file;
  }
  OPTIML_ASSIGN(options.worker.ordinal, OrdinalOf(choice.kind));
  return CudaDevice::Make(std::move(options));
}

PeakKey KeyOf(const cuda::HelloReply& facts) {
  return {facts.name, facts.uuid, facts.driver_version};
}

// What a candidate that costs its worker costs beside.
std::string StartOfAWorker(const std::vector<cuda::Phase>& phases) {
  double sum = 0;
  std::string parts;
  for (const cuda::Phase& phase : phases) {
    sum += phase.seconds;
    parts += fmt::format("{}{} {:.3f}", parts.empty() ? "" : ", ", phase.name, phase.seconds);
  }
  return fmt::format("a new worker opens the GPU in {:.3f} s: {}", sum, parts);
}

class RealToolbox : public Toolbox {
 public:
  std::unique_ptr<Builder> MakeBuilder(const std::filesystem::path& cache) override {
    BuilderOptions options;
    options.cache_directory = cache;
    return MakeNvrtcBuilder(std::move(options));
  }

  // One that is too old is here, too: whoever opens it says so.
  bool HasGpuDriver() override { return cuda::DriverIsHere(); }

  Result<std::unique_ptr<Device>> MakeDevice(const DeviceChoice& choice) override {
    if (choice.kind == "emulator") {
      return MakeEmulatorDevice(EmulatorOptionsOf(choice));
    }
    OPTIML_ASSIGN(std::unique_ptr<CudaDevice> gpu, MakeGpu(choice));
    gpu->UsePeaks(LoadPeaks(choice.peaks, KeyOf(gpu->facts())));
    KeepFreedMemory();  // contents and results of each candidate
    DeviceChoice checks = choice;
    checks.description = DescriptionFor(gpu->Info().name, choice.description);
    OPTIML_ASSIGN(std::unique_ptr<Device> emulator, MakeEmulatorDevice(EmulatorOptionsOf(checks)));
    return std::unique_ptr<Device>(
        std::make_unique<CheckedDevice>(std::move(gpu), std::move(emulator)));
  }

  Result<std::unique_ptr<EmulatorDevice>> MakeEmulator(const DeviceChoice& choice) override {
    return EmulatorDevice::Make(EmulatorOptionsOf(choice));
  }

  Result<std::unique_ptr<HostReference>> MakeReference(const KernelTask& task,
                                                       const ReferenceOptions& options) override {
    return MakeHostReference(task, options);
  }

  Result<std::unique_ptr<Verifier>> MakeVerifier(const KernelTask& task, Builder& builder,
                                                 Device& device, HostReference* reference,
                                                 const VerifierOptions& options) override {
    return optiml::MakeVerifier(task, builder, device, reference, options);
  }

  Result<std::vector<LauncherFact>> LauncherFacts(
      const KernelSource& source, const std::filesystem::path& cuda_headers) override {
    OPTIML_ASSIGN(const ast::SourceUnit unit, Parse(source, cuda_headers));
    const auto launcher = FindLauncher(unit, source.entry());
    if (const auto* refusal = std::get_if<Refusal>(&launcher)) {
      return Error(ErrorCode::kParse, refusal->reason);
    }
    std::vector<LauncherFact> facts = FactsOf(std::get<std::vector<LauncherParameter>>(launcher));
    AddUses(unit, source.entry(), facts);
    return facts;
  }

  Result<std::string> DescribeSource(const KernelSource& source,
                                     const std::filesystem::path& cuda_headers) override {
    OPTIML_ASSIGN(const ast::SourceUnit unit, Parse(source, cuda_headers));
    std::string text;
    for (const ast::Function& function : unit.functions) {
      text += ast::Format(unit, function);
    }
    return text;
  }

  Result<RunRecord> RunSession(const SessionParts& parts, const SessionOptions& options,
                               const RunRecord& record) override {
    return optiml::RunSession(parts, options, record);
  }

  Result<int64_t> ReplaySearch(const RunRecord& record) override {
    return optiml::ReplaySearch(record);
  }

  Result<ProcessOutcome> RunProgram(const std::vector<std::string>& arguments, const CliEnv& env,
                                    const ProcessLimits& limits) override {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) {
      return Error(ErrorCode::kUnavailable, "/proc/self/exe: " + error.message());
    }
    ProcessRequest request;
    request.argv = {self.string()};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    request.working_directory = env.working_directory;
    request.environment = env.variables;
    request.limits = limits;
    request.stop = env.stop;
    return RunProcess(request);
  }

  Result<std::unique_ptr<ChatModel>> MakeChatModel(
      const std::string& spec, const CliEnv& env,
      const std::shared_ptr<ModelLedger>& budget) override {
    return OpenModelByName(spec, env, budget);
  }

  MachineFacts InspectMachine(const std::filesystem::path& peaks) override {
    const auto builder = MakeBuilder({});
    MachinePlaces places;
    places.peaks = peaks;
    return InspectThisMachine(*builder, places);
  }

  Result<PeakOutcome> MeasurePeaks(const DeviceChoice& choice, const std::string& date) override {
    OPTIML_ASSIGN(const std::unique_ptr<CudaDevice> gpu, MakeGpu(choice));
    const auto builder = MakeBuilder({});
    OPTIML_ASSIGN(PeakOutcome outcome, optiml::MeasurePeaks(*builder, *gpu));
    outcome.peaks.date = date;
    outcome.peaks.driver = gpu->DriverVersion();
    outcome.notes.push_back(StartOfAWorker(gpu->facts().phases));
    OPTIML_TRY(SavePeaks(choice.peaks, KeyOf(gpu->facts()), outcome.peaks));
    return outcome;
  }

  CounterCheck TryCounters(const DeviceChoice& choice) override {
    const Result<std::unique_ptr<CudaDevice>> gpu = MakeGpu(choice);
    return JudgeCounters(gpu ? (*gpu)->TryCounters() : gpu.error());
  }
};

}  // namespace

std::unique_ptr<Toolbox> MakeToolbox() {
  return std::make_unique<RealToolbox>();
}

}  // namespace optiml
