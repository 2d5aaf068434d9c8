#include "report/report_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "report/metric_table.h"
#include "report/text_format.h"

namespace optiml {
namespace {

// Changes below this share are noise of the scaling of sampled blocks and tell a reader nothing.
constexpr double kNotableChange = 0.01;

MetricChange ChangeOf(const MetricId& id, const Profile* before, const Profile* after) {
  MetricChange change;
  change.id = id;
  for (const auto& [profile, side] :
       {std::pair(before, &change.before), std::pair(after, &change.after)}) {
    if (profile == nullptr) {
      continue;
    }
    if (const auto found = profile->metrics.find(id); found != profile->metrics.end()) {
      *side = found->second.value;
      change.unit = found->second.unit;
    }
  }
  if (const MetricInfo* info = FindMetric(id); info != nullptr) {
    change.unit = info->unit;
  }
  return change;
}

// How far a change is from none, comparable between metrics.
double Distance(const MetricChange& change) {
  if (*change.before == *change.after) {
    return 0;
  }
  if (*change.before <= 0 || *change.after <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::fabs(std::log(*change.after / *change.before));
}

std::optional<double> Sum(const Profile* profile, std::initializer_list<const char*> ids) {
  std::optional<double> sum;
  for (const char* id : ids) {
    if (const auto value = profile == nullptr ? std::nullopt : profile->Get(id)) {
      sum = sum.value_or(0) + *value;
    }
  }
  return sum;
}

// Floating-point operations that a profile counted; an FMA is two.
std::optional<double> CountedOperations(const Profile* profile) {
  std::optional<double> sum = Sum(profile, {metric::kFaddInstructions, metric::kFmulInstructions});
  if (const auto fma = Sum(profile, {metric::kFfmaInstructions})) {
    sum = sum.value_or(0) + 2 * *fma;
  }
  return sum;
}

}  // namespace

std::vector<ShapeRow> MatchShapes(const Evaluation& before, const Evaluation& after,
                                  double prediction_error_factor) {
  std::vector<ShapeRow> rows;
  for (const Timing& timing : before.timings) {
    const auto match =
        std::find_if(after.timings.begin(), after.timings.end(),
                     [&](const Timing& other) { return other.shape == timing.shape; });
    if (match == after.timings.end() || !(match->median_s > 0) || !(timing.median_s > 0)) {
      continue;
    }
    ShapeRow row{timing.shape, timing, *match, {}};
    row.gain.value = timing.median_s / match->median_s;
    if (timing.kind == TimingKind::kPredicted) {
      row.gain.low = row.gain.value / prediction_error_factor;
      row.gain.high = row.gain.value * prediction_error_factor;
    } else {
      row.gain.low = match->high_s > 0 ? timing.low_s / match->high_s : row.gain.value;
      row.gain.high = match->low_s > 0 ? timing.high_s / match->low_s : row.gain.value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<GainEstimate> GainOverShapes(const std::vector<ShapeRow>& shapes, bool measured,
                                           double prediction_error_factor) {
  if (shapes.empty()) {
    return std::nullopt;
  }
  const auto mean = [&](double GainEstimate::* field) {
    double log_sum = 0;
    for (const ShapeRow& row : shapes) {
      log_sum += std::log(row.gain.*field);
    }
    return std::exp(log_sum / static_cast<double>(shapes.size()));
  };
  GainEstimate gain;
  gain.value = mean(&GainEstimate::value);
  gain.low = measured ? mean(&GainEstimate::low) : gain.value / prediction_error_factor;
  gain.high = measured ? mean(&GainEstimate::high) : gain.value * prediction_error_factor;
  return gain;
}

std::vector<MetricChange> AllChanges(const Profile* before, const Profile* after) {
  if (before != nullptr && after != nullptr && before->source != after->source) {
    before = nullptr;  // counts of two counters are not compared
  }
  std::set<MetricId> left;
  for (const Profile* profile : {before, after}) {
    if (profile != nullptr) {
      for (const auto& [id, value] : profile->metrics) {
        left.insert(id);
      }
    }
  }
  std::vector<MetricChange> changes;
  for (const MetricInfo& info : MetricTable()) {
    if (left.erase(info.id) != 0) {
      changes.push_back(ChangeOf(info.id, before, after));
    }
  }
  for (const MetricId& id : left) {
    changes.push_back(ChangeOf(id, before, after));
  }
  return changes;
}

std::vector<MetricChange> NotableChanges(const Profile* before, const Profile* after) {
  std::vector<MetricChange> changes = AllChanges(before, after);
  std::erase_if(changes, [](const MetricChange& change) {
    return !change.before || !change.after || Distance(change) < kNotableChange;
  });
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const MetricChange& a, const MetricChange& b) { return Distance(a) > Distance(b); });
  return changes;
}

std::vector<ClaimCheck> CheckClaims(const std::vector<MetricClaim>& claims, const Profile* before,
                                    const Profile* after) {
  std::vector<ClaimCheck> checks;
  for (const MetricClaim& claim : claims) {
    ClaimCheck check;
    check.claim = claim;
    if (before != nullptr && after != nullptr && before->source != after->source) {
      before = nullptr;
    }
    check.change = ChangeOf(claim.metric, before, after);
    if (check.change.before && check.change.after) {
      const bool moved = claim.direction == Direction::kDown
                             ? *check.change.after < *check.change.before
                             : *check.change.after > *check.change.before;
      check.verdict = moved ? ClaimCheck::Verdict::kCameTrue : ClaimCheck::Verdict::kDidNot;
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

void MakeRoofline(ReportModel& model) {
  const RunRecord& run = *model.run;
  if (!(run.environment.dram_bytes_per_s > 0) || !(run.environment.fp32_flops_per_s > 0)) {
    model.no_roofline = "the device states no bandwidth or no peak rate";
    return;
  }
  Roofline roofline;
  roofline.dram_bytes_per_s = run.environment.dram_bytes_per_s;
  roofline.fp32_flops_per_s = run.environment.fp32_flops_per_s;
  const std::optional<MeasuredPeaks>& peaks = run.environment.peaks;
  if (peaks && peaks->dram_bytes_per_s() > 0 && peaks->fp32_flops_per_s > 0) {
    roofline.dram_bytes_per_s = peaks->dram_bytes_per_s();
    roofline.fp32_flops_per_s = peaks->fp32_flops_per_s;
    roofline.ceilings = "measured on " + peaks->date;
  }
  bool from_formulas = false;
  for (const auto& [label, evaluation] :
       {std::pair("before", model.before), std::pair("after", model.after)}) {
    if (evaluation == nullptr || evaluation->timings.empty()) {
      continue;
    }
    const Profile* profile = evaluation->profile ? &*evaluation->profile : nullptr;
    // The task's own operations count as work; what a kernel executes beyond them is its affair.
    std::optional<double> operations = run.task.operations;
    from_formulas |= operations.has_value();
    if (!operations) {
      operations = CountedOperations(profile);
    }
    std::optional<double> bytes =
        Sum(profile, {metric::kDramReadBytes, metric::kDramWriteBytes, metric::kDramDirtyBytes});
    if (!bytes) {
      bytes = run.task.bytes;
    }
    const double seconds = evaluation->timings.front().median_s;
    if (operations && bytes && *operations > 0 && *bytes > 0 && seconds > 0) {
      roofline.points.push_back({label, *operations / *bytes, *operations / seconds});
    }
  }
  if (roofline.points.empty()) {
    model.no_roofline =
        "the kernel does no floating-point work that was counted, or its bytes are not known";
    return;
  }
  roofline.basis = from_formulas ? "operations from the task's cost formula, DRAM bytes as counted"
                                 : "operations and DRAM bytes as counted";
  roofline.basis += roofline.ceilings.empty() ? "" : "; ceilings " + roofline.ceilings;
  model.roofline = std::move(roofline);
}

void MakeFloor(ReportModel& model) {
  const RunRecord& run = *model.run;
  const EnvironmentSnapshot& machine = run.environment;
  std::optional<TargetFloor> target =
      TargetFloorOf({run.task.bytes, run.task.operations, run.task.is_half},
                    machine.dram_bytes_per_s, machine.fp32_flops_per_s, machine.peaks);
  if (!target) {
    return;
  }
  const auto times = [&](const Evaluation* evaluation) {
    return evaluation != nullptr && !evaluation->timings.empty()
               ? std::optional(evaluation->timings.front().median_s / target->seconds)
               : std::nullopt;
  };
  const std::optional<double> before = times(model.before);
  const std::optional<double> after = times(model.after);
  model.floor = FloorRow{*std::move(target), run.task.reject_floor_s, before, after};
}

double IdleShare(const DeviceUse& use, double wall_s) {
  return wall_s > 0 ? std::clamp(1 - use.busy_s / wall_s, 0.0, 1.0) : 0;
}

namespace {

std::string CountedCandidates(int64_t count) {
  return count == 1 ? "1 candidate" : fmt::format("{} candidates", count);
}

}  // namespace

std::vector<std::string> DeviceLines(const RunRecord& run) {
  std::vector<std::string> lines;
  if (!run.result || run.result->devices.empty() || run.result->search_s <= 0) {
    return lines;
  }
  const double wall_s = run.result->search_s;
  lines.push_back(fmt::format(
      "{} in {} of search: {:.0f} a minute.", CountedCandidates(run.result->search_candidates),
      FormatElapsed(wall_s), 60.0 * static_cast<double>(run.result->search_candidates) / wall_s));
  for (const DeviceUse& use : run.result->devices) {
    std::vector<DeviceUse::Phase> phases = use.phases;
    std::stable_sort(phases.begin(), phases.end(),
                     [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    std::vector<std::string> parts;
    for (const DeviceUse::Phase& phase : phases) {
      if (phase.seconds >= 0.005 * wall_s) {
        parts.push_back(fmt::format("{} {}", phase.name, FormatElapsed(phase.seconds)));
      }
    }
    lines.push_back(fmt::format("{} was busy for {}, idle for {} of the search{}{}.", use.device,
                                FormatElapsed(use.busy_s), FormatPercent(IdleShare(use, wall_s)),
                                parts.empty() ? "" : "; times took: ", fmt::join(parts, ", ")));
  }
  return lines;
}

void MakeStageShares(ReportModel& model) {
  constexpr size_t kStages = static_cast<size_t>(Stage::kDelivered) + 1;
  std::array<StageShare, kStages> shares;
  double staged = 0;
  double wall = 0;
  const auto add = [&](const Evaluation& evaluation) {
    for (const StageTime& time : evaluation.stage_times) {
      StageShare& share = shares[static_cast<size_t>(time.stage)];
      const double seconds = std::chrono::duration<double>(time.time).count();
      share.seconds += seconds;
      share.count += 1;
      staged += seconds;
    }
  };
  for (const NodeRecord& node : model.run->nodes) {
    add(node.evaluation);
    wall += std::chrono::duration<double>(node.wall_time).count();
  }
  for (const TrialRecord& trial : model.run->trials) {
    add(trial.evaluation);
    wall += std::chrono::duration<double>(trial.wall_time).count();
  }
  StageShare models{"language models", 0, 0};
  for (const ExchangeRecord& exchange : model.run->exchanges) {
    const double seconds = std::chrono::duration<double>(exchange.wall_time).count();
    models.seconds += seconds;
    models.count += exchange.request.empty() ? 0 : 1;
    // Verdicts are asked for within a node's time.
    wall -= exchange.prompt.starts_with("judge_after") ? seconds : 0;
  }
  const double nodes_staged = staged;
  if (model.run->result && model.run->result->delivered) {
    add(*model.run->result->delivered);
  }
  for (size_t i = 0; i < kStages; ++i) {
    if (shares[i].count > 0) {
      shares[i].name = StageName(static_cast<Stage>(i));
      model.stage_shares.push_back(shares[i]);
    }
  }
  if (models.count > 0) {
    model.stage_shares.push_back(models);
  }
  // What is left of the nodes' wall time; stages that overlap leave nothing.
  if (wall > nodes_staged) {
    model.stage_shares.push_back({"search, proposals, store", wall - nodes_staged,
                                  static_cast<int>(model.run->nodes.size())});
  }
  for (const StageShare& share : model.stage_shares) {
    model.total_seconds += share.seconds;
  }
}

}  // namespace optiml
