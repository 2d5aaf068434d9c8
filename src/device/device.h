#ifndef OPTIML_DEVICE_DEVICE_H_
#define OPTIML_DEVICE_DEVICE_H_

// Device: what executes a LaunchPlan of an Artifact. The emulator is one, a GPU worker another;
// fake_device.h is for tests.
//
// A kernel that faults, hangs or meets an unsupported instruction is a value (RunOutcome); a device
// that is lost or cannot be opened is an Error. Threads: one call at a time, unless Capabilities
// says otherwise.

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/artifact.h"
#include "core/conditions.h"
#include "core/device_use.h"
#include "core/dtype.h"
#include "core/evaluation.h"
#include "core/launch_plan.h"
#include "core/measured_peaks.h"
#include "core/metrics.h"

namespace optiml {

struct Capabilities {
  bool measures_time = false;  // false: Time() predicts
  bool checks_memory = false;  // out of bounds, initialisation, races
  bool counts = false;         // Profile() works
  bool concurrent_calls = false;
};

struct DeviceInfo {
  std::string name;          // "H200 (emulated)", "NVIDIA H200"
  std::string architecture;  // "sm_90"
  int multiprocessors = 0;
  uint64_t shared_bytes_per_block_limit = 0;  // opt-in limit
  // Of one multiprocessor; 0: not known.
  int threads_per_multiprocessor = 0;
  uint64_t registers_per_multiprocessor = 0;
  uint64_t shared_bytes_per_multiprocessor = 0;
  uint64_t l2_bytes = 0;
  double dram_bytes_per_s = 0;  // pin bandwidth
  double fp32_flops_per_s = 0;  // with FMA as two
  // What was measured on this very device; absent: nobody has yet. Checks stay with the pin rate.
  std::optional<MeasuredPeaks> peaks;
  // Stated relative error of Time(), as a factor: predictions of a gain below it prove nothing. 1
  // when measured.
  double prediction_error_factor = 1;
  Capabilities capabilities;
};

// Contents of one plan buffer that belongs to an argument. Guard bands are the device's business:
// it surrounds every buffer with a band of poison and reports writes into it as a Finding ("out of
// bounds").
struct BufferContents {
  std::vector<std::byte> bytes;  // empty: poisoned with `poison`
  bool read_only = false;        // a write is a Finding ("read-only violation")
  uint8_t poison = 0xA5;         // bytes of unwritten memory; see kPoisonBytes in verify/
  uint32_t element_bytes = 1;    // of the argument's dtype: messages count in elements
  // Floats of f16 or wider that are to be compared with double arithmetic; see RunOutcome::shadows.
  std::optional<DType> shadow;
};

// Where the blocks of a launch start. No kernel may depend on it; a device that cannot choose
// leaves it as it is.
enum class BlockOrder { kFirstToLast, kLastToFirst };

// What surrounds a kernel and must not matter to it: where memory lies and what the clocks show. A
// device that cannot choose leaves it as it is.
struct Surroundings {
  // Absent: the device's own, the same in every run. Otherwise those of a machine that has been on
  // for weeks, with addresses in the range of a GPU's; another number gives other ones.
  std::optional<uint64_t> of_machine;
};

// One more execution of the whole plan in the same memory, as a second call of the launcher finds
// it: argument buffers get these contents, memory that the launcher allocates counts as
// uninitialised again, device variables keep what they hold.
struct PlanPass {
  std::vector<BufferContents> buffers;  // as in RunRequest
  BlockOrder order = BlockOrder::kFirstToLast;
};

// What the written buffers of a plan hold, in 128 bits under a key that no candidate knows: equal
// contents have equal digests, others the same one by chance alone.
struct OutputsDigest {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const OutputsDigest&) const = default;
};

enum class CheckLevel {
  kBounds,  // out of bounds and misaligned only
  kFull,    // and initialisation, races in shared and global memory, divergent barriers
};

