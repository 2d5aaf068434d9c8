#include "task/reference.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/check.h"
#include "base/file_system.h"
#include "base/process.h"
#include "task/launcher_scan.h"
#include "task/names.h"
#include "task/reference_driver.h"
#include "task/reference_server.h"
#include "task/task_file.h"

namespace optiml {
namespace {

// A reference is plain C++: this is what it is compiled with, so that its numbers are the same on
// every machine (no fused multiply-add, no fast math).
const std::vector<std::string> kCompileFlags = {"-std=c++20", "-O2", "-ffp-contract=off", "-w"};
constexpr auto kCompileLimit = std::chrono::seconds(120);
// Where Debian's /usr/bin/c++ points to; the sandbox does not hold /etc otherwise.
constexpr char kAlternatives[] = "/etc/alternatives";
constexpr uint8_t kPoisonA = 0xA5;
constexpr uint8_t kPoisonB = 0x5A;

// One parameter of the compiled function, as the driver's --signature says it.
struct Parameter {
  bool is_pointer = false;
  bool is_const = false;
  bool is_void = false;
  bool is_other = false;  // a type that no argument has
  DType dtype = DType::kF32;
  std::string text;
};

Parameter ParseParameter(std::string_view code) {
  Parameter p;
  p.text = code;
  p.is_const = code.starts_with("c*");
  p.is_pointer = p.is_const || code.starts_with("*");
  code.remove_prefix(p.is_const ? 2 : (p.is_pointer ? 1 : 0));
  p.is_void = code == "void";
  const Result<DType> dtype = ParseDType(code);
  p.is_other = !p.is_void && !dtype;
  p.dtype = dtype ? *dtype : DType::kU8;
  p.text = fmt::format("{}{}{}", p.is_const ? "const " : "", code, p.is_pointer ? "*" : "");
  return p;
}

std::vector<Parameter> ParseParameters(std::string_view codes) {
  std::vector<Parameter> parameters;
  for (const std::string& code : SplitTrimmed(codes, ' ')) {
    parameters.push_back(ParseParameter(code));
  }
  return parameters;
}

// The plain C++ type that holds one element of the dtype.
DType HostDType(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBf16:
      return DType::kU16;
    case DType::kE4m3:
    case DType::kE5m2:
      return DType::kU8;
    default:
      return dtype;
  }
}

std::string LastLines(const std::string& text, size_t limit) {
  const std::string_view trimmed = Trim(text);
  return std::string(trimmed.size() > limit ? trimmed.substr(trimmed.size() - limit) : trimmed);
}

// A file that nobody else reads and that need not survive: without the sync to disk, which costs
// more than the reference itself.
Result<void> WriteScratch(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    return Error(ErrorCode::kIo, path.string() + ": cannot write");
  }
  return {};
}

class CompiledReference : public HostReference {
 public:
  CompiledReference(KernelTask task, ReferenceOptions options, TemporaryDirectory scratch)
      : task_(std::move(task)), options_(std::move(options)), scratch_(std::move(scratch)) {}

  Result<void> Prepare();
  Result<std::vector<Tensor>> Run(const TaskInputs& inputs) override {
    return Checked(inputs, std::nullopt);
  }
  bool has_range() const override { return range_line_.has_value(); }
  Result<std::vector<Tensor>> RunRange(const TaskInputs& inputs, int64_t begin,
                                       int64_t end) override {
    OPTIML_CHECK(has_range(), "the reference has no range function");
    return Checked(inputs, Range{begin, end});
  }

 private:
  struct Range {
    int64_t begin = 0;
    int64_t end = 0;
  };

