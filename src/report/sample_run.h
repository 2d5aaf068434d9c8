#ifndef OPTIML_REPORT_SAMPLE_RUN_H_
#define OPTIML_REPORT_SAMPLE_RUN_H_

// A made-up run for the report's tests: every kind of content that a report must lay out, with
// texts that try to break out of it. Included by tests only.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics.h"
#include "store/run_record.h"

namespace optiml::sample {

inline const char* NaiveSource() {
  return R"(#include <cmath>
// one thread a row; "</script><b>" & 'quotes' must not break the page
__global__ void row_kernel(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[row * cols + c] - m);
  for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / s;
}
extern "C" void rows(const float* x, float* y, int rows, int cols) {
  row_kernel<<<(rows + 255) / 256, 256>>>(x, y, rows, cols);
}
)";
}

inline const char* BlockSource() {
  return R"(#include <cmath>
// one block a row: neighbouring threads read neighbouring words
__global__ void row_kernel(const float* x, float* y, int rows, int cols) {
  __shared__ float part[256];
  int row = blockIdx.x;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 256) m = fmaxf(m, x[row * cols + c]);
  part[threadIdx.x] = m;
  __syncthreads();
  for (int w = 128; w > 0; w /= 2) {
    if (threadIdx.x < w) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + w]);
    __syncthreads();
  }
  m = part[0];
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[row * cols + c] - m);
  for (int c = threadIdx.x; c < cols; c += 256) y[row * cols + c] = expf(x[row * cols + c] - m) / s;
}
extern "C" void rows(const float* x, float* y, int rows, int cols) {
  row_kernel<<<rows, 256>>>(x, y, rows, cols);
}
)";
}

inline const char* VectorSource() {
  return R"(#include <cmath>
// one block a row: neighbouring threads read neighbouring words
__global__ void row_kernel(const float* x, float* y, int rows, int cols) {
  __shared__ float part[256];
  int row = blockIdx.x;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols / 4; c += 256) {
    const float4 v = reinterpret_cast<const float4*>(x + row * cols)[c];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  part[threadIdx.x] = m;
  __syncthreads();
  for (int w = 128; w > 0; w /= 2) {
    if (threadIdx.x < w) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + w]);
    __syncthreads();
  }
  m = part[0];
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += expf(x[row * cols + c] - m);
  for (int c = threadIdx.x; c < cols; c += 256) y[row * cols + c] = expf(x[row * cols + c] - m) / s;
}
extern "C" void rows(const float* x, float* y, int rows, int cols) {
  row_kernel<<<rows, 256>>>(x, y, rows, cols);
}
)";
}

inline Edit MakeEdit(std::string rewrite, std::map<std::string, int64_t> parameters,
                     std::string summary, std::vector<MetricClaim> claim = {}) {
  Edit edit;
  edit.rewrite = std::move(rewrite);
  edit.parameters = std::move(parameters);
  edit.summary = std::move(summary);
  edit.aims_at = Bound::kMemory;
  edit.claim = std::move(claim);
  return edit;
}

// Counters that shrink with the time: `scale` 1 is the naive kernel.
inline Profile MakeProfile(double scale) {
  Profile profile;
  profile.sampled_ratio = 0.125;
  profile.metrics = {{metric::kWarpInstructions, {4.1e6 * scale, "inst"}},
                     {metric::kGlobalLoadSectors, {5.0e7 * scale, "sector"}},
                     {metric::kGlobalLoadSectorsPerRequest, {32 * scale, "sector"}},
                     {metric::kDramReadBytes, {1.6e9 * scale, "byte"}},
                     {metric::kDramWriteBytes, {2.7e8, "byte"}},
                     {metric::kFfmaInstructions, {3.0e8, "inst"}},
                     {metric::kRegisters, {24, "register"}},
                     {"emulator__odd.sum", {7, "thing"}}};
  if (scale == 1) {
    profile.metrics[metric::kL1HitRatio] = {0.21, "ratio"};
  } else {
    profile.metrics[metric::kSharedLoadWavefronts] = {8192, "wavefront"};
  }
  return profile;
}

