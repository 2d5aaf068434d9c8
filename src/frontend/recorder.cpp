#include "frontend/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/content_hash.h"
#include "base/file_system.h"
#include "base/process.h"
#include "frontend/launch_rules.h"
#include "frontend/live_trace.h"
#include "frontend/recorder/protocol.h"
#include "frontend/recorder_program.h"
#include "frontend/recorder_symbols.h"
#include "frontend/recorder_text.h"

namespace optiml::frontend {

namespace {

// What is linked must not move (the variables are compared between calls), and fused arithmetic
// would compute other numbers than the user's machine.
const std::vector<std::string> kCompileFlags = {"-std=gnu++17",
                                                "-O1",
                                                "-w",
                                                "-fno-pie",
                                                "-c",
                                                "-fno-strict-aliasing",
                                                "-fmax-errors=1",
                                                "-ffp-contract=off",
                                                "-U_FORTIFY_SOURCE"};
constexpr auto kToolLimit = std::chrono::seconds(60);
constexpr char kAlternatives[] = "/etc/alternatives";

Refusal RefuseAt(const ast::SourceUnit& unit, int line, const std::string& what) {
  return Refusal{line > 0 ? fmt::format("{}:{}: {}", unit.path, line, what)
                          : fmt::format("{}: {}", unit.path, what),
                 line};
}

// The compiler's first error about the file itself: line and text.
struct CompilerError {
  int line = 0;
  std::string text;
};

CompilerError FirstError(const std::string& log) {
  const std::string mark = std::string(kRecordedFile) + ":";
  CompilerError found;
  size_t begin = 0;
  while (begin < log.size()) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    const size_t at = line.find("error: ");
    if (at == std::string::npos) {
      continue;
    }
    const std::string text = line.substr(at + 7);
    if (line.starts_with(mark)) {
      return {std::atoi(line.c_str() + mark.size()), text};
    }
    if (found.text.empty()) {
      found.text = text;
    }
  }
  if (found.text.empty()) {
    found.text = log.substr(0, std::min<size_t>(log.find('\n'), 300));
  }
  return found;
}

Result<std::filesystem::path> HostCompiler() {
  Result<std::filesystem::path> found = FindProgram("c++");
  return found ? std::move(found) : FindProgram("g++");
}

void PutWord(std::string& out, uint64_t word) {
  out.append(reinterpret_cast<const char*>(&word), sizeof(word));
}

}  // namespace

// Makes the program of one launcher.
class Recorder::Maker {
 public:
  Maker(Recorder& recorder, std::filesystem::path compiler, TemporaryDirectory scratch)
      : recorder_(recorder),
        unit_(*recorder.unit_),
        options_(recorder.options_),
        compiler_(std::move(compiler)),
        scratch_(std::move(scratch)),
        space_(RecorderNamespace(unit_.text)) {}

  // A refusal, or none and recorder.program_ is set.
  Result<std::optional<Refusal>> Make(size_t arguments) {
    const std::string text =
        RecorderProgramText(unit_, *recorder_.launcher_, arguments, recorder_.names_);
    OPTIML_ASSIGN(const std::string version, CompilerVersion());
    ContentHasher hasher;
    hasher.Add(text).Add(compiler_.string()).Add(version);
    hasher.Add(options_.cuda_include_directory.string()).Add(AllowedLibrarySymbols());
    for (const std::string& flag : kCompileFlags) {
      hasher.Add(flag);
    }
    for (const EmbeddedText& file : EmbeddedRecorderTexts()) {
      hasher.Add(file.text);
    }
    const std::filesystem::path folder = std::filesystem::absolute(options_.cache_directory);
    OPTIML_TRY(CreateDirectories(folder));
    recorder_.program_ = folder / ("recorder-" + hasher.Finish().Hex().substr(0, 32));
    std::error_code ignored;
    if (std::filesystem::exists(recorder_.program_, ignored)) {
      return std::optional<Refusal>();
    }
    if (auto known = KnownRefusal()) {
      return known;
    }
    OPTIML_TRY(WriteTexts(text));
    OPTIML_ASSIGN(auto refused, CompileLauncher());
    if (!refused) {
      OPTIML_ASSIGN(refused, CheckSymbols());
    }
    if (!refused) {
      OPTIML_ASSIGN(refused, Link());
    }
    if (refused && is_for_good_) {
      OPTIML_TRY(
          WriteFileAtomically(RefusalFile(), fmt::format("{}\n{}", refused_line_, refused_what_)));
    }
    return refused;
  }

 private:
  Result<void> WriteTexts(const std::string& text) {
    for (const EmbeddedText& file : EmbeddedRecorderTexts()) {
      OPTIML_TRY(WriteFileAtomically(scratch_.path() / std::string(file.name),
                                     WithRecorderNamespace(std::string(file.text), space_)));
    }
    return WriteFileAtomically(scratch_.path() / "launcher.cpp", text);
  }

