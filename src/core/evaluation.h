#ifndef OPTIML_CORE_EVALUATION_H_
#define OPTIML_CORE_EVALUATION_H_

// Evaluation: everything that was found out about one candidate, stage by stage. A candidate that
// fails is a value here: a Rejection with the stage and the reason. Nothing in this file knows CUDA
// or a compiler.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/artifact.h"
#include "core/edit.h"
#include "core/error_map.h"
#include "core/metrics.h"

namespace optiml {

// Stages in the order in which a candidate passes them.
enum class Stage {
  kApply,
  kParse,
  kPlan,
  kBuild,
  kL0,
  kL1,
  kL2,
  kFloor,
  kMeasure,
  kProfile,
  kDelivered
};
std::string StageName(Stage stage);  // "build", "L0" ...
std::optional<Stage> ParseStage(const std::string& name);

// One thing a check found while the kernel ran (emulator or sanitizer).
struct Finding {
  std::string kind;  // "out of bounds", "race", "uninitialised", "divergent barrier", "misaligned",
                     // "trap", "deadlock"
  std::string kernel;
  std::string
      detail;    // one sentence: thread, block, address, buffer and element, both parties of a race
  int line = 0;  // in the candidate's source; 0 when unknown
};

struct Mismatch {
  std::string argument;
  int64_t index = 0;  // flat
  std::vector<int64_t> coordinates;
  double expected = 0;
  double got = 0;
  bool unwritten = false;  // the element still holds poison
};

// What the comparison with the reference saw.
struct VerifyReport {
  Stage stage_reached = Stage::kL0;
  int cases_run = 0;  // shape x fill x seed
  double max_absolute_error = 0;
  double max_relative_error = 0;
  double max_budget_ratio = 0;  // worst error over its allowance; at most 1 when all passed
  std::optional<Mismatch> first_mismatch;
  int64_t mismatch_count = 0;
  std::optional<ErrorMap> error_map;  // of the output with the first mismatch
  std::vector<Finding> findings;
  std::string failing_case;  // "rows=33 cols=1000, fill normal, seed 2"; empty when all passed
};

enum class TimingKind { kMeasured, kPredicted };

// Time of one whole plan at one shape.
struct Timing {
  TimingKind kind = TimingKind::kPredicted;
  std::string shape;  // SizeRow::Text()
  double median_s = 0;
  double low_s =
      0;  // interval: bootstrap 95 % when measured, the model's stated error when predicted
  double high_s = 0;
  std::vector<double> samples_s;  // measured only
  int discarded = 0;
  std::string clock;  // "rotation, CUDA events" or "H200 time model"
};

// Fractions of the machine's limits, and what they mean.
struct Diagnosis {
  Bound bound = Bound::kUnknown;
  std::vector<std::string> evidence;  // sentences with metric names and values
  std::map<std::string, double>
      speed_of_light;  // "dram", "l2", "shared", "fp32", "issue" -> 0 .. 1
  std::string cause;   // one sentence
  double confidence_ratio = 0;
};

struct Rejection {
  Stage stage = Stage::kBuild;
  std::string reason;  // one sentence, without the stage
  // The front end or the device does not follow what the candidate does; whether it is right was
  // not found out.
  bool is_unsupported = false;
};

struct Accepted {};

struct StageTime {
  Stage stage = Stage::kApply;
  std::chrono::nanoseconds time{0};
};

struct Evaluation {
  VariantId variant;
  ContentHash source_hash;
  std::variant<Accepted, Rejection> outcome;
  std::optional<ContentHash> ptx_hash;
  // Of the plans at every shape that is checked or timed. With the PTX's hash it says what is
  // executed: two sources that differ in their launch shapes alone have the same PTX.
  std::optional<ContentHash> plan_hash;
  // Who made the plans: "interpreted", "recorded", "interpreted and recorded" (by the sizes), "from
  // task.toml"; empty before there is one.
  std::string launcher;
  std::vector<KernelResources> resources;
  std::optional<VerifyReport> verify;
  std::vector<Timing> timings;     // one for each timed shape
  std::optional<Profile> profile;  // at the first timed shape
  std::optional<Diagnosis> diagnosis;
  std::vector<StageTime> stage_times;
  bool from_store = false;  // answered by an earlier, identical candidate

  bool accepted() const { return std::holds_alternative<Accepted>(outcome); }
  const Rejection* rejection() const { return std::get_if<Rejection>(&outcome); }
  // Geometric mean over the timed shapes. REQUIRES: !timings.empty()
  double TimeSeconds() const;
};

// One summand of the reward, with its reason.
struct RewardPart {
  std::string name;  // "time", "proxy", "guardrail", "judge"
  double weight = 0;
  double value = 0;
  std::string reason;
};

struct Reward {
  double total = 0;
  std::vector<RewardPart> parts;
};

}  // namespace optiml

#endif  // OPTIML_CORE_EVALUATION_H_
