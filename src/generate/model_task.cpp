#include "generate/model_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "prompt/code_reply.h"
#include "prompt/fence.h"
#include "prompt/prompts.h"
#include "prompt/strict_json.h"
#include "task/inputs.h"
#include "task/names.h"
#include "task/task.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr int kAgreementSeeds = 2;
constexpr int64_t kLeastCheckedRows = 3;
// Two sums of doubles in different orders: relative to the largest expected value of the case.
constexpr double kAgreement = 1e-9;
// The second reference is drawn apart from the first.
constexpr double kSecondTemperature = 0.7;
constexpr int kReferenceTokens = 2048;

class InterfaceReader {
 public:
  explicit InterfaceReader(const Json& json) : json_(json) {}

  // task.toml, and the parameters of launcher and reference, in `launcher` and `reference`.
  Result<std::string> Toml(const std::string& sentence, const std::string& provenance) {
    launcher_.clear();
    reference_.clear();
    OPTIML_ASSIGN(name_, Identifier(json_, "name"));
    OPTIML_ASSIGN(title_, String(json_, "title"));
    OPTIML_ASSIGN(const std::string sizes, Sizes());
    OPTIML_ASSIGN(const std::string args, Args());
    return fmt::format(
        "[task]\nname   = {0}\nsource = \"kernel.cu\"\nentry  = {0}\nintent = {1}\n\n[sizes]\n{2}\n"
        "[args]\n{3}\n[reference]\nkind   = \"host\"\nsource = \"reference.cpp\"\n\n"
        "[origin]\nintent    = {4}\nreference = {5}\n",
        TomlString(name_), TomlString(title_), sizes, args, TomlString(sentence),
        TomlString(provenance));
  }

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  std::string Reference() const {
    return fmt::format("extern \"C\" void {}_reference({})", name_, reference_);
  }
  std::string Launcher() const {
    return fmt::format("extern \"C\" void {}({}) {{}}\n", name_, launcher_);
  }