  Result<ProcessOutcome> Start(std::vector<std::string> argv) const {
    ProcessRequest request;
    request.argv = std::move(argv);
    request.limits.wall_time = kToolLimit;
    request.stop = options_.stop;
    request.limits.output_bytes = size_t{4} << 20;
    request.limits.file_bytes = size_t{1} << 30;
    request.limits.address_space_bytes = size_t{8} << 30;
    request.working_directory = scratch_.path();
    request.environment =
        std::map<std::string, std::string>{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                           {"LC_ALL", "C"},
                                           {"CCACHE_DISABLE", "1"},
                                           {"TMPDIR", scratch_.path()}};
    if (options_.confined) {
      std::vector<std::filesystem::path> read_only;
      std::error_code ignored;
      if (std::filesystem::is_directory(kAlternatives, ignored)) {
        read_only.emplace_back(kAlternatives);
      }
      for (const std::filesystem::path& path :
           {options_.cuda_include_directory,
            std::filesystem::canonical(options_.cuda_include_directory, ignored),
            compiler_.parent_path().parent_path()}) {
        if (!path.empty() && !path.string().starts_with("/usr") && path != "/") {
          read_only.push_back(path);
        }
      }
      request.sandbox = Sandbox{std::move(read_only), {scratch_.path()}};
    }
    return RunProcess(request);
  }

  std::optional<Refusal> Refuse(int line, const std::string& what) {
    refused_line_ = line;
    refused_what_ = what;
    return RefuseAt(unit_, line > 0 ? line : recorder_.launcher_->line, what);
  }

  // Beside the program that was not made: line and reason.
  std::filesystem::path RefusalFile() const { return recorder_.program_.string() + ".refused"; }

  std::optional<Refusal> KnownRefusal() {
    constexpr size_t kMostBytes = 4096;
    const Result<std::string> kept = ReadFile(RefusalFile(), kMostBytes);
    const size_t end = kept ? kept->find('\n') : std::string::npos;
    if (end == std::string::npos) {
      return std::nullopt;
    }
    return Refuse(std::atoi(kept->c_str()), kept->substr(end + 1));
  }

  // The first line of what it says of itself: programs and refusals of another one are not taken.
  Result<std::string> CompilerVersion() const {
    OPTIML_ASSIGN(const ProcessOutcome outcome, Start({compiler_.string(), "--version"}));
    if (!outcome.succeeded()) {
      return Error(ErrorCode::kUnavailable,
                   fmt::format("{} --version fails: {}", compiler_.string(),
                               outcome.standard_error.substr(0, 300)));
    }
    return outcome.standard_output.substr(0, outcome.standard_output.find('\n'));
  }

  std::vector<std::string> CompileCommand(const std::string& file) const {
    std::vector<std::string> argv = {compiler_.string()};
    argv.insert(argv.end(), kCompileFlags.begin(), kCompileFlags.end());
    argv.insert(argv.end(),
                {"-isystem", options_.cuda_include_directory.string(), "-isystem",
                 (options_.cuda_include_directory / "cccl").string(),
                 scratch_.path() / (file + ".cpp"), "-o", scratch_.path() / (file + ".o")});
    return argv;
  }

  Result<std::optional<Refusal>> CompileLauncher() {
    OPTIML_ASSIGN(const ProcessOutcome outcome, Start(CompileCommand("launcher")));
    if (outcome.timed_out) {
      is_for_good_ = false;
      return Refuse(
          0, fmt::format("compiling it for this machine took over {} s", kToolLimit.count()));
    }
    if (!outcome.succeeded()) {
      const CompilerError error = FirstError(outcome.standard_error);
      return Refuse(error.line, "it does not compile for this machine: " + error.text);
    }
    return std::optional<Refusal>();
  }

  // runtime.o: the same for all launchers, so it is kept.
  Result<void> MakeRuntime() const {
    OPTIML_ASSIGN(const std::string version, CompilerVersion());
    ContentHasher hasher;
    hasher.Add(compiler_.string()).Add(version).Add(options_.cuda_include_directory.string());
    for (const EmbeddedText& file : EmbeddedRecorderTexts()) {
      hasher.Add(file.text);
    }
    const std::filesystem::path kept =
        recorder_.program_.parent_path() /
        ("recorder-runtime-" + hasher.Finish().Hex().substr(0, 32) + ".o");
    const std::filesystem::path object = scratch_.path() / "runtime.o";
    std::error_code error;
    if (std::filesystem::copy_file(kept, object, error)) {
      return {};
    }
    OPTIML_ASSIGN(const ProcessOutcome outcome, Start(CompileCommand("runtime")));
    if (!outcome.succeeded()) {
      return Error(ErrorCode::kUnavailable, "the recorder's runtime does not compile here: " +
                                                FirstError(outcome.standard_error).text);
    }
    OPTIML_ASSIGN(const std::string bytes, ReadFile(object));
    return WriteFileAtomically(kept, bytes);
  }

