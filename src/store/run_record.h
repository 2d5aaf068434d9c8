#ifndef OPTIML_STORE_RUN_RECORD_H_
#define OPTIML_STORE_RUN_RECORD_H_

// RunRecord: one run as it stands in its store: everything that resume, replay, export and the
// report need. The report reads nothing else (not the task's folder, not a device). Times are
// nanoseconds or seconds as named; text is UTF-8.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/conditions.h"
#include "core/device_use.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/ids.h"
#include "core/judgement.h"
#include "core/measured_peaks.h"

namespace optiml {

// The task as it was when the run began; a resume refuses a task whose hash differs.
struct TaskSnapshot {
  std::string name;
  std::string intent;
  std::string hash;    // KernelTask::hash, hexadecimal
  std::string folder;  // where it was; the file itself when it is no task.toml
  std::string entry;
  std::string source_path;
  std::string source;                       // the root's text
  std::string task_toml;                    // empty for a lone .cu
  std::vector<std::string> checked_shapes;  // SizeRow::Text()
  std::vector<std::string> timed_shapes;
  std::map<std::string, std::string> origin;
  std::optional<double> bytes;  // cost model at the first timed shape
  std::optional<double> operations;
  bool is_half = false;  // operands of f16 or bf16: tensor cores may do the operations
  std::optional<double> reject_floor_s = {};  // below it a measured time is not believed
};

struct EnvironmentSnapshot {
  std::string optiml_version;
  std::string device_name;
  std::string architecture;
  std::string toolchain;
  bool measures_time = false;  // false: every time in the run is predicted
  double prediction_error_factor = 1;
  double dram_bytes_per_s = 0;  // pin bandwidth, for the roofline
  double fp32_flops_per_s = 0;
  std::optional<MeasuredPeaks> peaks = {};  // of this device, when they had been measured
  std::string started_at;                   // UTC
};

// One line of the task battery's table (verify/battery.h).
struct BatteryRow {
  std::string mutant;   // "zeros", "1 % scale error" ...
  std::string verdict;  // "rejected", "equivalent", "accepted"
  std::string detail;
};

// One kernel of the root: lifted or not.
struct LiftRow {
  std::string kernel;
  bool lifted = false;
  std::string detail;
};

// A node of the search tree, in the order in which it was told. Node 0 is the root.
struct NodeRecord {
  int64_t id = 0;
  int64_t parent = -1;
  VariantId variant;
  Edit edit;           // empty for the root
  std::string source;  // the variant's text
  Evaluation evaluation;
  Reward reward;
  // The earlier node with the same source or PTX that answered for this one; -1: it was evaluated
  // itself.
  int64_t duplicate_of = -1;
  // Questions that the searcher had asked when this one was told, this one included: more than its
  // id when later ones were under way.
  int64_t asked = 0;
  // Expansions that the record had by then, where later ones were under way; 0 otherwise.
  int64_t expanded = 0;
  std::string told_at;  // UTC; not used by replay
  // What a model said of the edit's claim after the evaluation; absent where none was asked.
  std::optional<Judgement> judgement;
  // From its ask to its tell; from the tell before it where it was under way by then.
  std::chrono::nanoseconds wall_time{0};
};

// The edits that a node was given to choose from when the search first expanded it, in the order in
// which the searcher numbers them. Replay and resume take them from here, so neither needs a
// proposer.
struct ExpansionRecord {
  int64_t node = 0;
  std::vector<Edit> edits;
  std::vector<EditNote> notes = {};  // one for each edit; empty where no model had a part
  // A model's, which the edits were proposed for.
  std::optional<PlacedDiagnosis> diagnosis = {};
};

// One question to a language model and what came of it.
struct ExchangeRecord {
  int64_t node = 0;    // that was expanded or judged
  std::string role;    // "diagnoser", "proposer", "judge"
  std::string prompt;  // "proposer 3f2a9c01": the template and its version
  std::string model;
  std::string request;  // all messages, as FormatMessages writes them
  std::string reply;    // empty when it failed
  std::string failure;  // why there is no reply; empty when there is one
  std::string outcome;  // "used", or why the reply was not
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  bool tokens_estimated = false;
  double dollars = 0;
  std::chrono::nanoseconds wall_time{0};
};

// A model's proposal that was tried before the search could see it (docs/search.md).
struct TrialRecord {
  int64_t node = 0;  // that the edit was proposed for
  Edit edit;
  EditNote note;
  std::string source;  // empty when the edit could not be applied
  Evaluation evaluation;
  bool kept = false;   // the search may choose it
  std::string reason;  // one sentence: why it was kept or not
  std::chrono::nanoseconds wall_time{0};
};

enum class EditMark { kKeep, kBridge, kDropped };
std::string EditMarkName(EditMark mark);

struct ChainStep {
  Edit edit;
  EditMark mark = EditMark::kKeep;
  // Time of the chain up to and including this edit, and of the chain without this edit
  // (leave-one-out); absent where the shortened chain was not legal or not accepted.
  std::optional<double> time_s;
  std::optional<double> time_without_s;
  std::string note;    // why it was dropped or kept
  std::string source;  // the text after this edit
  std::optional<Profile> profile;
};

struct RunResult {
  bool improved = false;
  std::string reason;            // one sentence: what was found, or why nothing could be kept
  std::vector<ChainStep> chain;  // from the root to the best, dropped edits included
  std::string best_source;
  std::optional<Evaluation> root;  // the task's own kernel
  std::optional<Evaluation> best;
  std::optional<Evaluation> delivered;  // the check of the file as delivered
  std::string delivered_note;           // "compiled by nvcc release 13.0", "nvcc not present" ...
  double gain = 1;                      // root time / best time
  std::optional<Conditions> gain_conditions = {};  // under which the gain was measured
  // Of devices that count it: where their time went in this process's part of the search, and how
  // long that took altogether.
  std::vector<DeviceUse> devices;
  double search_s = 0;
  int64_t search_candidates = 0;  // that were judged in it
  std::string stop_reason;        // "candidates", "wall time", "exhausted", "interrupted"
  std::string finished_at;
};

enum class RunState { kRunning, kInterrupted, kFinished, kFailed };
std::string RunStateName(RunState state);

struct RunRecord {
  RunId id;
  RunState state = RunState::kRunning;
  TaskSnapshot task;
  EnvironmentSnapshot environment;
  std::map<std::string, std::string> options;  // every flag and constant, by its long name
  std::vector<BatteryRow> battery;
  std::vector<LiftRow> lifts;
  std::vector<ExpansionRecord> expansions;  // in the order in which they were asked for
  std::vector<NodeRecord> nodes;
  std::vector<ExchangeRecord> exchanges;  // in the order asked
  std::vector<TrialRecord> trials;        // in the order tried
  std::optional<RunResult> result;
  std::string failure;  // kFailed: the message
};

}  // namespace optiml

#endif  // OPTIML_STORE_RUN_RECORD_H_