  std::string symbol() const { return task_.source.entry() + "_reference"; }
  std::string file_name() const { return task_.reference.source.filename().string(); }
  Error Fail(const std::string& what, bool in_range_function = false) const {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}:{}: {} {}", file_name(), in_range_function ? *range_line_ : symbol_line_,
                    symbol() + (in_range_function ? "_range" : ""), what));
  }

  Result<void> Compile(const std::string& driver, const std::string& name);
  // Puts the compiled program where it is kept, if that can be written, and `program_` there.
  Result<void> Keep(const std::filesystem::path& built, const std::string& name);
  Result<void> ReadSignature();
  Result<void> CheckParameter(const ArgSpec& arg, const Parameter& parameter) const;
  Result<void> CheckRangeParameters(const std::vector<Parameter>& parameters) const;
  ProcessRequest Confined(std::vector<std::string> argv,
                          std::vector<std::filesystem::path> read_only) const;
  std::string Request(const TaskInputs& inputs, std::optional<Range> range, uint8_t poison) const;
  Result<std::string> Answer(const TaskInputs& inputs, std::optional<Range> range, uint8_t poison);
  Result<std::vector<Tensor>> Checked(const TaskInputs& inputs, std::optional<Range> range);

  KernelTask task_;
  ReferenceOptions options_;
  TemporaryDirectory scratch_;
  const std::string request_file_ = scratch_.path() / "request";
  const std::string answer_file_ = scratch_.path() / "answer";
  std::filesystem::path program_;
  std::unique_ptr<ReferenceServer> server_;
  int symbol_line_ = 1;
  std::optional<int> range_line_;  // absent: the file has no range function
  std::vector<Parameter> parameters_;
};

ProcessRequest CompiledReference::Confined(std::vector<std::string> argv,
                                           std::vector<std::filesystem::path> read_only) const {
  ProcessRequest request;
  request.argv = std::move(argv);
  request.limits.output_bytes = size_t{1} << 20;
  request.limits.file_bytes = size_t{1} << 36;
  request.working_directory = scratch_.path();
  request.environment = std::map<std::string, std::string>{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                           {"LC_ALL", "C"},
                                                           {"CCACHE_DISABLE", "1"},
                                                           {"TMPDIR", scratch_.path()}};
  request.stop = options_.stop;
  if (options_.confined) {
    request.sandbox = Sandbox{std::move(read_only), {scratch_.path()}};
  }
  return request;
}

// The compiler's first error, without the folder before the file's name.
std::string FirstError(const std::string& log, const std::string& folder) {
  std::string_view rest = log;
  std::string_view chosen;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.find("error: ") != std::string_view::npos ||
        line.find("undefined reference") != std::string_view::npos) {
      chosen = line;
      break;
    }
  }
  std::string text(chosen.empty() ? std::string_view(LastLines(log, 400)) : chosen);
  if (chosen.empty()) {
    text = LastLines(log, 400);
  }
  for (size_t at = text.find(folder + "/"); at != std::string::npos; at = text.find(folder + "/")) {
    text.erase(at, folder.size() + 1);
  }
  return text;
}

Result<void> CompiledReference::Compile(const std::string& driver, const std::string& name) {
  OPTIML_ASSIGN(const std::filesystem::path compiler, [] {
    Result<std::filesystem::path> found = FindProgram("c++");
    if (!found) {
      found = FindProgram("g++");
    }
    return found ? found
                 : Result<std::filesystem::path>(Error(
                       ErrorCode::kUnavailable,
                       "no C++ compiler: the host reference needs c++ (install the package g++)"));
  }());
  const std::filesystem::path source = scratch_.path() / "driver.cpp";
  const std::filesystem::path built = scratch_.path() / "reference.out";
  OPTIML_TRY(WriteScratch(source, driver));
  std::vector<std::string> argv = {compiler.string()};
  argv.insert(argv.end(), kCompileFlags.begin(), kCompileFlags.end());
  argv.insert(argv.end(), {"-o", built.string(), source.string()});
  const std::filesystem::path folder = task_.reference.source.parent_path();
  std::vector<std::filesystem::path> read_only = {folder};
  std::error_code ignored;
  if (std::filesystem::is_directory(kAlternatives, ignored)) {
    read_only.emplace_back(kAlternatives);
  }
  if (!compiler.string().starts_with("/usr/")) {
    read_only.push_back(compiler.parent_path().parent_path());  // a compiler with its own prefix
  }
  ProcessRequest request = Confined(std::move(argv), std::move(read_only));
  request.limits.wall_time = kCompileLimit;
  OPTIML_ASSIGN(const ProcessOutcome outcome, RunProcess(request));
  if (outcome.timed_out) {
    return Error(ErrorCode::kTimeout, fmt::format("{}: compiling the reference took over {} s",
                                                  file_name(), kCompileLimit.count()));
  }
  if (!outcome.succeeded()) {
    const std::string& log = outcome.standard_error;
    if (log.find(fmt::format("'{}' was not declared", symbol())) != std::string::npos) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: no function {}, the reference of {}", file_name(), symbol(),
                               task_.source.entry()));
    }
    return Error(ErrorCode::kInvalidArgument, FirstError(log, folder.string()));
  }
  return Keep(built, name);
}