  // The functions of others that the object names, by nm.
  Result<std::optional<Refusal>> CheckSymbols() {
    OPTIML_TRY(MakeRuntime());
    OPTIML_ASSIGN(const std::set<std::string> offered, Symbols("runtime.o", true));
    OPTIML_ASSIGN(const std::set<std::string> wanted, Symbols("launcher.o", false));
    for (const std::string& symbol : wanted) {
      const bool is_own = std::any_of(
          std::begin(kRuntimeCalls), std::end(kRuntimeCalls),
          [&](const char* call) { return symbol == fmt::format("{}_{}", space_, call); });
      const bool is_runtime = symbol.starts_with("cuda") && offered.contains(symbol);
      if (!is_own && !is_runtime && !IsAllowedLibrarySymbol(symbol)) {
        return Refuse(
            0, fmt::format("launcher uses {}, which no launcher may", DemangledSymbol(symbol)));
      }
    }
    return std::optional<Refusal>();
  }

  Result<std::set<std::string>> Symbols(const std::string& object, bool defined) const {
    OPTIML_ASSIGN(const ProcessOutcome outcome,
                  Start({"/usr/bin/nm", "--format=posix", defined ? "--defined-only" : "-u",
                         scratch_.path() / object}));
    if (!outcome.succeeded() || outcome.output_truncated) {
      return Error(ErrorCode::kUnavailable, "nm fails: " + outcome.standard_error);
    }
    std::set<std::string> symbols;
    const std::string& text = outcome.standard_output;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      symbols.insert(text.substr(begin, std::min(text.find(' ', begin), end) - begin));
      begin = end + 1;
    }
    return symbols;
  }

  Result<std::optional<Refusal>> Link() {
    // A launcher that defines write() must not replace the one that the trace goes through.
    std::vector<std::string> hide = {"/usr/bin/objcopy", "--redefine-sym=exit=optiml_recorder_exit",
                                     "--redefine-sym=abort=optiml_recorder_abort"};
    std::vector<std::string> link = {compiler_.string(), "-static", "-no-pie"};
    for (const char* call : kLauncherCalls) {
      const std::string name = fmt::format("{}_{}", space_, call);
      hide.push_back("--keep-global-symbol=" + name);
      link.push_back(fmt::format("-Wl,--defsym=optiml_launcher_{}={}", call, name));
    }
    for (const char* call : kRuntimeCalls) {
      link.push_back(fmt::format("-Wl,--defsym={}_{}=optiml_recorder_{}", space_, call, call));
    }
    hide.push_back(scratch_.path() / "launcher.o");
    OPTIML_ASSIGN(const ProcessOutcome hidden, Start(hide));
    if (!hidden.succeeded()) {
      return Error(ErrorCode::kUnavailable, "objcopy fails: " + hidden.standard_error);
    }
    const std::filesystem::path built = scratch_.path() / "program.out";
    link.insert(link.end(), {scratch_.path() / "launcher.o", scratch_.path() / "runtime.o", "-o",
                             built.string()});
    OPTIML_ASSIGN(const ProcessOutcome linked, Start(link));
    if (!linked.succeeded()) {
      const std::string& log = linked.standard_error;
      return Refuse(0, "it does not link for this machine: " + log.substr(0, log.find('\n')));
    }
    OPTIML_TRY(InstallProgram(built, recorder_.program_));
    return std::optional<Refusal>();
  }

  Recorder& recorder_;
  const ast::SourceUnit& unit_;
  const RecorderOptions& options_;
  std::filesystem::path compiler_;
  TemporaryDirectory scratch_;
  std::string space_;
  int refused_line_ = 0;
  std::string refused_what_;
  bool is_for_good_ = true;  // not for want of time
};

Result<std::variant<Recorder, Refusal>> Recorder::Make(const ast::SourceUnit& unit,
                                                       const ast::Function& launcher,
                                                       size_t arguments,
                                                       const RecorderOptions& options) {
  using Outcome = std::variant<Recorder, Refusal>;
  const auto refuse = [&](const std::string& what, int line = 0) {
    return Outcome(RefuseAt(unit, line > 0 ? line : launcher.line, what));
  };
  if (options.confined) {
    if (const Result<void> sandbox = SandboxAvailable(); !sandbox) {
      return refuse(sandbox.error().message());
    }
  }
  if (options.cuda_include_directory.empty()) {
    return refuse("CUDA's headers are missing here");
  }
  const Result<std::filesystem::path> compiler = HostCompiler();
  if (!compiler) {
    return refuse("no C++ compiler: to record a launcher needs c++ (install the package g++)");
  }
  if (!unit.host_text.problem.empty()) {
    return refuse("launcher uses " + unit.host_text.problem, unit.host_text.problem_line);
  }
  OPTIML_ASSIGN(TemporaryDirectory scratch, TemporaryDirectory::Create("optiml-recorder-"));
  Recorder recorder(unit, launcher, options);
  Maker maker(recorder, *compiler, std::move(scratch));
  OPTIML_ASSIGN(auto refused, maker.Make(arguments));
  return refused ? Outcome(*std::move(refused)) : Outcome(std::move(recorder));
}

