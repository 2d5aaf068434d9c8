// Each struct lists its fields once, in Fields(archive, value); a Writer and a Reader walk the same
// list, so that what is written and what is read cannot drift apart.
#include "store/serialise.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "store/enum_names.h"
#include "store/machine_fields.h"

namespace optiml {
namespace {

using Json = nlohmann::json;

// Leaves this file only as an Error.
struct BadJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename E>
std::string EnumName(E value) {
  for (const auto& row : Rows(value)) {
    if (row.value == value) {
      return row.name;
    }
  }
  OPTIML_CHECK(false, "an enumerator without a name");
}
template <typename E>
E EnumValue(const std::string& name) {
  for (const auto& row : Rows(E{})) {
    if (name == row.name) {
      return row.value;
    }
  }
  throw BadJson(fmt::format("unknown name \"{}\"", name));
}
template <>
std::string EnumName(Stage value) {
  return StageName(value);
}
template <>
Stage EnumValue(const std::string& name) {
  const std::optional<Stage> stage = ParseStage(name);
  if (!stage) {
    throw BadJson(fmt::format("unknown stage \"{}\"", name));
  }
  return *stage;
}

// JSON has no infinities and no NaN: they are strings, a NaN with all its bits.
Json DoubleToJson(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  return fmt::format("nan:{:016x}", std::bit_cast<uint64_t>(value));
}
double DoubleFromJson(const Json& json) {
  if (json.is_number()) {
    return json.get<double>();
  }
  const std::string text = json.get<std::string>();
  if (text == "inf" || text == "-inf") {
    return text == "inf" ? std::numeric_limits<double>::infinity()
                         : -std::numeric_limits<double>::infinity();
  }
  if (text.size() == 20 && text.starts_with("nan:")) {
    return std::bit_cast<double>(uint64_t{std::stoull(text.substr(4), nullptr, 16)});
  }
  throw BadJson(fmt::format("\"{}\" is no number", text));
}

// Every struct that is serialised, with its fields by key. `A` is Writer or Reader.
template <typename A>
void Fields(A& a, MetricClaim& v) {
  a("metric", v.metric);
  a("direction", v.direction);
}
template <typename A>
void Fields(A& a, Opinion& v) {
  a("plausibility", v.plausibility_ratio);
  a("reason", v.reason);
  a("maker", v.maker);
}
template <typename A>
void Fields(A& a, EditNote& v) {
  a("proposer", v.proposer);
  a("opinion", v.opinion);
}
template <typename A>
void Fields(A& a, Judgement& v) {
  a("value", v.value);
  a("reason", v.reason);
  a("verdict", v.verdict);
  a("maker", v.maker);
}
template <typename A>
void Fields(A& a, Edit& v) {
  a("origin", v.origin);
  a("rewrite", v.rewrite);
  a("parameters", v.parameters);
  a("summary", v.summary);
  a("aims_at", v.aims_at);
  a("claim", v.claim);
  a("prior", v.prior);
  a("text", v.text);
}
template <typename A>
void Fields(A& a, KernelResources& v) {
  a("name_expression", v.name_expression);
  a("lowered_name", v.lowered_name);
  a("registers", v.registers);
  a("static_shared_bytes", v.static_shared_bytes);
  a("stack_bytes", v.stack_bytes);
  a("spill_store_bytes", v.spill_store_bytes);
  a("spill_load_bytes", v.spill_load_bytes);
  a("barriers", v.barriers);
}
template <typename A>
void Fields(A& a, Finding& v) {
  a("kind", v.kind);
  a("kernel", v.kernel);
  a("detail", v.detail);
  a("line", v.line);
}
template <typename A>
void Fields(A& a, Mismatch& v) {
  a("argument", v.argument);
  a("index", v.index);
  a("coordinates", v.coordinates);
  a("expected", v.expected);
  a("got", v.got);
  a("unwritten", v.unwritten);
}
template <typename A>
void Fields(A& a, ErrorMap& v) {
  a("argument", v.argument);
  a("shape", v.shape);
  a("rows", v.rows);
  a("columns", v.columns);
  a("cell_rows", v.cell_rows);
  a("cell_columns", v.cell_columns);
  a("is_exact", v.is_exact);
  a("cells", v.cells);
}
template <typename A>
void Fields(A& a, VerifyReport& v) {
  a("stage_reached", v.stage_reached);
  a("cases_run", v.cases_run);
  a("max_absolute_error", v.max_absolute_error);
  a("max_relative_error", v.max_relative_error);
  a("max_budget_ratio", v.max_budget_ratio);
  a("first_mismatch", v.first_mismatch);
  a("mismatch_count", v.mismatch_count);
  a("error_map", v.error_map);
  a("findings", v.findings);
  a("failing_case", v.failing_case);
}
template <typename A>
void Fields(A& a, Timing& v) {
  a("kind", v.kind);
  a("shape", v.shape);
  a("median_s", v.median_s);
  a("low_s", v.low_s);
  a("high_s", v.high_s);
  a("samples_s", v.samples_s);
  a("discarded", v.discarded);
  a("clock", v.clock);
}
template <typename A>
void Fields(A& a, Metric& v) {
  a("value", v.value);
  a("unit", v.unit);
}
template <typename A>
void Fields(A& a, Profile& v) {
  a("metrics", v.metrics);
  a("source", v.source);
  a("sampled_ratio", v.sampled_ratio);
}
template <typename A>
void Fields(A& a, Diagnosis& v) {
  a("bound", v.bound);
  a("evidence", v.evidence);
  a("speed_of_light", v.speed_of_light);
  a("cause", v.cause);
  a("confidence_ratio", v.confidence_ratio);
}
template <typename A>
void Fields(A& a, PlacedDiagnosis& v) {
  a("diagnosis", v.diagnosis);
  a("source_lines", v.source_lines);
  a("maker", v.maker);
}
template <typename A>
void Fields(A& a, Rejection& v) {
  a("stage", v.stage);
  a("reason", v.reason);
  a.Later("unsupported", v.is_unsupported);
}
template <typename A>
void Fields(A& a, StageTime& v) {
  a("stage", v.stage);
  a("time_ns", v.time);
}
template <typename A>
void Fields(A& a, Evaluation& v) {
  a("variant", v.variant);
  a("source_hash", v.source_hash);
  a("rejection", v.outcome);
  a("ptx_hash", v.ptx_hash);
  a("plan_hash", v.plan_hash);
  a.Later("launcher", v.launcher);
  a("resources", v.resources);
  a("verify", v.verify);
  a("timings", v.timings);
  a("profile", v.profile);
  a("diagnosis", v.diagnosis);
  a("stage_times", v.stage_times);
  a("from_store", v.from_store);
}
template <typename A>
void Fields(A& a, RewardPart& v) {
  a("name", v.name);
  a("weight", v.weight);
  a("value", v.value);
  a("reason", v.reason);
}
template <typename A>
void Fields(A& a, Reward& v) {
  a("total", v.total);
  a("parts", v.parts);
}
template <typename A>
void Fields(A& a, TaskSnapshot& v) {
  a("name", v.name);
  a("intent", v.intent);
  a("hash", v.hash);
  a("folder", v.folder);
  a("entry", v.entry);
  a("source_path", v.source_path);
  a("checked_shapes", v.checked_shapes);
  a("timed_shapes", v.timed_shapes);
  a("origin", v.origin);
  a("bytes", v.bytes);
  a("operations", v.operations);
  a.Later("is_half", v.is_half);
  a("reject_floor_s", v.reject_floor_s);
}
template <typename A>
void Fields(A& a, RunResult& v) {
  a("improved", v.improved);
  a("reason", v.reason);
  a("root", v.root);
  a("best", v.best);
  a("delivered", v.delivered);
  a("delivered_note", v.delivered_note);
  a("gain", v.gain);
  a.Later("devices", v.devices);
  a.Later("search_s", v.search_s);
  a.Later("search_candidates", v.search_candidates);
  a("gain_conditions", v.gain_conditions);
  a("stop_reason", v.stop_reason);
  a("finished_at", v.finished_at);
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* key, T& value) {
    Json json = Make(value);
    if (!json.is_null()) {
      json_[key] = std::move(json);
    }
  }
  // A key that stores of earlier versions do not have: left out where it says nothing.
  template <typename T>
  void Later(const char* key, T& value) {
    if (value != T()) {
      (*this)(key, value);
    }
  }
  Json json() && { return std::move(json_); }

