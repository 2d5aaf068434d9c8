// The report as JSON: everything the other formats show, as numbers. Absent values are null.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/host_mode.h"
#include "report/metric_table.h"
#include "report/report.h"
#include "report/report_numbers.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json ToJson(const std::optional<GainEstimate>& gain) {
  if (!gain) {
    return nullptr;
  }
  return {{"value", gain->value}, {"low", gain->low}, {"high", gain->high}};
}

Json ToJson(const Timing& timing) {
  return {{"shape", timing.shape},
          {"kind", timing.kind == TimingKind::kMeasured ? "measured" : "predicted"},
          {"median_s", timing.median_s},
          {"low_s", timing.low_s},
          {"high_s", timing.high_s},
          {"samples", timing.samples_s.size()},
          {"discarded", timing.discarded},
          {"clock", timing.clock}};
}

Json ToJson(const MetricChange& change) {
  return {{"metric", change.id},           {"title", MetricTitle(change.id)},
          {"unit", change.unit},           {"before", OrNull(change.before)},
          {"after", OrNull(change.after)}, {"ratio", OrNull(change.ratio())}};
}

Json ToJson(const Profile& profile) {
  Json metrics = Json::object();
  for (const auto& [id, metric] : profile.metrics) {
    metrics[id] = {{"value", metric.value}, {"unit", metric.unit}};
  }
  return {{"source", ProfileSourceName(profile.source)},
          {"sampled_ratio", profile.sampled_ratio},
          {"metrics", metrics}};
}

Json ToJson(const Diagnosis& diagnosis) {
  return {{"bound", BoundName(diagnosis.bound)},
          {"cause", diagnosis.cause},
          {"evidence", diagnosis.evidence},
          {"confidence_ratio", diagnosis.confidence_ratio},
          {"speed_of_light", diagnosis.speed_of_light}};
}

Json ToJson(const ErrorMap& map) {
  Json lines = Json::array();
  const auto columns = static_cast<size_t>(std::max<int64_t>(map.cell_columns, 1));
  for (size_t at = 0; at < map.cells.size(); at += columns) {
    lines.push_back(map.cells.substr(at, columns));
  }
  Json meanings = Json::object();
  for (const char cell : MapKinds(map)) {
    meanings[std::string(1, cell)] = MapCellMeaning(cell, map.is_exact);
  }
  return {{"argument", map.argument}, {"shape", map.shape}, {"rows", map.rows},
          {"columns", map.columns},   {"cells", lines},     {"meanings", meanings}};
}

Json ToJson(const Mismatch& mismatch) {
  return {{"argument", mismatch.argument},
          {"index", mismatch.index},
          {"coordinates", mismatch.coordinates},
          {"expected", mismatch.expected},
          {"got", mismatch.got},
          {"unwritten", mismatch.unwritten}};
}

Json ToJson(const VerifyReport& verify) {
  Json json = {{"stage_reached", StageName(verify.stage_reached)},
               {"cases_run", verify.cases_run},
               {"max_absolute_error", verify.max_absolute_error},
               {"max_relative_error", verify.max_relative_error},
               {"max_budget_ratio", verify.max_budget_ratio},
               {"mismatch_count", verify.mismatch_count},
               {"failing_case", verify.failing_case},
               {"first_mismatch", nullptr},
               {"error_map", nullptr},
               {"findings", Json::array()}};
  if (verify.first_mismatch) {
    json["first_mismatch"] = ToJson(*verify.first_mismatch);
  }
  if (verify.error_map) {
    json["error_map"] = ToJson(*verify.error_map);
  }
  for (const Finding& finding : verify.findings) {
    json["findings"].push_back({{"kind", finding.kind},
                                {"kernel", finding.kernel},
                                {"line", finding.line},
                                {"detail", finding.detail}});
  }
  return json;
}

const char* OriginName(EditOrigin origin) {
  switch (origin) {
    case EditOrigin::kRewrite:
      return "rewrite";
    case EditOrigin::kTextRewrite:
      return "text rewrite";
    case EditOrigin::kModel:
      return "model";
  }
  return "rewrite";
}

