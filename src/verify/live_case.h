#ifndef OPTIML_VERIFY_LIVE_CASE_H_
#define OPTIML_VERIFY_LIVE_CASE_H_

// One case of a launcher in host mode: its plan, from a live run on the case's own contents, and
// what must hold of such runs beyond right outputs:
//
// - the same contents give the same launches: when it is called again, after a call with other
//   contents, where memory that nobody wrote holds other bytes, and where addresses, free memory
//   and versions are others
// - what it uploads, the bytes that it sets memory to, and the values of a launch that has more
// than
//   64 bytes of them, are the same for all contents: the host decides, it does not compute
// - its launches do not carry the answer: those chosen for some contents, executed on others, must
//   not give again what they gave for the first

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "device/device.h"
#include "verify/case_library.h"
#include "verify/live_launcher.h"

namespace optiml {

struct LiveSubject {
  const KernelTask& task;
  const Artifact& artifact;
  LiveLauncher& live;
  Device& device;
  uint64_t step_limit = 0;  // of each live run
  // Of TraceOnce(): false where only a device that measures is quick enough.
  bool repeatable = true;
};

// Outputs of a live run, to be compared with the case's expected values.
struct LiveOutputs {
  std::vector<Tensor> buffers;
  uint8_t poison = 0;
  std::string_view what;  // "on a later call, "; empty for the first call
};

struct LiveCase {
  LaunchPlan plan;
  std::vector<LiveOutputs> outputs;  // the first are those of the plan's own run
};

// A Rejection: as LiveLauncher::Run.
Result<std::variant<LiveCase, Rejection>> TraceOnce(const LiveSubject& subject,
                                                    const TaskInputs& inputs, uint8_t poison);

// Several runs, and all that the head of this file says. `machine`: of the other surroundings.
Result<std::variant<LiveCase, Rejection>> TraceInFull(const LiveSubject& subject,
                                                      const VerifyCase& c, uint64_t machine);

// The first upload, memset or launch that has other bytes for these contents than for those, as a
// sentence that begins with the file's line; empty: none. Only what both get to is compared.
std::string UploadThatDiffers(const LaunchPlan& one, const LaunchPlan& other,
                              const std::string& path);

// The output whose elements stay what the plan's own contents gave them when the plan runs on other
// contents, in both directions; empty: none. Elements in which the two contents agree say nothing.
struct CarriedAnswer {
  const std::vector<Tensor>& of_one;
  const std::vector<Tensor>& of_other;
  const std::vector<Tensor>& plan_of_one_on_other;
  const std::vector<Tensor>& plan_of_other_on_one;
};
std::string OutputThatIsCarried(const KernelTask& task, const CarriedAnswer& answer);

// Whether all outputs are bit for bit the same.
bool SameOutputs(const KernelTask& task, const std::vector<Tensor>& a,
                 const std::vector<Tensor>& b);

}  // namespace optiml

#endif  // OPTIML_VERIFY_LIVE_CASE_H_
