#ifndef OPTIML_REPORT_REPORT_MODEL_H_
#define OPTIML_REPORT_REPORT_MODEL_H_

// ReportModel: a run's record with everything that a reader wants to know worked out: what was
// gained, by which edits, why they helped, what was rejected and why, where the time went. The
// three formats (Markdown, JSON, HTML) only lay it out.
//
// It is made from the record alone. What the record does not hold is absent, never zero; a time
// that was not measured is called predicted everywhere.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/metrics.h"
#include "report/line_diff.h"
#include "report/model_report.h"
#include "store/run_record.h"

namespace optiml {

// A ratio of two times with its interval. Measured: from the timings' own intervals. Predicted: the
// model's stated error as a factor, both ways.
struct GainEstimate {
  double value = 1;
  double low = 1;
  double high = 1;
};

// Times of one timed shape before and after.
struct ShapeRow {
  std::string shape;
  Timing before;
  Timing after;
  GainEstimate gain;
};

// One metric before and after; a side that was not obtained is absent.
struct MetricChange {
  MetricId id;
  std::string unit;
  std::optional<double> before;
  std::optional<double> after;
  // after / before; absent when either side is, or before is 0
  std::optional<double> ratio() const;
};

struct ClaimCheck {
  MetricClaim claim;
  enum class Verdict { kCameTrue, kDidNot, kNotObtained } verdict = Verdict::kNotObtained;
  MetricChange change;
};
std::string ClaimVerdictName(ClaimCheck::Verdict verdict);

struct ChainRow {
  const ChainStep* step = nullptr;  // in ReportModel::run
  std::optional<double> time_before_s;
  std::optional<double> gain;          // time before / time after; absent for dropped edits
  std::optional<double> gain_without;  // what the chain loses without it: time without / time with
  std::vector<DiffHunk> diff;          // against the last text that was kept; empty when dropped
  std::vector<MetricChange> changes;   // largest relative change first, at least 1 %
  std::vector<ClaimCheck> claims;
  const ModelEditRow* by_model = nullptr;  // in ReportModel::models; null: the catalogue's
};

// A node of the tree with its place in it.
struct NodeRow {
  const NodeRecord* record = nullptr;
  int depth = 0;
  std::vector<int64_t> children;  // ids, in the order told
  bool on_best_path = false;
  bool is_best = false;
  std::optional<double> time_s;
  std::optional<double> gain;  // root time / its time
};

// A point of the roofline: the first timed shape.
struct RooflinePoint {
  std::string label;                 // "before", "after"
  double operations_per_byte = 0;    // > 0
  double operations_per_second = 0;  // > 0
};
struct Roofline {
  double dram_bytes_per_s = 0;
  double fp32_flops_per_s = 0;
  std::vector<RooflinePoint> points;
  std::string ceilings = {};  // "measured on 2026-11-30"; empty: as the device states them
  std::string basis;          // where operations and bytes come from
};

// How far the kernels are from the least time that the task's work takes, at the first timed shape.
struct FloorRow {
  TargetFloor target;
  std::optional<double> reject_s;      // below it no time is believed
  std::optional<double> times_before;  // time / target floor
  std::optional<double> times_after;
};

struct StageShare {
  std::string name;  // a stage's, or "search, proposals and store"
  double seconds = 0;
  int count = 0;  // candidates that passed through it
};

// A candidate that was not accepted.
struct LedgerRow {
  const NodeRecord* node = nullptr;
  std::string evidence;           // first mismatch or finding; empty when the reason says all
  const ErrorMap* map = nullptr;  // where its output is wrong; in `run`
  bool is_unsupported = false;    // not checked rather than wrong
};

struct ReportModel {
  std::shared_ptr<const RunRecord> run;  // the rows below point into it

  bool finished = false;
  bool measured = false;           // false: every time is predicted
  std::string word;                // "measured" or "predicted"
  std::string headline;            // one sentence
  std::vector<std::string> notes;  // what a reader must know to trust the numbers
  std::optional<double> time_before_s;
  std::optional<double> time_after_s;
  std::optional<GainEstimate> gain;
  const Evaluation* before = nullptr;  // the task's own kernel; in `run`
  const Evaluation* after = nullptr;   // the best kept kernel; null when there is none
  std::string best_source;             // empty when nothing was kept

  std::vector<ShapeRow> shapes;
  std::vector<ChainRow> chain;
  std::vector<NodeRow> nodes;          // by id
  std::vector<MetricChange> counters;  // in the order of the metric table, unknown ones last
  std::optional<Roofline> roofline;
  std::string no_roofline;        // why there is none
  std::optional<FloorRow> floor;  // absent where the task says no cost
  std::vector<LedgerRow> rejected;
  int unsupported_count = 0;  // of the rejected: what could not be checked
  int accepted_count = 0;
  int duplicate_count = 0;  // the same program as an earlier node
  std::vector<StageShare> stage_shares;
  double total_seconds = 0;
  ModelReport models;
  std::string reproduce;  // the command
};

// Never fails: a record of a run that has just begun gives a report that says so.
ReportModel MakeReportModel(RunRecord run);

// The command that makes this run again.
std::string ReproduceCommand(const RunRecord& run);

// "y[3, 17]: expected 0.25, got 0 (never written)" of an evaluation that was rejected for it, the
// first finding with its line, or "".
std::string FirstEvidence(const Evaluation& evaluation);

}  // namespace optiml

#endif  // OPTIML_REPORT_REPORT_MODEL_H_
