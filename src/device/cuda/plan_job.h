#ifndef OPTIML_DEVICE_CUDA_PLAN_JOB_H_
#define OPTIML_DEVICE_CUDA_PLAN_JOB_H_

// PlanJob: one candidate on the GPU: its module, and its plan on any number of copies of its
// buffers. Each buffer lies between guard bands of a known pattern.
//
// What the candidate does wrong is text (Trouble); what the worker cannot do is an Error.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/cuda/gpu.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

// Where the buffers of one copy lie, from its begin.
struct CopyLayout {
  std::vector<uint64_t> offsets;  // by buffer of the plan; 0 for variables of the module
  uint64_t bytes = 0;             // guard bands included
  // Guard bands: from, to.
  std::vector<std::pair<uint64_t, uint64_t>> guards;
  bool operator==(const CopyLayout&) const = default;
};
CopyLayout LayOut(const LaunchPlan& plan);

struct Trouble {
  RunStatus status = RunStatus::kFault;
  std::string reason;
};

class PlanJob {
 public:
  // Fails with kInternal when the cubin does not load: it was built for this GPU.
  static Result<std::unique_ptr<PlanJob>> Make(Gpu& gpu, const Job& job);
  ~PlanJob();
  PlanJob(const PlanJob&) = delete;
  PlanJob& operator=(const PlanJob&) = delete;

  const CopyLayout& layout() const { return layout_; }
  const LaunchPlan& plan() const { return job_.plan; }
  // Of one execution.
  size_t steps() const { return job_.plan.steps.size(); }
  // Bytes of the host are copied to the GPU in the course of it: the driver may wait for that.
  bool has_uploads() const;
  // Whether the launcher allocates memory of its own.
  bool has_scratch() const;

  // Lays the copies down: `pool` holds the pristine contents first, then the copies. Tensor maps
  // and arguments are made here. `copies` at least 1.
  std::optional<Trouble> Place(DevicePtr pool, int copies);
  uint64_t BytesFor(int copies) const {
    return layout_.bytes * (static_cast<uint64_t>(copies) + 1);
  }

  // Enqueues what one pass finds: contents or poison in every argument buffer of every copy, guard
  // bands when `is_first`. Memory that the launcher allocates is poisoned when `is_first`.
  int EnqueueContents(const Pass& pass, const std::byte* arena, bool is_first);
  // Enqueues the plan once, on one copy.
  std::optional<Trouble> EnqueueRun(int copy);
  // Enqueues what one copy's written buffers hold before an execution: contents or poison.
  int EnqueueRestore(const Pass& pass, int copy);

  // Enqueues: the argument buffers of a copy -> the arena, where `wanted` says (-1: not wanted).
  int EnqueueOutputs(const std::vector<int64_t>& wanted, int copy, std::byte* arena);
  // Enqueue comparisons that count (Gpu::TakeCount): bytes of guard bands that changed; bytes of
  // inputs that changed; written buffers of a copy against those of the first.
  int EnqueueGuardCheck(int copy);
  int EnqueueInputCheck(const Pass& pass, int copy);
  int EnqueueCopyCheck(const Pass& pass, int copy);
  // Enqueues the digest of the buffers of a copy that are wanted afterwards (Gpu::TakeDigest).
  int EnqueueDigest(const Pass& pass, int copy, const DigestKey& key);

 private:
  PlanJob(Gpu& gpu, const Job& job) : gpu_(gpu), job_(job), layout_(LayOut(job.plan)) {}

  // A launch on one copy, ready to go.
  struct ReadyLaunch {
    Handle function = nullptr;
    LaunchConfig config;
    std::vector<LaunchAttribute> attributes;
    std::vector<std::vector<std::byte>> values;
    std::vector<TensorMap> maps;
    std::vector<void*> pointers;
  };

  Result<void> Load();
  // Of a variable that the module does not have: nobody can see what is written there.
  bool IsLost(const DevicePointer& at) const;
  DevicePtr Base(int copy) const;  // -1: the pristine contents
  DevicePtr Address(const DevicePointer& pointer, int copy) const;
  std::optional<Trouble> Prepare(const KernelLaunch& launch, int copy, ReadyLaunch& ready) const;
  std::optional<Trouble> PrepareArguments(const KernelLaunch& launch, int copy,
                                          ReadyLaunch& ready) const;
  std::optional<Trouble> CheckStep(const DevicePointer& at, uint64_t bytes, const char* what,
                                   int line) const;
  // The driver's answer to a step of the candidate.
  std::optional<Trouble> Refused(int code, const std::string& what, int line) const;
  std::optional<Trouble> SetAttribute(const AttributeStep& step) const;
  std::optional<Trouble> EnqueueCopy(const CopyStep& step, int copy) const;
  std::optional<Trouble> EnqueueStep(const LaunchStep& step, int copy, size_t& next_launch);
  // Calls with (buffer of the plan, index among the arguments), argument buffers of some size only.
  template <typename Function>
  void EachArgument(Function function) const;

  Gpu& gpu_;
  const Job& job_;
  CopyLayout layout_;
  Handle module_ = nullptr;
  std::vector<Handle> functions_;     // by Job::kernels
  std::vector<DevicePtr> variables_;  // by buffer of the plan; 0: memory of its own, or none
  std::string hidden_variable_;       // that the driver does not give the address of
  DevicePtr pool_ = 0;
  int copies_ = 0;
  std::vector<std::vector<ReadyLaunch>> ready_;  // by copy, then launch
};

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_PLAN_JOB_H_