ProcessRequest Recorder::RequestFor(const std::vector<RecordedCall>& calls,
                                    Surroundings surroundings, bool live) const {
  ProcessRequest request;
  std::string& input = request.standard_input;
  PutWord(input, recording::kRequestMark);
  for (const uint64_t word :
       {uint64_t{surroundings == Surroundings::kOther},
        static_cast<uint64_t>(FreeDeviceBytes(surroundings)), static_cast<uint64_t>(kDeviceBytes),
        static_cast<uint64_t>(DriverVersion(surroundings)), uint64_t{kDeviceFacts.size()},
        uint64_t{calls.size()}, uint64_t{live}}) {
    PutWord(input, word);
  }
  for (const DeviceFact& fact : kDeviceFacts) {
    PutWord(input, static_cast<uint64_t>(fact.attribute));
    PutWord(input, static_cast<uint64_t>(*DeviceAttributeValue(fact.attribute, surroundings)));
  }
  for (const RecordedCall& call : calls) {
    PutWord(input, call.compares_memory ? 1 : 0);
    PutWord(input, call.arguments->size());
    for (const LauncherArgument& argument : *call.arguments) {
      const auto* real = std::get_if<double>(&argument.value);
      uint64_t bits = 0;
      if (real != nullptr) {
        std::memcpy(&bits, real, sizeof(bits));
      } else {
        bits = static_cast<uint64_t>(std::get<int64_t>(argument.value));
      }
      PutWord(input, argument.is_buffer ? recording::kBuffer
                     : real != nullptr  ? recording::kReal
                                        : recording::kInteger);
      PutWord(input, bits);
      PutWord(input, argument.size_bytes);
    }
  }
  request.argv = {program_.string()};
  request.environment = std::map<std::string, std::string>{};
  request.limits.wall_time =
      std::chrono::milliseconds(static_cast<int64_t>(options_.time_limit_s * 1000));
  request.limits.output_bytes = recording::kMaxTraceBytes + (size_t{1} << 20);
  request.limits.address_space_bytes = options_.memory_bytes;
  request.limits.file_bytes = 0;
  request.stop = options_.stop;
  if (options_.confined) {
    request.sandbox = Sandbox{{program_}, {}};
  }
  return request;
}

std::optional<Refusal> Recorder::FaultOf(const ProcessOutcome& outcome) const {
  if (outcome.timed_out) {
    return RefuseAt(*unit_, launcher_->line,
                    fmt::format("launcher did not end within {} s", options_.time_limit_s));
  }
  if (!outcome.succeeded()) {
    return RefuseAt(*unit_, launcher_->line,
                    fmt::format("launcher ends its process (status {})", outcome.exit_code));
  }
  return std::nullopt;
}

Result<std::variant<std::string, Refusal>> Recorder::Run(const std::vector<RecordedCall>& calls,
                                                         Surroundings surroundings) const {
  using Outcome = std::variant<std::string, Refusal>;
  OPTIML_ASSIGN(ProcessOutcome outcome, RunProcess(RequestFor(calls, surroundings, false)));
  if (auto fault = FaultOf(outcome)) {
    return Outcome(*std::move(fault));
  }
  return Outcome(std::move(outcome.standard_output));
}

Result<std::variant<std::vector<LivePlan>, Refusal>> Recorder::RunLive(
    const std::vector<RecordedCall>& calls, Surroundings surroundings, const PlanLimits& limits,
    LiveDevice& device) const {
  using Outcome = std::variant<std::vector<LivePlan>, Refusal>;
  LiveTrace trace({*unit_, *launcher_, names_, calls, surroundings, limits, device});
  bool goes_on = true;
  ProcessRequest request = RequestFor(calls, surroundings, true);
  request.answer = [&](std::string_view output) {
    std::optional<std::string> more = trace.Take(output);
    goes_on = more.has_value();
    return more;
  };
  OPTIML_ASSIGN(const ProcessOutcome outcome, RunProcess(request));
  if (goes_on) {
    if (auto fault = FaultOf(outcome)) {
      return Outcome(*std::move(fault));
    }
  }
  return trace.Finish(outcome.standard_output);
}

}  // namespace optiml::frontend