  // Null stands for an absent optional.
  static Json Make(bool value) { return value; }
  static Json Make(int value) { return value; }
  static Json Make(int64_t value) { return value; }
  static Json Make(uint64_t value) { return value; }
  static Json Make(double value) { return DoubleToJson(value); }
  static Json Make(std::string& value) { return value; }
  static Json Make(std::chrono::nanoseconds value) { return int64_t{value.count()}; }
  static Json Make(VariantId value) { return value.value; }
  static Json Make(ContentHash& value) { return value.Hex(); }
  static Json Make(std::variant<Accepted, Rejection>& value) {
    auto* rejection = std::get_if<Rejection>(&value);
    return rejection == nullptr ? Json() : Make(*rejection);
  }
  template <typename T>
  static Json Make(std::optional<T>& value) {
    return value ? Make(*value) : Json();
  }
  template <typename T>
  static Json Make(std::vector<T>& value) {
    Json array = Json::array();
    for (auto& element : value) {
      array.push_back(Make(element));
    }
    return array;
  }
  template <typename T>
  static Json Make(std::map<std::string, T>& value) {
    Json object = Json::object();
    for (auto& [key, element] : value) {
      object[key] = Make(element);
    }
    return object;
  }
  template <typename T>
    requires std::is_enum_v<T>
  static Json Make(T value) {
    return EnumName(value);
  }
  template <typename T>
    requires std::is_class_v<T>
  static Json Make(T& value) {
    Writer writer;
    Fields(writer, value);
    return std::move(writer).json();
  }