Result<void> CompiledReference::Prepare() {
  if (options_.confined) {
    OPTIML_TRY(SandboxAvailable());
  }
  OPTIML_ASSIGN(const std::string text, ReadFile(task_.reference.source));
  symbol_line_ = FunctionLine(text, symbol()).value_or(1);
  range_line_ = FunctionLine(text, symbol() + "_range");
  DriverText parts{task_.reference.source, task_.source.entry(), has_range(), {}};
  for (const ArgSpec& arg : task_.args) {
    parts.argument_names.push_back(arg.name);
  }
  const std::string driver = MakeDriverText(parts);
  ContentHasher hasher;
  hasher.Add(driver).Add(text);
  // What the reference may include: the other C++ files of its folder.
  std::vector<std::filesystem::path> neighbours;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(task_.reference.source.parent_path(), ignored)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".hpp" || extension == ".inc") {
      neighbours.push_back(entry.path());
    }
  }
  std::sort(neighbours.begin(), neighbours.end());
  for (const auto& path : neighbours) {
    OPTIML_ASSIGN(const std::string contents, ReadFile(path));
    hasher.Add(path.string()).Add(contents);
  }
  const std::string name = "reference-" + hasher.Finish().Hex().substr(0, 32);
  const std::filesystem::path folder =
      options_.cache_directory.empty() ? scratch_.path() : options_.cache_directory;
  program_ = std::filesystem::absolute(folder).lexically_normal() / name;
  // One that another user made may be there and not be ours to run.
  if (access(program_.c_str(), R_OK | X_OK) != 0) {
    OPTIML_TRY(Compile(driver, name));
  }
  return ReadSignature();
}

Result<void> CompiledReference::Keep(const std::filesystem::path& built, const std::string& name) {
  const auto install = [&](const std::filesystem::path& program) -> Result<void> {
    OPTIML_TRY(CreateDirectories(program.parent_path()));
    OPTIML_TRY(InstallProgram(built, program));
    program_ = program;
    return {};
  };
  // A cache that cannot be written costs time, nothing else.
  return install(program_) ? Result<void>() : install(scratch_.path() / name);
}

Result<void> CompiledReference::CheckParameter(const ArgSpec& arg,
                                               const Parameter& parameter) const {
  const auto wrong = [&](const std::string& expected) {
    return Fail(fmt::format("has {} for {}, expected {} ({})", parameter.text, arg.name, expected,
                            WhereSaid(arg, "task.toml")));
  };
  if (!arg.is_buffer) {
    const bool fits = !parameter.is_pointer && !parameter.is_other &&
                      (IsFloat(parameter.dtype) || !IsFloat(arg.dtype));
    return fits ? Result<void>()
                : wrong(fmt::format("a scalar that holds {}", DTypeName(arg.dtype)));
  }
  const DType host = HostDType(arg.dtype);
  const std::string expected = IsFloat(arg.dtype) && host != DType::kF64
                                   ? fmt::format("{}* or f64*", DTypeName(host))
                                   : fmt::format("{}*", DTypeName(host));
  if (!parameter.is_pointer || parameter.is_other) {
    return wrong(expected);
  }
  if (IsOutput(arg) && parameter.is_const) {
    return wrong(expected + " that is not const");
  }
  if (arg.role == ArgRole::kWorkspace) {
    return {};
  }
  const bool is_word = arg.dtype == DType::kBool && parameter.dtype == DType::kU8;
  const bool fits = !parameter.is_void && (parameter.dtype == host || is_word ||
                                           (IsFloat(arg.dtype) && parameter.dtype == DType::kF64));
  return fits ? Result<void>() : wrong(expected);
}