Json ToJson(const Edit& edit) {
  Json claims = Json::array();
  for (const MetricClaim& claim : edit.claim) {
    claims.push_back({{"metric", claim.metric},
                      {"direction", claim.direction == Direction::kDown ? "down" : "up"}});
  }
  return {{"label", edit.Label()},      {"origin", OriginName(edit.origin)},
          {"rewrite", edit.rewrite},    {"parameters", edit.parameters},
          {"summary", edit.summary},    {"aims_at", BoundName(edit.aims_at)},
          {"claims", std::move(claims)}};
}

Json ToJson(const Evaluation& evaluation) {
  Json json;
  const Rejection* rejection = evaluation.rejection();
  json["accepted"] = rejection == nullptr;
  json["stage"] = rejection == nullptr ? Json(nullptr) : Json(StageName(rejection->stage));
  json["reason"] = rejection == nullptr ? Json(nullptr) : Json(rejection->reason);
  json["unsupported"] = rejection != nullptr && rejection->is_unsupported;
  json["guarantees"] = IsHostMode(evaluation.launcher) ? Json(kHostModeNote) : Json(nullptr);
  json["launcher"] = evaluation.launcher.empty() ? Json(nullptr) : Json(evaluation.launcher);
  json["from_store"] = evaluation.from_store;
  json["verify"] = evaluation.verify ? ToJson(*evaluation.verify) : Json(nullptr);
  json["timings"] = Json::array();
  for (const Timing& timing : evaluation.timings) {
    json["timings"].push_back(ToJson(timing));
  }
  json["profile"] = evaluation.profile ? ToJson(*evaluation.profile) : Json(nullptr);
  json["diagnosis"] = evaluation.diagnosis ? ToJson(*evaluation.diagnosis) : Json(nullptr);
  json["resources"] = Json::array();
  for (const KernelResources& kernel : evaluation.resources) {
    json["resources"].push_back({{"kernel", kernel.name_expression},
                                 {"registers", kernel.registers},
                                 {"static_shared_bytes", kernel.static_shared_bytes},
                                 {"stack_bytes", kernel.stack_bytes},
                                 {"spill_store_bytes", kernel.spill_store_bytes},
                                 {"spill_load_bytes", kernel.spill_load_bytes}});
  }
  json["stage_seconds"] = Json::object();
  for (const StageTime& time : evaluation.stage_times) {
    Json& seconds = json["stage_seconds"][StageName(time.stage)];
    seconds = (seconds.is_null() ? 0.0 : seconds.get<double>()) +
              std::chrono::duration<double>(time.time).count();
  }
  return json;
}

Json ChainJson(const ReportModel& model) {
  Json chain = Json::array();
  for (const ChainRow& row : model.chain) {
    Json claims = Json::array();
    for (const ClaimCheck& check : row.claims) {
      Json claim = ToJson(check.change);
      claim["direction"] = check.claim.direction == Direction::kDown ? "down" : "up";
      claim["verdict"] = ClaimVerdictName(check.verdict);
      claims.push_back(std::move(claim));
    }
    Json changes = Json::array();
    for (const MetricChange& change : row.changes) {
      changes.push_back(ToJson(change));
    }
    std::string diff;
    for (const DiffHunk& hunk : row.diff) {
      for (const DiffLine& line : hunk.lines) {
        diff += line.kind == DiffKind::kSame ? ' ' : line.kind == DiffKind::kRemoved ? '-' : '+';
        diff += std::string(line.text) + "\n";
      }
    }
    chain.push_back({{"edit", ToJson(row.step->edit)},
                     {"mark", EditMarkName(row.step->mark)},
                     {"note", row.step->note},
                     {"time_before_s", OrNull(row.time_before_s)},
                     {"time_s", OrNull(row.step->time_s)},
                     {"time_without_s", OrNull(row.step->time_without_s)},
                     {"gain", OrNull(row.gain)},
                     {"gain_lost_without_it", OrNull(row.gain_without)},
                     {"claims", std::move(claims)},
                     {"changes", std::move(changes)},
                     {"diff", std::move(diff)}});
  }
  return chain;
}

