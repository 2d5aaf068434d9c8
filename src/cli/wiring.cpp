// The real toolbox: the one place where the program's parts are chosen.
#include <fmt/format.h>

#include "cli/toolbox.h"
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

class RealToolbox : public Toolbox {
 public:
  std::unique_ptr<Builder> MakeBuilder(const std::filesystem::path& cache) override {
    BuilderOptions options;
    options.cache_directory = cache;
    return MakeNvrtcBuilder(std::move(options));
  }

  Result<std::unique_ptr<Device>> MakeDevice(const DeviceChoice& choice) override {
    if (choice.kind != "emulator") {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--device: unknown device \"{}\" (known: emulator)", choice.kind));
    }
    EmulatorOptions options;
    options.model = choice.description;
    options.threads = choice.threads;
    options.stop = choice.stop;
    return MakeEmulatorDevice(std::move(options));
  }

  Result<std::unique_ptr<EmulatorDevice>> MakeEmulator(const DeviceChoice& choice) override {
    EmulatorOptions options;
    options.model = choice.description;
    options.threads = choice.threads;
    options.stop = choice.stop;
    return EmulatorDevice::Make(std::move(options));
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

  MachineFacts InspectMachine() override {
    const auto builder = MakeBuilder({});
    return InspectThisMachine(*builder);
  }
};

}  // namespace

std::unique_ptr<Toolbox> MakeToolbox() {
  return std::make_unique<RealToolbox>();
}

}  // namespace optiml