 private:
  static Error Bad(const std::string& what) {
    return Error(ErrorCode::kInvalidArgument, "the model's interface: " + what);
  }
  static Result<std::string> String(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string()) {
      return Bad(fmt::format("no string \"{}\"", key));
    }
    return json[key].get<std::string>();
  }
  static Result<std::string> Identifier(const Json& json, const char* key) {
    OPTIML_ASSIGN(std::string text, String(json, key));
    if (!IsIdentifier(text)) {
      return Bad(fmt::format("\"{}\" is no identifier", text));
    }
    return text;
  }

  Result<std::string> Sizes() {
    if (!json_.contains("sizes") || !json_["sizes"].is_array() || !json_.contains("checked") ||
        !json_["checked"].is_array() ||
        static_cast<int64_t>(json_["checked"].size()) < kLeastCheckedRows) {
      return Bad("needs sizes and at least three checked rows");
    }
    std::vector<std::string> names;
    std::vector<Json> timed;
    for (const Json& size : json_["sizes"]) {
      OPTIML_ASSIGN(const std::string name, Identifier(size, "name"));
      names.push_back(name);
      timed.push_back(size.contains("timed") ? size["timed"] : Json());
    }
    OPTIML_ASSIGN(const std::string timed_row, Row(names, timed));
    std::string checked;
    for (const Json& row : json_["checked"]) {
      OPTIML_ASSIGN(const std::string text, Row(names, row));
      checked += "  " + text + ",\n";
    }
    return fmt::format("timed   = [ {} ]\nchecked = [\n{}]\n", timed_row, checked);
  }

  static Result<std::string> Row(const std::vector<std::string>& names, const Json& values) {
    std::string text;
    if (!values.is_array() || values.size() != names.size()) {
      return Bad("a row has not as many numbers as there are sizes");
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (!values[i].is_number_unsigned()) {
        return Bad("a size is no whole number");
      }
      text += fmt::format("{}{} = {}", i > 0 ? ", " : "", names[i], values[i].get<uint64_t>());
    }
    return "{ " + text + " }";
  }

  Result<std::string> Args() {
    if (!json_.contains("args") || !json_["args"].is_array() || json_["args"].empty()) {
      return Bad("needs args");
    }
    std::string text;
    for (const Json& arg : json_["args"]) {
      OPTIML_ASSIGN(const std::string name, Identifier(arg, "name"));
      OPTIML_ASSIGN(const std::string kind, String(arg, "kind"));
      if (kind == "size") {
        text += name + " = {}\n";
        Declare("int " + name, "int " + name);
        continue;
      }
      OPTIML_ASSIGN(const std::string value,
                    kind == "buffer"   ? Buffer(arg, name)
                    : kind == "scalar" ? Scalar(arg, name)
                                       : Result<std::string>(Bad("unknown kind " + kind)));
      text += name + " = " + value + "\n";
    }
    return text;
  }

  void Declare(const std::string& launcher, const std::string& reference) {
    launcher_ += (launcher_.empty() ? "" : ", ") + launcher;
    reference_ += (reference_.empty() ? "" : ", ") + reference;
  }

  static Result<std::string> DTypeOf(const Json& arg) {
    OPTIML_ASSIGN(const std::string dtype, String(arg, "dtype"));
    if (dtype != "f32" && dtype != "f64" && dtype != "i32") {
      return Bad("dtype is one of f32, f64 and i32, not " + dtype);
    }
    return dtype;
  }

  // "fill = ..., min = ..., max = ..." of an input.
  static std::string FillOf(const Json& arg, const std::string& dtype) {
    const bool has_range = arg.contains("min") && arg.contains("max") && arg["min"].is_number() &&
                           arg["max"].is_number();
    if (dtype == "i32") {
      return fmt::format("fill = \"randint\", min = {}, max = {}",
                         has_range ? static_cast<int64_t>(arg["min"].get<double>()) : -8,
                         has_range ? static_cast<int64_t>(arg["max"].get<double>()) : 9);
    }
    return has_range ? fmt::format("fill = \"uniform\", min = {:f}, max = {:f}",
                                   arg["min"].get<double>(), arg["max"].get<double>())
                     : "fill = \"normal\"";
  }

  Result<std::string> Buffer(const Json& arg, const std::string& name) {
    OPTIML_ASSIGN(const std::string dtype, DTypeOf(arg));
    OPTIML_ASSIGN(const std::string role, String(arg, "role"));
    OPTIML_TRY(ParseArgRole(role));
    if (!arg.contains("shape") || !arg["shape"].is_array() || arg["shape"].empty()) {
      return Bad(name + " has no shape");
    }
    std::string shape;
    for (const Json& extent : arg["shape"]) {
      if (!extent.is_string()) {
        return Bad(name + ": an extent is no string");
      }
      shape += (shape.empty() ? "" : ", ") + TomlString(extent.get<std::string>());
    }
    const std::string is_const = role == "in" ? "const " : "";
    const std::string type = dtype == "f32" ? "float" : dtype == "f64" ? "double" : "int";
    Declare(is_const + type + "* " + name,
            is_const + (dtype == "i32" ? "int32_t* " : "double* ") + name);
    return fmt::format("{{ dtype = \"{}\", shape = [{}], role = \"{}\"{} }}", dtype, shape, role,
                       role == "out" ? "" : ", " + FillOf(arg, dtype));
  }

  Result<std::string> Scalar(const Json& arg, const std::string& name) {
    OPTIML_ASSIGN(const std::string dtype, DTypeOf(arg));
    const std::string type = dtype == "f32" ? "float " : dtype == "f64" ? "double " : "int ";
    Declare(type + name, type + name);
    const std::string fill = FillOf(arg, dtype);
    return fmt::format("{{ dtype = \"{}\", {} }}", dtype,
                       fill == "fill = \"normal\"" ? "fill = \"uniform\"" : fill);
  }

  const Json& json_;
  std::string name_;
  std::string title_;
  std::string launcher_;
  std::string reference_;
};

// Without spaces: what one model writes twice is not independent.
std::string Squeezed(const std::string& code) {
  std::string squeezed;
  std::copy_if(code.begin(), code.end(), std::back_inserter(squeezed),
               [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; });
  return squeezed;
}

Result<std::unique_ptr<HostReference>> Compile(GeneratedTask& task, const std::string& code,
                                               const fs::path& folder, KernelTask& loaded,
                                               const ReferenceOptions& options) {
  OPTIML_TRY(CreateDirectories(folder));
  task.files["reference.cpp"] = code;
  for (const auto& [name, text] : task.files) {
    OPTIML_TRY(WriteFileAtomically(folder / name, text));
  }
  auto read = LoadTask(folder);
  if (!read) {
    return Error(ErrorCode::kInvalidArgument,
                 "the model's interface is no task: " + read.error().message());
  }
  loaded = *std::move(read);
  return MakeHostReference(loaded, options);
}