Json TreeJson(const ReportModel& model) {
  Json tree = Json::array();
  for (const NodeRow& row : model.nodes) {
    const NodeRecord& node = *row.record;
    Json parts = Json::array();
    for (const RewardPart& part : node.reward.parts) {
      parts.push_back({{"name", part.name},
                       {"weight", part.weight},
                       {"value", part.value},
                       {"reason", part.reason}});
    }
    tree.push_back({{"id", node.id},
                    {"parent", node.parent < 0 ? Json(nullptr) : Json(node.parent)},
                    {"depth", row.depth},
                    {"edit", node.parent < 0 ? Json(nullptr) : ToJson(node.edit)},
                    {"on_best_path", row.on_best_path},
                    {"best", row.is_best},
                    {"time_s", OrNull(row.time_s)},
                    {"gain", OrNull(row.gain)},
                    {"reward", {{"total", node.reward.total}, {"parts", std::move(parts)}}},
                    {"evaluation", ToJson(node.evaluation)},
                    {"wall_s", std::chrono::duration<double>(node.wall_time).count()}});
  }
  return tree;
}

Json ModelsJson(const ModelReport& models) {
  Json uses = Json::array();
  for (const ModelUseRow& use : models.uses) {
    uses.push_back({{"role", use.role},
                    {"model", use.model},
                    {"calls", use.calls},
                    {"unused", use.unused},
                    {"tokens", use.tokens},
                    {"tokens_estimated", use.tokens_estimated},
                    {"dollars", use.dollars},
                    {"seconds", use.seconds}});
  }
  Json edits = Json::array();
  for (const ModelEditRow& row : models.edits) {
    edits.push_back({{"at_node", row.trial->node},
                     {"edit", ToJson(row.trial->edit)},
                     {"model", row.trial->note.proposer},
                     {"claim", row.claim},
                     {"judge_before", row.before},
                     {"kept", row.trial->kept},
                     {"outcome", row.trial->reason},
                     {"node", row.node < 0 ? Json(nullptr) : Json(row.node)},
                     {"judge_after", row.after}});
  }
  return {{"uses", std::move(uses)}, {"edits", std::move(edits)}, {"given_up", models.given_up}};
}

Json RooflineJson(const ReportModel& model) {
  if (!model.roofline) {
    return nullptr;
  }
  Json points = Json::array();
  for (const RooflinePoint& point : model.roofline->points) {
    points.push_back({{"label", point.label},
                      {"operations_per_byte", point.operations_per_byte},
                      {"operations_per_second", point.operations_per_second}});
  }
  return {{"dram_bytes_per_s", model.roofline->dram_bytes_per_s},
          {"fp32_flops_per_s", model.roofline->fp32_flops_per_s},
          {"basis", model.roofline->basis},
          {"points", std::move(points)}};
}

Json FloorJson(const ReportModel& model) {
  if (!model.floor) {
    return nullptr;
  }
  return {{"target_s", model.floor->target.seconds},
          {"target_basis", model.floor->target.basis},
          {"reject_s", OrNull(model.floor->reject_s)},
          {"times_before", OrNull(model.floor->times_before)},
          {"times_after", OrNull(model.floor->times_after)}};
}

Json ConditionsJson(const std::optional<RunResult>& result) {
  if (!result || !result->gain_conditions) {
    return nullptr;
  }
  const auto reading = [](const ClockReading& one) {
    return Json{{"sm_hz", OrNull(one.sm_hz)},
                {"memory_hz", OrNull(one.memory_hz)},
                {"temperature_celsius", OrNull(one.temperature_celsius)},
                {"throttling", one.throttling ? Json(*one.throttling) : Json(nullptr)}};
  };
  return {{"before", reading(result->gain_conditions->before)},
          {"after", reading(result->gain_conditions->after)}};
}

}  // namespace

