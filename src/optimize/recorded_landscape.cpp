#include "optimize/recorded_landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "score/scorer.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
// Enough for any use of a measured time or a counter, in few characters.
constexpr int kDigitsOfTimes = 6;
constexpr int kDigitsOfCounters = 4;
// What a search is told of a chain that was rejected: below every accepted one, as the scorer has
// it.
constexpr double kFailure = -5;

double Rounded(double value, int digits) {
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

double Seconds(const RecordedPoint& point) {
  double sum = 0;
  for (const double time : point.median_s) {
    sum += std::log(time);
  }
  return std::exp(sum / static_cast<double>(point.median_s.size()));
}

RecordedPoint PointOf(const NodeRecord& node) {
  RecordedPoint point;
  point.parent = node.parent;
  point.label = node.parent < 0 ? "" : node.edit.Label();
  point.duplicate_of = node.duplicate_of;
  if (const Rejection* rejection = node.evaluation.rejection()) {
    point.rejected_at = StageName(rejection->stage);
  } else {
    for (const Timing& timing : node.evaluation.timings) {
      point.median_s.push_back(Rounded(timing.median_s, kDigitsOfTimes));
      point.low_s.push_back(Rounded(timing.low_s, kDigitsOfTimes));
      point.high_s.push_back(Rounded(timing.high_s, kDigitsOfTimes));
    }
  }
  for (const KernelResources& kernel : node.evaluation.resources) {
    point.registers = std::max(point.registers, kernel.registers);
  }
  if (node.evaluation.profile) {
    for (const auto& [id, metric] : node.evaluation.profile->metrics) {
      if (metric.value != 0) {
        point.metrics[id] = Rounded(metric.value, kDigitsOfCounters);
      }
    }
  }
  return point;
}

// Points by chain, as they are looked up.
class Index {
 public:
  explicit Index(const RecordedLandscape& landscape) {
    for (size_t i = 1; i < landscape.points.size(); ++i) {
      const RecordedPoint& point = landscape.points[i];
      children_.emplace(std::pair(point.parent, point.label), static_cast<int64_t>(i));
    }
  }
  void Add(int64_t parent, const std::string& label, int64_t point) {
    children_.emplace(std::pair(parent, label), point);
  }
  // -1 when there is none.
  int64_t Child(int64_t parent, const std::string& label) const {
    const auto found = children_.find({parent, label});
    return found == children_.end() ? -1 : found->second;
  }

 private:
  std::map<std::pair<int64_t, std::string>, int64_t> children_;
};

Json ToJson(const RecordedPoint& point) {
  Json json = {{"parent", point.parent}, {"label", point.label}};
  if (!point.rejected_at.empty()) {
    json["rejected_at"] = point.rejected_at;
  } else {
    json["median_s"] = point.median_s;
    json["low_s"] = point.low_s;
    json["high_s"] = point.high_s;
  }
  if (point.duplicate_of >= 0) {
    json["duplicate_of"] = point.duplicate_of;
  }
  if (point.registers > 0) {
    json["registers"] = point.registers;
  }
  if (!point.metrics.empty()) {
    json["metrics"] = point.metrics;
  }
  if (point.edits) {
    json["edits"] = Json::array();
    for (const RecordedEdit& edit : *point.edits) {
      json["edits"].push_back({edit.label, edit.prior});
    }
  }
  return json;
}

RecordedPoint PointFrom(const Json& json) {
  RecordedPoint point;
  point.parent = json.at("parent").get<int64_t>();
  point.label = json.at("label").get<std::string>();
  point.rejected_at = json.value("rejected_at", "");
  if (point.rejected_at.empty()) {
    point.median_s = json.at("median_s").get<std::vector<double>>();
    point.low_s = json.at("low_s").get<std::vector<double>>();
    point.high_s = json.at("high_s").get<std::vector<double>>();
  }
  point.duplicate_of = json.value("duplicate_of", int64_t{-1});
  point.registers = json.value("registers", 0);
  point.metrics = json.value("metrics", std::map<std::string, double>());
  if (json.contains("edits")) {
    point.edits.emplace();
    for (const Json& edit : json["edits"]) {
      point.edits->push_back({edit.at(0).get<std::string>(), edit.at(1).get<double>()});
    }
  }
  return point;
}

// The point that executes the same and was there first: its edits are what may follow.
int64_t Original(const RecordedLandscape& landscape, int64_t point) {
  while (point >= 0 && landscape.points[static_cast<size_t>(point)].duplicate_of >= 0) {
    point = landscape.points[static_cast<size_t>(point)].duplicate_of;
  }
  return point;
}

// Why the point cannot stand where it does; empty when it can.
std::string Problem(const RecordedPoint& point, const RecordedLandscape& before) {
  const auto number = static_cast<int64_t>(before.points.size());
  if (point.parent >= number || (number == 0) != (point.parent < 0)) {
    return fmt::format("its parent is {}", point.parent);
  }
  if (point.duplicate_of >= number) {
    return fmt::format("it repeats {}, which comes later", point.duplicate_of);
  }
  if (number == 0 && !point.rejected_at.empty()) {
    return "the root is rejected";
  }
  for (const auto* times : {&point.median_s, &point.low_s, &point.high_s}) {
    if (point.rejected_at.empty() && times->size() != before.shapes.size()) {
      return fmt::format("{} times for {} shapes", times->size(), before.shapes.size());
    }
    if (std::any_of(times->begin(), times->end(),
                    [](double time) { return !(time > 0) || !std::isfinite(time); })) {
      return "a time is not above 0";
    }
  }
  if (point.edits && std::any_of(point.edits->begin(), point.edits->end(),
                                 [](const RecordedEdit& edit) { return !(edit.prior > 0); })) {
    return "a prior is not above 0";
  }
  return "";
}

}  // namespace