inline Evaluation Accept(double seconds, double scale) {
  Evaluation evaluation;
  evaluation.outcome = Accepted{};
  for (const auto& [shape, factor] :
       {std::pair("cols=8192 rows=8192", 1.0), {"cols=1000 rows=64", 0.02}}) {
    Timing timing;
    timing.shape = shape;
    timing.median_s = seconds * factor;
    timing.low_s = timing.median_s / 1.4;
    timing.high_s = timing.median_s * 1.4;
    timing.clock = "H200 time model";
    evaluation.timings.push_back(timing);
  }
  evaluation.profile = MakeProfile(scale);
  evaluation.verify = VerifyReport{};
  evaluation.verify->stage_reached = Stage::kL1;
  evaluation.verify->cases_run = 42;
  evaluation.verify->max_budget_ratio = 0.031;
  Diagnosis diagnosis;
  diagnosis.bound = Bound::kMemory;
  diagnosis.cause = "each load touches 32 sectors";
  diagnosis.evidence = {"sectors per load 32 (4 is coalesced)"};
  diagnosis.speed_of_light = {{"dram", std::min(0.93, 0.16 / scale)}, {"issue", 0.07 / scale / 2}};
  evaluation.diagnosis = diagnosis;
  KernelResources kernel;
  kernel.name_expression = "row_kernel";
  kernel.registers = 24;
  evaluation.resources = {kernel};
  using std::chrono::milliseconds;
  evaluation.stage_times = {{Stage::kParse, milliseconds(2)},
                            {Stage::kBuild, milliseconds(35)},
                            {Stage::kL0, milliseconds(20)},
                            {Stage::kL1, milliseconds(310)},
                            {Stage::kMeasure, milliseconds(120)}};
  return evaluation;
}

inline Evaluation Reject(Stage stage, std::string reason) {
  Evaluation evaluation;
  evaluation.outcome = Rejection{stage, std::move(reason)};
  evaluation.stage_times = {{Stage::kParse, std::chrono::milliseconds(2)}};
  return evaluation;
}

// Right, wrong by several decades, of the wrong kind, and unwritten in its last columns.
inline ErrorMap MakeMap() {
  ErrorMap map = MakeErrorMap({33, 1000});
  map.argument = "y";
  for (int64_t i = 0; i < 33 * 1000; ++i) {
    const int64_t row = i / 1000;
    const int64_t column = i % 1000;
    Mark(map, i,
         column >= 900  ? kMapUnwritten
         : row == 20    ? kMapKind
         : column < 600 ? kMapRight
                        : static_cast<char>('1' + row / 4));
  }
  return map;
}

inline Evaluation RejectWithMismatch() {
  Evaluation evaluation = Reject(Stage::kL1, "y differs from the reference");
  VerifyReport verify;
  verify.stage_reached = Stage::kL1;
  verify.first_mismatch = Mismatch{"y", 999, {0, 999}, 0.25, 0, true};
  verify.mismatch_count = 33;
  verify.max_absolute_error = 0.5;
  verify.max_relative_error = 2;
  verify.max_budget_ratio = 1.5e6;
  verify.error_map = MakeMap();
  verify.failing_case = "cols=1000 rows=33, fill normal, seed 2";
  evaluation.verify = verify;
  return evaluation;
}

inline Evaluation RejectWithFinding() {
  Evaluation evaluation = Reject(Stage::kL0, "race on part[3]");
  VerifyReport verify;
  verify.findings = {{"race", "row_kernel", "threads 3 and 131 of block 0 both use part[3]", 9}};
  evaluation.verify = verify;
  return evaluation;
}

inline NodeRecord MakeNode(int64_t id, int64_t parent, Edit edit, Evaluation evaluation,
                           std::string source) {
  NodeRecord node;
  node.id = id;
  node.parent = parent;
  node.variant = VariantId(id);
  node.edit = std::move(edit);
  node.evaluation = std::move(evaluation);
  node.evaluation.variant = node.variant;
  node.source = std::move(source);
  node.reward.total = node.evaluation.accepted() ? 0.8 : -1;
  node.reward.parts = {{"time", 1, 0.9, "predicted time fell to a quarter"},
                       {"guardrail", 1, -0.1, "registers rose <from 24>"}};
  node.told_at = "2026-11-29T19:24:07Z";
  node.wall_time = std::chrono::milliseconds(600);
  return node;
}