std::string JsonReport(const ReportModel& model) {
  const RunRecord& run = *model.run;
  Json json;
  json["schema"] = "optiml-report-1";
  json["run"] = {{"id", run.id.value},
                 {"state", RunStateName(run.state)},
                 {"started_at", run.environment.started_at},
                 {"finished_at", run.result ? Json(run.result->finished_at) : Json(nullptr)},
                 {"stop_reason", run.result ? Json(run.result->stop_reason) : Json(nullptr)},
                 {"failure", run.failure}};
  json["headline"] = model.headline;
  json["notes"] = model.notes;
  json["improved"] = run.result && run.result->improved;
  json["times_are"] = model.word;
  json["time_before_s"] = OrNull(model.time_before_s);
  json["time_after_s"] = OrNull(model.time_after_s);
  json["gain"] = ToJson(model.gain);
  json["gain_conditions"] = ConditionsJson(run.result);
  json["floor"] = FloorJson(model);
  json["shapes"] = Json::array();
  for (const ShapeRow& row : model.shapes) {
    json["shapes"].push_back({{"shape", row.shape},
                              {"before", ToJson(row.before)},
                              {"after", ToJson(row.after)},
                              {"gain", ToJson(std::optional(row.gain))}});
  }
  json["chain"] = ChainJson(model);
  json["counters"] = Json::array();
  for (const MetricChange& change : model.counters) {
    json["counters"].push_back(ToJson(change));
  }
  json["roofline"] = RooflineJson(model);
  json["tree"] = TreeJson(model);
  if (model.models.any()) {
    json["models"] = ModelsJson(model.models);
  }
  json["rejected"] = Json::array();
  for (const LedgerRow& row : model.rejected) {
    const Rejection* rejection = row.node->evaluation.rejection();
    json["rejected"].push_back({{"node", row.node->id},
                                {"edit", row.node->edit.Label()},
                                {"stage", StageName(rejection->stage)},
                                {"reason", rejection->reason},
                                {"unsupported", row.is_unsupported},
                                {"evidence", row.evidence}});
  }
  json["stage_seconds"] = Json::array();
  for (const StageShare& share : model.stage_shares) {
    json["stage_seconds"].push_back(
        {{"stage", share.name}, {"seconds", share.seconds}, {"count", share.count}});
  }
  if (run.result && !run.result->devices.empty()) {
    json["search_s"] = run.result->search_s;
    json["search_candidates"] = run.result->search_candidates;
    json["devices"] = Json::array();
    for (const DeviceUse& use : run.result->devices) {
      Json phases = Json::object();
      for (const DeviceUse::Phase& phase : use.phases) {
        phases[phase.name] = phase.seconds;
      }
      json["devices"].push_back({{"device", use.device},
                                 {"busy_s", use.busy_s},
                                 {"idle_share", IdleShare(use, run.result->search_s)},
                                 {"phases_s", std::move(phases)}});
    }
  }
  json["battery"] = Json::array();
  for (const BatteryRow& row : run.battery) {
    json["battery"].push_back(
        {{"mutant", row.mutant}, {"verdict", row.verdict}, {"detail", row.detail}});
  }
  json["lifts"] = Json::array();
  for (const LiftRow& row : run.lifts) {
    json["lifts"].push_back(
        {{"kernel", row.kernel}, {"lifted", row.lifted}, {"detail", row.detail}});
  }
  json["task"] = {{"name", run.task.name},
                  {"intent", run.task.intent},
                  {"hash", run.task.hash},
                  {"entry", run.task.entry},
                  {"source_path", run.task.source_path},
                  {"checked_shapes", run.task.checked_shapes},
                  {"timed_shapes", run.task.timed_shapes},
                  {"origin", run.task.origin},
                  {"bytes", OrNull(run.task.bytes)},
                  {"operations", OrNull(run.task.operations)}};
  json["environment"] = {
      {"optiml_version", run.environment.optiml_version},
      {"device", run.environment.device_name},
      {"architecture", run.environment.architecture},
      {"toolchain", run.environment.toolchain},
      {"measures_time", run.environment.measures_time},
      {"prediction_error_factor", run.environment.prediction_error_factor},
      {"dram_bytes_per_s", run.environment.dram_bytes_per_s},
      {"fp32_flops_per_s", run.environment.fp32_flops_per_s},
      {"peaks_measured_on",
       run.environment.peaks ? Json(run.environment.peaks->date) : Json(nullptr)}};
  json["options"] = run.options;
  json["reproduce"] = model.reproduce;
  json["source"] = run.task.source;
  json["best_source"] = model.best_source.empty() ? Json(nullptr) : Json(model.best_source);
  // Compiler logs and sources may hold bytes that are no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace optiml