struct RunRequest {
  const Artifact* artifact = nullptr;
  const LaunchPlan* plan = nullptr;
  std::vector<BufferContents>
      buffers;  // one for each plan buffer with argument >= 0, by buffer index order of the plan
  BlockOrder order = BlockOrder::kFirstToLast;
  Surroundings surroundings;  // Run() only
  // Run(): executed one after the other. Time() of a device that measures: each is poured into the
  // same memory and timed there, so that what is kept from earlier calls shows.
  std::vector<PlanPass> more_passes;
  // Time() of a device that measures: this one (artifact, plan, buffers, as many passes) is timed
  // in turn with the candidate; see TimeOutcome::gain.
  const RunRequest* incumbent = nullptr;
  // Time() of a device that measures: whether outputs of that pass need not be brought, because
  // equal ones have been judged. Empty: all are brought.
  std::function<bool(size_t pass, const OutputsDigest& digest)> knows_outputs;
  CheckLevel checks = CheckLevel::kBounds;
  // Run(): the same bits on every run, also where a GPU adds floats in the order in which its
  // blocks come.
  bool repeatable = false;
  uint64_t step_limit = uint64_t{20'000'000'000};  // thread instructions of all passes (emulator)
  // Of a device whose speed does not depend on what else its host does; 0: none. Steps decide on
  // the emulator, so that a verdict is the same on a busy machine.
  std::chrono::milliseconds time_limit{0};
};

enum class RunStatus { kCompleted, kFault, kUnsupported, kTimedOut, kDeadlock };

// "completed", "fault", "unsupported", "timed out", "deadlock".
std::string_view RunStatusName(RunStatus status);

struct RunOutcome {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;             // when not completed, and for the first finding
  std::vector<Finding> findings;  // empty for an honest kernel
  std::vector<std::vector<std::byte>>
      buffers;                      // contents after the last pass, in the request's order
  std::vector<uint64_t> pass_work;  // thread instructions of each pass; empty: not counted
  // The same of each launch of each pass, in order; a pass that ended early has fewer.
  std::vector<std::vector<uint64_t>> launch_work;
  std::string printed;  // what the kernel printed, cut at a limit
  // What buffers with BufferContents::shadow would hold in double arithmetic, by buffer; empty
  // where nobody asked, and where the device cannot follow all that the kernel computes.
  std::vector<std::vector<double>> shadows;
  // Checks that gave up: "race check incomplete: ...". No findings.
  std::vector<std::string> notes;
};

// How many times as fast as the incumbent: the median of pairs that were measured in turn, and its
// 95 % bootstrap interval.
struct Gain {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

// A time, or why there is none.
struct TimeOutcome {
  RunStatus status = RunStatus::kCompleted;
  std::string reason;
  Timing timing;    // shape is left empty for the caller
  Profile profile;  // what was counted on the way; empty when the device does not count
  // Of a device that measures. Contents of the very buffers that were timed, by pass, in the
  // request's order; empty for inputs, which were compared and are as they were.
  std::vector<std::vector<std::vector<std::byte>>> outputs;
  // Copies of the buffers whose outputs were not bit for bit those of the first, over all passes;
  // and those of one of them, by pass, empty where none differs.
  int differing_copies = 0;
  std::vector<std::vector<std::vector<std::byte>>> other_outputs;
  // Of outputs and other_outputs, by pass, where RunRequest::knows_outputs was asked: those that it
  // knew are empty above.
  std::vector<std::optional<OutputsDigest>> digests;
  std::vector<std::optional<OutputsDigest>> other_digests;
  std::vector<Finding> findings;  // empty for an honest kernel
  std::optional<Gain> gain;       // with RunRequest::incumbent
  // Of a device that measures, where somebody could read them; timing.clock says them, too.
  std::optional<Conditions> conditions;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& Info() const = 0;
  // Executes the plan, all of it, once for each pass.
  virtual Result<RunOutcome> Run(const RunRequest& request) = 0;
  // Time of the plan; measured or predicted as Info() says. Contents matter (data-dependent
  // kernels).
  virtual Result<TimeOutcome> Time(const RunRequest& request) = 0;
  // Counters of the plan, where Capabilities::counts says so and Time() did not bring them; empty
  // when they cannot be had for this one.
  virtual Result<Profile> Counters(const RunRequest& request) {
    OPTIML_ASSIGN(TimeOutcome timed, Time(request));
    return std::move(timed.profile);
  }
  // Where its time went; nothing where nobody counts it.
  virtual DeviceUse Use() const { return {}; }
};

}  // namespace optiml

#endif  // OPTIML_DEVICE_DEVICE_H_