Result<void> CompiledReference::ReadSignature() {
  ProcessRequest request =
      Confined({program_.string(), "--serve", request_file_, answer_file_}, {program_});
  request.limits.address_space_bytes = options_.memory_bytes;
  server_ = std::make_unique<ReferenceServer>(std::move(request));
  const Result<std::string> signature = server_->Signature();
  if (!signature) {
    return signature.error().code() == ErrorCode::kInvalidArgument
               ? Fail("cannot be loaded: " + LastLines(signature.error().message(), 300))
               : signature.error();
  }
  const std::string_view output = *signature;
  const size_t bar = output.find('|');
  parameters_ = ParseParameters(Trim(output.substr(0, bar)));
  if (parameters_.size() != task_.args.size()) {
    return Fail(fmt::format("has {} parameters, but the task has {} arguments", parameters_.size(),
                            task_.args.size()));
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    OPTIML_TRY(CheckParameter(task_.args[i], parameters_[i]));
  }
  return has_range() ? CheckRangeParameters(ParseParameters(Trim(output.substr(bar + 1))))
                     : Result<void>();
}

Result<void> CompiledReference::CheckRangeParameters(
    const std::vector<Parameter>& parameters) const {
  const auto text = [](const std::vector<Parameter>& list) {
    std::string joined;
    for (const Parameter& parameter : list) {
      joined += (joined.empty() ? "" : ", ") + parameter.text;
    }
    return joined;
  };
  std::vector<Parameter> expected = {ParseParameter("i64"), ParseParameter("i64")};
  expected.insert(expected.end(), parameters_.begin(), parameters_.end());
  if (text(parameters) != text(expected)) {
    return Fail(fmt::format("takes ({}), expected ({}): begin, end and what {} takes",
                            text(parameters), text(expected), symbol()),
                true);
  }
  return {};
}

void PutWord(std::string& out, uint64_t word) {
  out.append(reinterpret_cast<const char*>(&word), sizeof(word));
}

std::string CompiledReference::Request(const TaskInputs& inputs, std::optional<Range> range,
                                       uint8_t poison) const {
  std::string out;
  PutWord(out, task_.args.size());
  PutWord(out, static_cast<uint64_t>(range ? range->begin : 0));
  PutWord(out, static_cast<uint64_t>(range ? range->end : 0));
  PutWord(out, range ? 1 : 0);
  size_t buffer = 0;
  for (size_t i = 0; i < task_.args.size(); ++i) {
    const ArgSpec& arg = task_.args[i];
    const Parameter& parameter = parameters_[i];
    const size_t element_bytes = DTypeBytes(parameter.is_void ? arg.dtype : parameter.dtype);
    if (!arg.is_buffer) {
      const double value = arg.is_size ? 0 : inputs.scalars.at(arg.name);
      std::byte bytes[8] = {};
      if (arg.is_size && !IsFloat(parameter.dtype)) {
        StoreInteger(parameter.dtype, inputs.sizes.at(arg.name), bytes);
      } else {
        StoreElement(parameter.dtype,
                     arg.is_size ? static_cast<double>(inputs.sizes.at(arg.name)) : value, bytes);
      }
      PutWord(out, 0);
      PutWord(out, element_bytes);
      PutWord(out, element_bytes);
      out.append(reinterpret_cast<const char*>(bytes), element_bytes);
      continue;
    }
    const Tensor& tensor = inputs.buffers[buffer++];
    const auto count = static_cast<size_t>(tensor.element_count());
    const size_t bytes = count * element_bytes;
    PutWord(out, arg.role == ArgRole::kIn ? 1 : 2);
    PutWord(out, bytes);
    PutWord(out, element_bytes);
    if (arg.role == ArgRole::kOut || arg.role == ArgRole::kWorkspace) {
      out.append(bytes, static_cast<char>(poison));
    } else if (parameter.dtype == HostDType(arg.dtype) || !IsFloat(arg.dtype)) {
      out.append(reinterpret_cast<const char*>(tensor.bytes.data()), bytes);
    } else {
      std::string converted(bytes, '\0');
      for (size_t e = 0; e < count; ++e) {
        StoreElement(parameter.dtype, tensor.At(static_cast<int64_t>(e)),
                     reinterpret_cast<std::byte*>(converted.data()) + e * element_bytes);
      }
      out += converted;
    }
  }
  return out;
}

