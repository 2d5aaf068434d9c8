#ifndef OPTIML_FRONTEND_RECORDER_H_
#define OPTIML_FRONTEND_RECORDER_H_

// Recorder: a launcher compiled for this machine against a CUDA runtime that has no device, and run
// in a confined process. It sees no data: its device pointers are addresses that nothing lies
// behind. What it asks of the runtime comes back as a trace (recorder/protocol.h), which
// recorded_plan.h turns into a plan.
//
// What runs is foreign: it has no files, no network, no environment, no clock and no other process,
// its time and memory are limited, and whatever it says is read with care.

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "frontend/frontend.h"
#include "frontend/host_memory.h"
#include "frontend/live_plan.h"

namespace optiml::frontend {

// What the numbers in a trace mean.
struct RecordedNames {
  std::vector<int> kernels;  // functions of the unit
  std::vector<int> symbols;  // variables of the unit
};

struct RecordedCall {
  const std::vector<LauncherArgument>* arguments = nullptr;
  bool compares_memory = false;  // says whether the call changed memory that outlives it
};

class Recorder {
 public:
  // Compiles when the program is not in the cache. A launcher that the host compiler does not
  // accept, or that uses what a launcher must not, is a refusal; so is a machine that cannot record
  // (no compiler, no CUDA headers, no sandbox). The unit must outlive the recorder.
  static Result<std::variant<Recorder, Refusal>> Make(const ast::SourceUnit& unit,
                                                      const ast::Function& launcher,
                                                      size_t arguments,
                                                      const RecorderOptions& options);

  // The trace of these calls, one after the other in one new process.
  Result<std::variant<std::string, Refusal>> Run(const std::vector<RecordedCall>& calls,
                                                 Surroundings surroundings) const;

  // A live run of them: `device` executes what they ask for. Error of the device, too.
  Result<std::variant<std::vector<LivePlan>, Refusal>> RunLive(
      const std::vector<RecordedCall>& calls, Surroundings surroundings, const PlanLimits& limits,
      LiveDevice& device) const;

  const RecordedNames& names() const { return names_; }

 private:
  class Maker;
  ProcessRequest RequestFor(const std::vector<RecordedCall>& calls, Surroundings surroundings,
                            bool live) const;
  // Why the process did not end as it should, if it did not.
  std::optional<Refusal> FaultOf(const ProcessOutcome& outcome) const;
  Recorder(const ast::SourceUnit& unit, const ast::Function& launcher, RecorderOptions options)
      : unit_(&unit), launcher_(&launcher), options_(std::move(options)) {}

  const ast::SourceUnit* unit_;
  const ast::Function* launcher_;
  RecorderOptions options_;
  RecordedNames names_;
  std::filesystem::path program_;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_RECORDER_H_