double RecordedLandscape::BestSeconds() const {
  double best = Seconds(points.front());
  for (const RecordedPoint& point : points) {
    if (point.rejected_at.empty()) {
      best = std::min(best, Seconds(point));
    }
  }
  return best;
}

Result<RecordedLandscape> LandscapeOf(const RunRecord& record) {
  if (record.nodes.empty() || !record.nodes.front().evaluation.accepted()) {
    return Error(ErrorCode::kInvalidArgument, "the run has no accepted root");
  }
  RecordedLandscape landscape;
  landscape.task = record.task.name;
  landscape.task_hash = record.task.hash;
  landscape.device = record.environment.device_name;
  landscape.toolchain = record.environment.toolchain;
  landscape.measured = record.environment.measures_time;
  for (const Timing& timing : record.nodes.front().evaluation.timings) {
    landscape.shapes.push_back(timing.shape);
  }
  landscape.recorded_at = record.environment.started_at;
  for (const NodeRecord& node : record.nodes) {
    RecordedPoint point = PointOf(node);
    if (const std::string problem = Problem(point, landscape); !problem.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("the run's node {} has no place: {}", node.id, problem));
    }
    landscape.points.push_back(std::move(point));
  }
  for (const ExpansionRecord& expansion : record.expansions) {
    auto& edits = landscape.points.at(static_cast<size_t>(expansion.node)).edits.emplace();
    for (const Edit& edit : expansion.edits) {
      edits.push_back({edit.Label(), Rounded(edit.prior, kDigitsOfCounters)});
    }
  }
  return landscape;
}

Result<void> AddTo(RecordedLandscape& landscape, const RecordedLandscape& more) {
  for (const auto& [what, mine, its] :
       {std::tuple("task", landscape.task_hash, more.task_hash),
        std::tuple("device", landscape.device, more.device),
        std::tuple("toolchain", landscape.toolchain, more.toolchain)}) {
    if (mine != its) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("runs of {} and of {} do not go together: the {} is {} and {}",
                               landscape.task, more.task, what, mine, its));
    }
  }
  Index index(landscape);
  std::vector<int64_t> here(more.points.size());  // the points of `more` in `landscape`
  for (size_t i = 1; i < more.points.size(); ++i) {
    RecordedPoint point = more.points[i];
    point.parent = here[static_cast<size_t>(point.parent)];
    point.duplicate_of =
        point.duplicate_of < 0 ? -1 : here[static_cast<size_t>(point.duplicate_of)];
    here[i] = index.Child(point.parent, point.label);
    if (here[i] < 0) {
      here[i] = static_cast<int64_t>(landscape.points.size());
      index.Add(point.parent, point.label, here[i]);
      landscape.points.push_back(std::move(point));
    }
  }
  for (size_t i = 0; i < more.points.size(); ++i) {
    auto& edits = landscape.points[static_cast<size_t>(here[i])].edits;
    edits = edits ? edits : more.points[i].edits;
  }
  return {};
}