Result<std::string> CompiledReference::Answer(const TaskInputs& inputs, std::optional<Range> range,
                                              uint8_t poison) {
  const auto fail = [&](const std::string& what) { return Fail(what, range.has_value()); };
  std::error_code ignored;
  std::filesystem::remove(answer_file_, ignored);
  OPTIML_TRY(WriteScratch(request_file_, Request(inputs, range, poison)));
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(options_.time_limit_s * 1000));
  OPTIML_ASSIGN(const ReferenceServer::RunEnd end, server_->Run(limit));
  const std::string where = inputs.text.empty() ? "" : fmt::format(" ({})", inputs.text);
  if (end.timed_out) {
    return fail(fmt::format("did not end within {} s{}", options_.time_limit_s, where));
  }
  if (!end.message.empty()) {
    return fail(end.message + where);
  }
  if (!end.succeeded()) {
    return fail(end.signal != 0
                    ? fmt::format("crashed with signal {}{}", end.signal, where)
                    : fmt::format("ended the process with status {}{}", end.exit_code, where));
  }
  Result<std::string> bytes = ReadFile(answer_file_, size_t{1} << 36);
  if (!bytes) {
    return fail("ended the process without returning" + where);
  }
  return bytes;
}

Result<std::vector<Tensor>> CompiledReference::Checked(const TaskInputs& inputs,
                                                       std::optional<Range> range) {
  OPTIML_ASSIGN(const std::string bytes, Answer(inputs, range, kPoisonA));
  // A second run with another pattern tells a computed value that looks like poison from an element
  // that was never written. It is needed only when some element looks so.
  std::optional<std::string> second;
  std::vector<Tensor> results;
  size_t buffer = 0;
  size_t at = 0;
  for (size_t i = 0; i < task_.args.size(); ++i) {
    const ArgSpec& arg = task_.args[i];
    if (!arg.is_buffer) {
      continue;
    }
    const Tensor& input = inputs.buffers[buffer++];
    if (arg.role == ArgRole::kIn) {
      results.push_back(input);
      continue;
    }
    const Parameter& parameter = parameters_[i];
    const size_t element_bytes = DTypeBytes(parameter.is_void ? arg.dtype : parameter.dtype);
    const auto count = static_cast<size_t>(input.element_count());
    if (at + count * element_bytes > bytes.size()) {
      return Fail("gave an answer that is cut short", range.has_value());
    }
    const std::string_view part = std::string_view(bytes).substr(at, count * element_bytes);
    if (arg.role == ArgRole::kWorkspace) {
      results.push_back(MakeTensor(arg.dtype, input.shape));
      at += part.size();
      continue;
    }
    const bool is_float = IsFloat(arg.dtype);
    Tensor result = MakeTensor(is_float ? DType::kF64 : arg.dtype, input.shape);
    // Words of f16 and the like are elements of the task's dtype.
    const DType stored = parameter.dtype == HostDType(arg.dtype) ? arg.dtype : parameter.dtype;
    const std::string poison(element_bytes, static_cast<char>(kPoisonA));
    for (size_t e = 0; e < count; ++e) {
      const std::string_view element = part.substr(e * element_bytes, element_bytes);
      const auto index = static_cast<int64_t>(e);
      const bool is_due = !range || (range->begin <= index && index < range->end);
      if (element == poison && arg.role == ArgRole::kOut && is_due) {
        if (!second) {
          OPTIML_ASSIGN(second, Answer(inputs, range, kPoisonB));
        }
        if (std::string_view(*second).substr(at + e * element_bytes, element_bytes) ==
            std::string(element_bytes, static_cast<char>(kPoisonB))) {
          return Fail(
              fmt::format("leaves element {} of {} unwritten ({})", e, arg.name, inputs.text),
              range.has_value());
        }
      }
      const auto* from = reinterpret_cast<const std::byte*>(element.data());
      std::byte* to = result.bytes.data() + e * DTypeBytes(result.dtype);
      if (is_float) {
        StoreElement(DType::kF64, LoadElement(stored, from), to);
      } else {
        StoreInteger(arg.dtype, LoadInteger(parameter.dtype, from), to);
      }
    }
    results.push_back(std::move(result));
    at += part.size();
  }
  return results;
}

}  // namespace

Result<std::unique_ptr<HostReference>> MakeHostReference(const KernelTask& task,
                                                         const ReferenceOptions& options) {
  OPTIML_CHECK(task.reference.kind == ReferenceKind::kHost, "the task has no host reference");
  OPTIML_ASSIGN(TemporaryDirectory scratch, TemporaryDirectory::Create("optiml-reference-"));
  auto reference = std::make_unique<CompiledReference>(task, options, std::move(scratch));
  OPTIML_TRY(reference->Prepare());
  return std::unique_ptr<HostReference>(std::move(reference));
}

}  // namespace optiml
