#ifndef OPTIML_STORE_RUN_STORE_H_
#define OPTIML_STORE_RUN_STORE_H_

// RunStore: one run's SQLite file (run.sqlite in the run's folder). Every write is one transaction,
// synced before it returns: after kill -9 the file holds every node that was written.
// docs/store_schema.md describes the tables. A file that is no store, of a newer schema, or damaged
// gives an Error that names it; nothing is repaired silently. Threads: one at a time.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/run_record.h"

namespace optiml {

class RunStore {
 public:
  // Creates the file and locks it; fails with kInvalidArgument if it is there already. The file
  // appears only when it is complete.
  static Result<std::unique_ptr<RunStore>> Create(const std::filesystem::path& file,
                                                  const RunRecord& header);
  // Opens an existing file; takes an exclusive lock unless read_only (kUnavailable: another process
  // works on this run).
  static Result<std::unique_ptr<RunStore>> Open(const std::filesystem::path& file, bool read_only);
  virtual ~RunStore() = default;

  virtual Result<RunRecord> Load() = 0;
  virtual Result<void> SaveBattery(const std::vector<BatteryRow>& rows) = 0;
  virtual Result<void> SaveLifts(const std::vector<LiftRow>& rows) = 0;
  virtual Result<void> AppendExpansion(const ExpansionRecord& expansion) = 0;
  virtual Result<void> AppendNode(const NodeRecord& node) = 0;
  virtual Result<void> AppendExchange(const ExchangeRecord& exchange) = 0;
  virtual Result<void> AppendTrial(const TrialRecord& trial) = 0;
  virtual Result<void> SaveResult(const RunResult& result) = 0;
  // Replaces the options that the run began with.
  virtual Result<void> SaveOptions(const std::map<std::string, std::string>& options) = 0;
  virtual Result<void> SetState(RunState state, const std::string& failure) = 0;
};

}  // namespace optiml

#endif  // OPTIML_STORE_RUN_STORE_H_