std::optional<std::string> FirstDifference(const KernelTask& task, const std::vector<Tensor>& one,
                                           const std::vector<Tensor>& other) {
  size_t buffer = 0;
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_buffer) {
      continue;
    }
    const Tensor& a = one[buffer];
    const Tensor& b = other[buffer];
    ++buffer;
    if (arg.role != ArgRole::kOut && arg.role != ArgRole::kInOut) {
      continue;
    }
    double scale = 0;
    for (int64_t i = 0; i < a.element_count(); ++i) {
      scale = std::max(scale, std::isfinite(a.At(i)) ? std::fabs(a.At(i)) : 0.0);
    }
    const double allowed = arg.dtype == DType::kI32 ? 0 : kAgreement * scale;
    for (int64_t i = 0; i < a.element_count(); ++i) {
      const double x = a.At(i);
      const double y = b.At(i);
      const bool same = (std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= allowed;
      if (!same) {
        return fmt::format("{}[{}] is {} by one and {} by the other", arg.name, i, x, y);
      }
    }
  }
  return std::nullopt;
}

Result<std::string> AskForReference(ChatModel& model, std::string_view sentence,
                                    const InterfaceReader& interface, double temperature,
                                    uint64_t seed) {
  ChatRequest request;
  request.messages =
      RenderPrompt(Prompt::kWriteReference, {{"sentence", Quoted(sentence)},
                                             {"title", interface.title()},
                                             {"declaration", interface.Reference()}});
  request.max_tokens = kReferenceTokens;
  request.temperature = temperature;
  request.seed = seed;
  OPTIML_ASSIGN(const ChatReply reply, model.Complete(request));
  return CodeOfReply(reply.text);
}

}  // namespace

Result<int> CompareReferences(const KernelTask& task, HostReference& one, HostReference& other) {
  int cases = 0;
  const std::vector<std::optional<FillKind>> fills = {std::nullopt, FillKind::kUniform,
                                                      FillKind::kSmallInts, FillKind::kAllNegative};
  for (const SizeRow& row : task.checked) {
    for (const std::optional<FillKind>& fill : fills) {
      for (uint64_t seed = 1; seed <= kAgreementSeeds; ++seed) {
        OPTIML_ASSIGN(const TaskInputs inputs, MakeInputs(task, row.sizes, seed, fill));
        OPTIML_ASSIGN(const std::vector<Tensor> first, one.Run(inputs));
        OPTIML_ASSIGN(const std::vector<Tensor> second, other.Run(inputs));
        if (const auto difference = FirstDifference(task, first, second)) {
          return Error(
              ErrorCode::kInvalidArgument,
              fmt::format("the two references disagree at {}: {}", inputs.text, *difference));
        }
        ++cases;
      }
    }
  }
  return cases;
}

Result<ModelTask> MakeTaskByModel(ChatModel& model, std::string_view sentence,
                                  const ReferenceOptions& options, uint64_t seed) {
  ChatRequest request;
  request.messages = RenderPrompt(Prompt::kDescribeTask, {{"sentence", Quoted(sentence)}});
  request.json_schema = ReplySchema(Prompt::kDescribeTask);
  request.seed = seed;
  OPTIML_ASSIGN(const ChatReply reply, model.Complete(request));
  auto parsed = ParseReplyObject(reply.text);
  if (!parsed) {
    return std::move(parsed).error().WithContext(model.name());
  }
  const Json json = *std::move(parsed);
  InterfaceReader interface(json);
  ModelTask made;
  OPTIML_ASSIGN(made.task.files["task.toml"], interface.Toml(std::string(sentence), ""));
  made.task.name = interface.name();
  made.task.title = interface.title();
  made.task.files["kernel.cu"] = interface.Launcher();
  OPTIML_ASSIGN(const std::string first, AskForReference(model, sentence, interface, 0, seed));
  OPTIML_ASSIGN(const std::string second,
                AskForReference(model, sentence, interface, kSecondTemperature, seed + 1));
  if (Squeezed(first) == Squeezed(second)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the two references are one text, which says nothing of whether it is right");
  }
  OPTIML_ASSIGN(const auto folder, TemporaryDirectory::Create("optiml-generate-"));
  KernelTask one_task;
  KernelTask other_task;
  OPTIML_ASSIGN(const auto other,
                Compile(made.task, second, folder.path() / "2", other_task, options));
  OPTIML_ASSIGN(const auto one, Compile(made.task, first, folder.path() / "1", one_task, options));
  OPTIML_ASSIGN(made.agreed_cases, CompareReferences(one_task, *one, *other));
  OPTIML_ASSIGN(made.task.files["task.toml"],
                interface.Toml(std::string(sentence),
                               fmt::format("reference generated by {}: two agreed on {} inputs",
                                           model.name(), made.agreed_cases)));
  return made;
}

}  // namespace optiml