 private:
  Json json_ = Json::object();
};

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) {
      throw BadJson("not an object");
    }
  }
  template <typename T>
  void operator()(const char* key, T& value) {
    const auto found = json_.find(key);
    try {
      Take(found == json_.end() ? nullptr : &*found, value);
    } catch (const std::exception& error) {
      throw BadJson(fmt::format("{}: {}", key, error.what()));
    }
  }

  template <typename T>
  void Later(const char* key, T& value) {
    if (json_.contains(key)) {
      (*this)(key, value);
    } else {
      value = T();
    }
  }

  // `json` is null when the key is absent.
  template <typename T>
  static void Take(const Json* json, std::optional<T>& value) {
    if (json == nullptr) {
      value.reset();
      return;
    }
    Take(json, value.emplace());
  }
  static void Take(const Json* json, std::variant<Accepted, Rejection>& value) {
    if (json == nullptr) {
      value = Accepted{};
      return;
    }
    Take(json, value.emplace<Rejection>());
  }
  template <typename T>
  static void Take(const Json* json, std::vector<T>& value) {
    value.clear();
    for (const Json& element : Present(json).get_ref<const Json::array_t&>()) {
      Take(&element, value.emplace_back());
    }
  }
  template <typename T>
  static void Take(const Json* json, std::map<std::string, T>& value) {
    value.clear();
    for (const auto& [key, element] : Present(json).get_ref<const Json::object_t&>()) {
      Take(&element, value[key]);
    }
  }
  static void Take(const Json* json, bool& value) { value = Present(json).get<bool>(); }
  static void Take(const Json* json, std::string& value) {
    value = Present(json).get<std::string>();
  }
  static void Take(const Json* json, double& value) { value = DoubleFromJson(Present(json)); }
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  static void Take(const Json* json, T& value) {
    const Json& present = Present(json);
    if (!present.is_number_integer()) {
      throw BadJson("not an integer");
    }
    const bool fits = present.is_number_unsigned() ? std::in_range<T>(present.get<uint64_t>())
                                                   : std::in_range<T>(present.get<int64_t>());
    if (!fits) {
      throw BadJson("integer out of range");
    }
    value = present.get<T>();
  }
  static void Take(const Json* json, std::chrono::nanoseconds& value) {
    int64_t count = 0;
    Take(json, count);
    value = std::chrono::nanoseconds(count);
  }
  static void Take(const Json* json, VariantId& value) { Take(json, value.value); }
  static void Take(const Json* json, ContentHash& value) {
    Result<ContentHash> hash = ContentHash::Parse(Present(json).get<std::string>());
    if (!hash) {
      throw BadJson(hash.error().message());
    }
    value = *hash;
  }
  template <typename T>
    requires std::is_enum_v<T>
  static void Take(const Json* json, T& value) {
    value = EnumValue<T>(Present(json).get<std::string>());
  }
  template <typename T>
    requires std::is_class_v<T>
  static void Take(const Json* json, T& value) {
    Reader reader(Present(json));
    Fields(reader, value);
  }

 private:
  static const Json& Present(const Json* json) {
    if (json == nullptr) {
      throw BadJson("missing");
    }
    return *json;
  }

  const Json& json_;
};

