#ifndef OPTIML_OPTIMIZE_SESSION_H_
#define OPTIML_OPTIMIZE_SESSION_H_

// Session: the only loop of a run. Ask the searcher, propose (expansion.h) or apply an edit,
// prepare, verify, time, profile, score, store, tell; until a budget ends; then the chain of the
// best node is re-measured edit by edit and the result is checked as delivered. Everything that
// happened is in the store before the next question is asked.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/kernel_task.h"
#include "device/device.h"
#include "optimize/model_desk.h"
#include "search/searcher.h"
#include "store/run_record.h"
#include "store/run_store.h"
#include "task/reference.h"
#include "verify/verifier.h"

namespace optiml {

// Of a budget of time: what a clock of nanoseconds holds many times over.
inline constexpr int64_t kMostSeconds = 1'000'000'000;

struct Budget {
  // Candidates that were evaluated: neither the root nor those that an earlier one answers for. The
  // nodes of the tree are at most four times as many.
  int candidates = 40;
  std::optional<std::chrono::seconds> wall_time;  // of this process's part of the run
};

// Of SessionOptions::in_flight.
inline constexpr int kMostInFlight = 64;

struct SessionOptions {
  SearchOptions search;
  Budget budget;
  // Candidates that were asked for and not told: all but the one that is measured are being built.
  // More of them keep a GPU busy, and cost the search what it could have learned meanwhile.
  int in_flight = 1;
  VerifierOptions verifier;
  bool proxies = true;
  bool judge = true;
  // Trials of a model's proposals that may fail, as a share of the candidates, on top of them
  // (docs/search.md).
  double model_share = 0.5;
};

// The options as RunRecord::options holds them, by the long name of the command line's flag
// ("search"
// -> "mcts", "seed" -> "1", "candidates" -> "40", "exploration" -> "0.7", "judge" -> "true" ...),
// and back: whatever continues or replays a run reads them from its record. Defined in
// optimize/session_options.cpp. Parsing leaves absent keys at their defaults, ignores keys that are
// not the session's (the command line records its own beside them) and fails on a value that is
// none (kInvalidArgument).
std::map<std::string, std::string> FormatSessionOptions(const SessionOptions& options);
Result<SessionOptions> ParseSessionOptions(const std::map<std::string, std::string>& values);

// What an observer sees after every step; the progress line and the store are observers.
struct Progress {
  enum class Phase { kBattery, kRoot, kSearch, kChain, kDelivered, kDone };
  Phase phase = Phase::kSearch;
  int candidates_done = 0;
  int candidates_budget = 0;
  int accepted = 0;
  double root_time_s = 0;  // 0: not known yet
  double best_time_s = 0;
  bool measured = false;  // false: the times are predicted
  std::string last;       // "vector_width(width=4): rejected at L1: ..." or ""
  std::chrono::nanoseconds elapsed{0};
  std::optional<std::chrono::nanoseconds> eta;
  std::vector<RoleUse> models;  // what language models have cost; empty without them
};

struct SessionParts {
  const KernelTask* task = nullptr;
  Builder* builder = nullptr;
  Device* device = nullptr;
  // Further devices, equal to the first: candidates are judged on all of them at a time. What is
  // measured in turn, and the last checks, are the first one's.
  std::vector<Device*> more_devices;
  HostReference* reference = nullptr;  // may be null
  const Clock* clock = nullptr;
  RunStore* store = nullptr;
  std::function<void(const Progress&)> observer;
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C
  ModelRoles models;
  ModelBudget model_budget;
  // Other kernels for the task, to start from as well as from its own: edits of the root that the
  // search may choose like any other.
  std::vector<KernelSource> siblings;
};

// Runs to the end or to a stop; continues where `record` (loaded from the store) ended. Returns the
// finished record. Errors leave a resumable store.
Result<RunRecord> RunSession(const SessionParts& parts, const SessionOptions& options,
                             const RunRecord& record);

// Rebuilds the tree from a record with the searcher alone, no compiler and no device, and checks
// that the searcher asks exactly what it asked then. Returns the best node's id; an Error names the
// first step that differs.
Result<int64_t> ReplaySearch(const RunRecord& record);

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_SESSION_H_