std::string FormatLandscape(const RecordedLandscape& landscape) {
  const Json header = {{"landscape", kFormat},
                       {"task", landscape.task},
                       {"task_hash", landscape.task_hash},
                       {"device", landscape.device},
                       {"toolchain", landscape.toolchain},
                       {"measured", landscape.measured},
                       {"shapes", landscape.shapes},
                       {"recorded_at", landscape.recorded_at}};
  std::string text = header.dump() + "\n";
  for (const RecordedPoint& point : landscape.points) {
    text += ToJson(point).dump() + "\n";
  }
  return text;
}

Result<RecordedLandscape> ParseLandscape(std::string_view text, const std::string& file) {
  RecordedLandscape landscape;
  int line = 0;
  const auto fails = [&](const std::string& why) {
    return Error(ErrorCode::kParse, fmt::format("{}:{}: {}", file, line, why));
  };
  while (!text.empty()) {
    ++line;
    const std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    try {
      const Json json = Json::parse(one);
      if (line > 1) {
        RecordedPoint point = PointFrom(json);
        if (const std::string problem = Problem(point, landscape); !problem.empty()) {
          return fails(problem);
        }
        landscape.points.push_back(std::move(point));
      } else if (json.at("landscape").get<int>() != kFormat) {
        return fails(fmt::format("format {} (known: {})", json["landscape"].dump(), kFormat));
      } else {
        landscape.task = json.at("task").get<std::string>();
        landscape.task_hash = json.at("task_hash").get<std::string>();
        landscape.device = json.at("device").get<std::string>();
        landscape.toolchain = json.at("toolchain").get<std::string>();
        landscape.measured = json.at("measured").get<bool>();
        landscape.shapes = json.at("shapes").get<std::vector<std::string>>();
        landscape.recorded_at = json.at("recorded_at").get<std::string>();
      }
    } catch (const Json::exception& exception) {
      return fails(fmt::format("no line of a landscape: {}", exception.what()));
    }
  }
  if (landscape.points.empty() || landscape.shapes.empty()) {
    return fails("no root or no shapes");
  }
  return landscape;
}

Result<LandscapeSearch> SearchOn(const RecordedLandscape& landscape, const SearchOptions& options,
                                 int candidates) {
  OPTIML_ASSIGN(const std::unique_ptr<Searcher> searcher, MakeSearcher(options));
  const Index index(landscape);
  const double root_s = Seconds(landscape.points.front());
  const double clip = ScoreOptions().time_clip;
  LandscapeSearch result;
  result.best_s = root_s;
  std::vector<int64_t> points = {0};                        // by node; -1: unknown
  std::map<int64_t, NodeId> first_node = {{0, NodeId(0)}};  // of each accepted point
  searcher->TellRoot({0, true, NodeId()});
  while (result.candidates < candidates) {
    const Question question = searcher->Ask();
    if (const auto* needs = std::get_if<NeedEdits>(&question)) {
      const int64_t point = points[static_cast<size_t>(needs->node.value)];
      std::vector<double> priors;
      for (const RecordedEdit& edit : landscape.points[static_cast<size_t>(point)].edits.value_or(
               std::vector<RecordedEdit>())) {
        priors.push_back(edit.prior);
      }
      searcher->SetEdits(needs->node, priors);
      continue;
    }
    const auto* evaluate = std::get_if<Evaluate>(&question);
    if (evaluate == nullptr) {
      break;
    }
    const int64_t parent = points[static_cast<size_t>(evaluate->parent.value)];
    const RecordedPoint& from = landscape.points[static_cast<size_t>(parent)];
    const int64_t at = Original(
        landscape, index.Child(parent, (*from.edits)[static_cast<size_t>(evaluate->edit)].label));
    OPTIML_CHECK(evaluate->child.value == static_cast<int64_t>(points.size()),
                 "ids count up in the order asked");
    points.push_back(at);
    ++result.candidates;
    TellOutcome outcome{kFailure, false, NodeId()};
    if (at < 0) {
      ++result.unknown;
    } else if (const RecordedPoint& point = landscape.points[static_cast<size_t>(at)];
               point.rejected_at.empty()) {
      const double seconds = Seconds(point);
      result.best_s = std::min(result.best_s, seconds);
      outcome.reward = std::clamp(std::log(root_s / seconds), -clip, clip);
      outcome.accepted = true;
      if (const auto [twin, is_new] = first_node.emplace(at, evaluate->child); !is_new) {
        outcome.duplicate_of = twin->second;
      }
    }
    searcher->Tell(evaluate->child, outcome);
  }
  return result;
}

}  // namespace optiml
