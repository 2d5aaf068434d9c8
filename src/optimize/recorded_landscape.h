#ifndef OPTIML_OPTIMIZE_RECORDED_LANDSCAPE_H_
#define OPTIML_OPTIMIZE_RECORDED_LANDSCAPE_H_

// RecordedLandscape: what runs on one device found out about one task, by chain of edits, in a form
// that is small enough to keep: which edits there were at a chain, what it took, why it was
// rejected. A search can be repeated on it in milliseconds, with any strategy and seed, on a
// machine without the device and without a compiler.
//
// As text it is JSON lines: the header, then one chain a line, parents before children. A chain is
// known by the labels of its edits. What no run tried is unknown: a search is told that it was
// rejected, and how often that happened is part of the answer.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/searcher.h"
#include "store/run_record.h"

namespace optiml {

struct RecordedEdit {
  std::string label;  // Edit::Label()
  double prior = 1;
};

struct RecordedPoint {
  int64_t parent = -1;           // an earlier point; -1: the root
  std::string label;             // of the edit that leads here from the parent; empty for the root
  std::string rejected_at;       // a stage's name; empty: accepted
  std::vector<double> median_s;  // by timed shape, of accepted ones
  std::vector<double> low_s, high_s;      // 95 % interval, likewise
  int64_t duplicate_of = -1;              // an earlier point that executes the same
  int registers = 0;                      // of a thread, the most of its kernels; 0: not known
  std::map<std::string, double> metrics;  // at the first timed shape; may be empty
  // What may follow, in the proposer's order; absent: no run asked.
  std::optional<std::vector<RecordedEdit>> edits;
};

struct RecordedLandscape {
  std::string task;
  std::string task_hash;
  std::string device;
  std::string toolchain;
  bool measured = false;            // false: the times are predicted
  std::vector<std::string> shapes;  // timed
  std::string recorded_at;          // UTC, of the first run
  std::vector<RecordedPoint> points;

  // Of the fastest accepted point: geometric mean over the shapes. REQUIRES: an accepted root
  double BestSeconds() const;
};

// Fails (kInvalidArgument) on a run without an accepted root.
Result<RecordedLandscape> LandscapeOf(const RunRecord& record);

// Adds what `more` knows beyond `landscape`. Fails (kInvalidArgument) when they are of different
// tasks or devices.
Result<void> AddTo(RecordedLandscape& landscape, const RecordedLandscape& more);

std::string FormatLandscape(const RecordedLandscape& landscape);
// Fails (kParse) with `file` and line.
Result<RecordedLandscape> ParseLandscape(std::string_view text, const std::string& file);

struct LandscapeSearch {
  double best_s = 0;  // as BestSeconds, of what the search saw
  int candidates = 0;
  int unknown = 0;  // of these: chains that no run tried
};
// The search from the root until `candidates` were told or nothing is left. Rewards are ln(root
// time / time), as the scorer has them without proxies and judge. Fails on options that are none.
Result<LandscapeSearch> SearchOn(const RecordedLandscape& landscape, const SearchOptions& options,
                                 int candidates);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_RECORDED_LANDSCAPE_H_
