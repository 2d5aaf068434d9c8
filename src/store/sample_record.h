#ifndef OPTIML_STORE_SAMPLE_RECORD_H_
#define OPTIML_STORE_SAMPLE_RECORD_H_

// A small RunRecord with every field set, for tests of the store and of what reads it.

#include <fmt/format.h>

#include <string>

#include "core/evaluation.h"
#include "store/run_record.h"
#include "store/serialise.h"

namespace optiml {

inline Edit SampleEdit(const std::string& rewrite) {
  Edit edit;
  edit.origin = EditOrigin::kTextRewrite;
  edit.rewrite = rewrite;
  edit.parameters = {{"width", 4}, {"block", 256}};
  edit.summary = "load four neighbours at once";
  edit.aims_at = Bound::kMemory;
  edit.claim = {{metric::kGlobalLoadRequests, Direction::kDown},
                {metric::kDramUtilisation, Direction::kUp}};
  edit.prior = 0.1;
  return edit;
}

inline Evaluation SampleEvaluation() {
  Evaluation evaluation;
  evaluation.variant = VariantId(3);
  evaluation.source_hash = ContentHash::Of("source");
  evaluation.ptx_hash = ContentHash::Of("ptx");
  evaluation.plan_hash = ContentHash::Of("plans");
  evaluation.launcher = "recorded";
  KernelResources resources;
  resources.name_expression = "softmax<float>";
  resources.lowered_name = "_Z7softmaxIfEvPKfPfi";
  resources.registers = 40;
  resources.static_shared_bytes = 4096;
  resources.spill_load_bytes = 16;
  evaluation.resources = {resources};
  VerifyReport verify;
  verify.stage_reached = Stage::kL1;
  verify.cases_run = 12;
  verify.max_relative_error = 1.5e-7;
  verify.first_mismatch = Mismatch{"y", 7, {0, 7}, 0.25, 0.5, true};
  verify.mismatch_count = 1;
  verify.error_map = MakeErrorMap({1, 8});
  verify.error_map->argument = "y";
  verify.error_map->cells = ".......U";
  verify.findings = {{"race", "softmax", "thread 3 and thread 4 of block 0", 12}};
  verify.failing_case = "rows=33 cols=1000, fill normal, seed 2";
  evaluation.verify = verify;
  Timing timing;
  timing.kind = TimingKind::kMeasured;
  timing.shape = "cols=4099 rows=7";
  timing.median_s = 1.25e-4;
  timing.low_s = 1.2e-4;
  timing.high_s = 1.3e-4;
  timing.samples_s = {1.2e-4, 1.25e-4, 1.3e-4};
  timing.discarded = 2;
  timing.clock = "CUDA events";
  evaluation.timings = {timing};
  evaluation.profile =
      Profile{{{"a", {0.1, "ratio"}}, {"b", {3, "byte"}}}, ProfileSource::kCupti, 0.5};
  evaluation.diagnosis = Diagnosis{
      Bound::kLatency, {"occupancy 0.2"}, {{"dram", 0.3}, {"fp32", 0.1}}, "few warps", 0.8};
  evaluation.stage_times = {{Stage::kBuild, std::chrono::milliseconds(23)},
                            {Stage::kL0, std::chrono::nanoseconds(1)}};
  evaluation.from_store = true;
  return evaluation;
}

// The header of a run: what RunStore::Create takes.
inline RunRecord SampleHeader() {
  RunRecord record;
  record.id = RunId{"softmax-20261129-192407"};
  record.task.name = "softmax";
  record.task.intent = "row-wise softmax";
  record.task.hash = ContentHash::Of("task").Hex();
  record.task.folder = "/somewhere/softmax";
  record.task.entry = "softmax";
  record.task.source_path = "kernel.cu";
  record.task.source = std::string("__global__ void k() {}\n\0// caf\xe9\n", 31);
  record.task.task_toml = "[task]\nname = \"softmax\"\n";
  record.task.checked_shapes = {"cols=1 rows=1", "cols=1000 rows=33"};
  record.task.timed_shapes = {"cols=4099 rows=7"};
  record.task.origin = {{"repo", "somebody/kernels"}};
  record.task.bytes = 229544;
  record.task.is_half = true;
  record.task.reject_floor_s = 4.5e-8;
  record.environment.optiml_version = "0.1.0";
  record.environment.device_name = "H200 (emulated)";
  record.environment.architecture = "sm_90";
  record.environment.toolchain = "NVRTC 13.0";
  record.environment.prediction_error_factor = 1.3;
  record.environment.dram_bytes_per_s = 4.8e12;
  record.environment.fp32_flops_per_s = 6.7e13;
  record.environment.peaks =
      MeasuredPeaks{"2026-11-30", "580.65.06", 4.3e12, 4e12, 6e12, 3e13, 6e13, 6e14, 1e-6};
  record.environment.started_at = "2026-11-29T19:24:07Z";
  record.options = {{"seed", "1"}, {"exploration", "0.7"}};
  return record;
}

// A finished run with two nodes and a chain of two edits.
inline RunRecord SampleRecord() {
  RunRecord record = SampleHeader();
  record.battery = {{"zeros", "rejected", "y[0] is 0, expected 0.5"},
                    {"1 % scale error", "rejected", "y[3]"}};
  record.lifts = {{"softmax", true, "row fold"}, {"tail", false, "uses shared memory"}};
  record.expansions = {{0, {SampleEdit("vector_width"), SampleEdit("block_size")}}, {1, {}}};
  NodeRecord root;
  root.variant = VariantId(0);
  root.source = record.task.source;
  root.evaluation = SampleEvaluation();
  root.told_at = "2026-11-29T19:24:08Z";
  NodeRecord child = root;
  child.id = 1;
  child.parent = 0;
  child.variant = VariantId(1);
  child.edit = SampleEdit("vector_width");
  child.source = "__global__ void k() { }\n";
  child.reward = Reward{0.7, {{"time", 1, 0.7, "2.0x faster than the root (predicted)"}}};
  child.duplicate_of = 0;
  child.wall_time = std::chrono::milliseconds(150);
  child.judgement = Judgement{-1, "the loads are as many", Verdict::kRefuted, "a-model"};
  record.nodes = {root, child};
  record.expansions[0].diagnosis = PlacedDiagnosis{*root.evaluation.diagnosis, {3, 5}, "a-model"};
  record.expansions[0].notes = {{"a-model", Opinion{0.75, "coalesced", "a-model"}}, {}};
  ExchangeRecord exchange;
  exchange.role = "diagnoser";
  exchange.prompt = "diagnoser 0123abcd";
  exchange.model = "a-model";
  exchange.request = "what bounds it?";
  exchange.reply = "{}";
  exchange.outcome = "used";
  exchange.prompt_tokens = 900;
  exchange.completion_tokens = 12;
  exchange.tokens_estimated = true;
  exchange.dollars = 0.1;
  exchange.wall_time = std::chrono::milliseconds(7);
  ExchangeRecord failed;
  failed.node = 1;
  failed.role = "proposer";
  failed.failure = "no route to the endpoint";
  record.exchanges = {exchange, failed};
  TrialRecord trial;
  trial.node = 0;
  trial.edit = SampleEdit("hunks");
  trial.note = {"a-model", Opinion{0.75, "coalesced", "a-model"}};
  trial.source = "__global__ void t() { }\n";
  trial.evaluation.outcome = Rejection{Stage::kL1, "y[0] is 0"};
  trial.kept = true;
  trial.reason = "faster";
  trial.wall_time = std::chrono::milliseconds(9);
  record.trials = {trial};
  RunResult result;
  result.improved = true;
  result.reason = "one edit was kept";
  ChainStep step;
  step.edit = child.edit;
  step.mark = EditMark::kBridge;
  step.time_s = 1e-4;
  step.note = "a later edit needed it";
  step.source = child.source;
  step.profile = root.evaluation.profile;
  result.chain = {step, step};
  result.chain[1].mark = EditMark::kDropped;
  result.chain[1].time_s.reset();
  result.chain[1].time_without_s = 9e-5;
  result.chain[1].profile.reset();
  result.best_source = child.source;
  result.root = root.evaluation;
  result.best = child.evaluation;
  result.delivered_note = "nvcc not present";
  result.gain = 2;
  result.gain_conditions.emplace().before.sm_hz = 1.98e9;
  result.gain_conditions->after.throttling = {{"power cap"}};
  result.stop_reason = "candidates";
  result.finished_at = "2026-11-29T19:25:00Z";
  record.result = result;
  record.state = RunState::kFinished;
  return record;
}

// Every field of a record as text: equal texts mean equal records.
inline std::string DumpRecord(const RunRecord& record) {
  std::string text = record.id.value + "|" + RunStateName(record.state) + "|" + record.failure +
                     "|" + FormatTaskSnapshot(record.task) + record.task.source +
                     record.task.task_toml + FormatEnvironment(record.environment) +
                     FormatOptionMap(record.options);
  for (const BatteryRow& row : record.battery) {
    text += "\nbattery " + row.mutant + "|" + row.verdict + "|" + row.detail;
  }
  for (const LiftRow& row : record.lifts) {
    text += "\nlift " + row.kernel + "|" + std::to_string(row.lifted) + "|" + row.detail;
  }
  for (const ExpansionRecord& row : record.expansions) {
    text += "\nexpansion " + std::to_string(row.node) + FormatEdits(row.edits) +
            FormatNotes(row.notes) + (row.diagnosis ? FormatDiagnosis(*row.diagnosis) : "-");
  }
  for (const NodeRecord& node : record.nodes) {
    text += "\nnode " + std::to_string(node.id) + "|" + std::to_string(node.parent) + "|" +
            std::to_string(node.variant.value) + "|" + FormatEdit(node.edit) + node.source +
            FormatEvaluation(node.evaluation) + FormatReward(node.reward) +
            std::to_string(node.duplicate_of) + node.told_at +
            std::to_string(node.wall_time.count()) +
            (node.judgement ? FormatJudgement(*node.judgement) : "-");
  }
  for (const ExchangeRecord& row : record.exchanges) {
    text += fmt::format("\nexchange {}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.node, row.role,
                        row.prompt, row.model, row.request, row.reply, row.failure, row.outcome,
                        row.prompt_tokens, row.completion_tokens, row.tokens_estimated, row.dollars,
                        row.wall_time.count());
  }
  for (const TrialRecord& row : record.trials) {
    text += fmt::format("\ntrial {}|{}|{}|{}|{}|{}|{}|{}", row.node, FormatEdit(row.edit),
                        FormatNotes({row.note}), row.source, FormatEvaluation(row.evaluation),
                        row.kept, row.reason, row.wall_time.count());
  }
  if (record.result) {
    text += "\nresult " + FormatResult(*record.result) + record.result->best_source;
    for (const ChainStep& step : record.result->chain) {
      text += "\nstep " + EditMarkName(step.mark) + FormatEdit(step.edit) +
              (step.time_s ? fmt::format("{}|", *step.time_s) : "-") +
              (step.time_without_s ? fmt::format("{}|", *step.time_without_s) : "-") + step.note +
              step.source + (step.profile ? FormatProfile(*step.profile) : "-");
    }
  }
  return text;
}

}  // namespace optiml

#endif  // OPTIML_STORE_SAMPLE_RECORD_H_