template <typename T>
std::string Format(const T& value) {
  // Fields() serves both directions and takes its value by reference; the Writer only reads it.
  return Writer::Make(const_cast<T&>(value)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
Result<T> Parse(std::string_view text, const char* what) {
  try {
    const Json json = Json::parse(text);
    T value;
    Reader::Take(&json, value);
    return value;
  } catch (const std::exception& error) {
    return Error(ErrorCode::kParse, fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

std::string FormatEdit(const Edit& edit) {
  return Format(edit);
}
Result<Edit> ParseEdit(std::string_view json) {
  return Parse<Edit>(json, "edit");
}
std::string FormatEdits(const std::vector<Edit>& edits) {
  return Format(edits);
}
Result<std::vector<Edit>> ParseEdits(std::string_view json) {
  return Parse<std::vector<Edit>>(json, "edits");
}
std::string FormatEvaluation(const Evaluation& evaluation) {
  return Format(evaluation);
}
Result<Evaluation> ParseEvaluation(std::string_view json) {
  return Parse<Evaluation>(json, "evaluation");
}
std::string FormatReward(const Reward& reward) {
  return Format(reward);
}
Result<Reward> ParseReward(std::string_view json) {
  return Parse<Reward>(json, "reward");
}
std::string FormatDiagnosis(const PlacedDiagnosis& diagnosis) {
  return Format(diagnosis);
}
Result<PlacedDiagnosis> ParseDiagnosis(std::string_view json) {
  return Parse<PlacedDiagnosis>(json, "diagnosis");
}
std::string FormatNotes(const std::vector<EditNote>& notes) {
  return Format(notes);
}
Result<std::vector<EditNote>> ParseNotes(std::string_view json) {
  return Parse<std::vector<EditNote>>(json, "notes");
}
std::string FormatJudgement(const Judgement& judgement) {
  return Format(judgement);
}
Result<Judgement> ParseJudgement(std::string_view json) {
  return Parse<Judgement>(json, "judgement");
}
std::string FormatProfile(const Profile& profile) {
  return Format(profile);
}
Result<Profile> ParseProfile(std::string_view json) {
  return Parse<Profile>(json, "profile");
}
std::string FormatTaskSnapshot(const TaskSnapshot& task) {
  return Format(task);
}
Result<TaskSnapshot> ParseTaskSnapshot(std::string_view json) {
  return Parse<TaskSnapshot>(json, "task");
}
std::string FormatEnvironment(const EnvironmentSnapshot& environment) {
  return Format(environment);
}
Result<EnvironmentSnapshot> ParseEnvironment(std::string_view json) {
  return Parse<EnvironmentSnapshot>(json, "environment");
}
std::string FormatOptionMap(const std::map<std::string, std::string>& options) {
  return Format(options);
}
Result<std::map<std::string, std::string>> ParseOptionMap(std::string_view json) {
  return Parse<std::map<std::string, std::string>>(json, "options");
}
std::string FormatResult(const RunResult& result) {
  return Format(result);
}
Result<RunResult> ParseResult(std::string_view json) {
  return Parse<RunResult>(json, "result");
}

Result<EditMark> ParseEditMark(std::string_view name) {
  return Parse<EditMark>(Json(std::string(name)).dump(), "mark");
}
Result<RunState> ParseRunState(std::string_view name) {
  return Parse<RunState>(Json(std::string(name)).dump(), "state");
}

}  // namespace optiml