inline RunRecord UnfinishedRun() {
  RunRecord run;
  run.id = {"rows-20261129-192407"};
  run.state = RunState::kRunning;
  run.task.name = "rows";
  run.task.intent = "row-wise softmax of a rows x cols matrix & nothing <else>";
  run.task.hash = std::string(64, 'a');
  run.task.folder = "examples/row things";
  run.task.entry = "rows";
  run.task.source_path = "examples/row things/kernel.cu";
  run.task.source = NaiveSource();
  run.task.task_toml = "[task]\n";
  run.task.checked_shapes = {"cols=1 rows=1", "cols=1000 rows=33"};
  run.task.timed_shapes = {"cols=8192 rows=8192", "cols=1000 rows=64"};
  run.task.bytes = 5.4e8;
  run.environment.optiml_version = "0.1.0";
  run.environment.device_name = "H200 (emulated)";
  run.environment.architecture = "sm_90";
  run.environment.toolchain = "NVRTC 13.0";
  run.environment.prediction_error_factor = 1.4;
  run.environment.dram_bytes_per_s = 4.8e12;
  run.environment.fp32_flops_per_s = 6.7e13;
  run.environment.started_at = "2026-11-29T19:24:07Z";
  run.options = {{"search", "mcts"}, {"seed", "1"}, {"candidates", "9"}, {"judge", "false"}};
  run.battery = {{"zeros", "rejected", "y[0]: expected 1, got 0"},
                 {"copy of x", "rejected", "y[0]: expected 1, got 0.3"},
                 {"transposed rows | cols", "equivalent", "one row"}};
  run.lifts = {{"row_kernel", true, "fold max over c\nfold sum over c\nmap over c"}};

  const Edit fold = MakeEdit("row_fold", {{"block", 256}},
                             "give each row to a block, so that neighbouring threads read "
                             "neighbouring words",
                             {{metric::kGlobalLoadSectorsPerRequest, Direction::kDown},
                              {metric::kTheoreticalOccupancy, Direction::kUp}});
  const Edit vector = MakeEdit("vector_width", {{"width", 4}}, "load four words at once",
                               {{metric::kGlobalLoadRequests, Direction::kDown}});
  const Edit unroll = MakeEdit("unroll", {{"factor", 2}}, "unroll the inner loop twice");
  run.nodes.push_back(MakeNode(0, -1, {}, Accept(1.2e-3, 1), NaiveSource()));
  run.nodes.push_back(MakeNode(1, 0, fold, Accept(3.1e-4, 0.25), BlockSource()));
  run.nodes.push_back(MakeNode(2, 0, MakeEdit("block_size", {{"x", 64}}, "smaller blocks"),
                               Reject(Stage::kBuild, "kernel.cu:12: expected a ';' <here>"),
                               NaiveSource()));
  run.nodes.push_back(MakeNode(3, 1, unroll, Accept(3.2e-4, 0.26), BlockSource()));
  run.nodes.push_back(MakeNode(4, 1, MakeEdit("row_fold", {{"block", 512}}, "larger blocks"),
                               RejectWithMismatch(), BlockSource()));
  run.nodes.push_back(MakeNode(5, 3, vector, Accept(1.9e-4, 0.2), VectorSource()));
  run.nodes.push_back(MakeNode(6, 3,
                               MakeEdit("stage_in_shared", {}, "keep the row in shared memory"),
                               RejectWithFinding(), VectorSource()));
  run.nodes.push_back(MakeNode(7, 1, vector, Accept(2.0e-4, 0.2), VectorSource()));
  run.nodes.back().evaluation.from_store = true;
  run.nodes.back().duplicate_of = 5;
  return run;
}

inline RunRecord FinishedRun() {
  RunRecord run = UnfinishedRun();
  run.state = RunState::kFinished;
  RunResult result;
  result.improved = true;
  result.reason = "two edits were kept";
  result.stop_reason = "candidates";
  result.finished_at = "2026-11-29T19:25:07Z";
  ChainStep fold;
  fold.edit = run.nodes[1].edit;
  fold.time_s = run.nodes[1].evaluation.TimeSeconds();
  fold.time_without_s = 9.0e-5;
  fold.source = BlockSource();
  fold.profile = MakeProfile(0.25);
  ChainStep unroll;
  unroll.edit = run.nodes[3].edit;
  unroll.mark = EditMark::kDropped;
  unroll.note = "the chain is as fast without it";
  ChainStep vector;
  vector.edit = run.nodes[5].edit;
  vector.mark = EditMark::kBridge;
  vector.time_s = Accept(1.9e-4, 0.2).TimeSeconds();
  vector.source = VectorSource();
  vector.profile = MakeProfile(0.2);
  result.chain = {fold, unroll, vector};
  result.best_source = VectorSource();
  result.root = run.nodes[0].evaluation;
  result.best = Accept(1.9e-4, 0.2);
  result.delivered = Accept(1.9e-4, 0.2);
  result.delivered_note = "compiled by nvcc release 13.0";
  result.gain = 1.2e-3 / 1.9e-4;
  run.result = result;
  return run;
}

}  // namespace optiml::sample

#endif  // OPTIML_REPORT_SAMPLE_RUN_H_
