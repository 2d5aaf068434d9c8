// RunSession: the session with its real engines.
#include <mutex>
#include <optional>
#include <utility>

#include "base/file_system.h"
#include "frontend/frontend.h"
#include "optimize/engines.h"
#include "optimize/interruptible_device.h"
#include "optimize/session.h"
#include "profile/diagnosis.h"

namespace optiml {
namespace {

Result<std::shared_ptr<const ast::SourceUnit>> ParseRoot(const KernelSource& source,
                                                         Builder& builder) {
  OPTIML_ASSIGN(const ToolchainInfo toolchain, builder.Toolchain());
  OPTIML_ASSIGN(ParseOutcome parsed, ParseSource(source, {toolchain.include_directory.string()}));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Error(ErrorCode::kInvalidArgument, refusal->reason);
  }
  return std::make_shared<const ast::SourceUnit>(std::get<ast::SourceUnit>(std::move(parsed)));
}

// The rewrites over a text that was accepted.
Result<std::unique_ptr<rewrite::Catalogue>> CatalogueFor(
    const SessionParts& parts, const rewrite::TargetLimits& limits,
    const PreparedCandidate& candidate, const std::vector<std::string>& excluded_kernels) {
  OPTIML_ASSIGN(const std::shared_ptr<const ast::SourceUnit> unit,
                ParseRoot(candidate.source, *parts.builder));
  KernelTask task = *parts.task;
  task.source = candidate.source;
  return rewrite::MakeCatalogue(task, *unit, candidate.timed_plans, limits, excluded_kernels,
                                candidate.case_plans);
}

Result<DeliveredReport> DeliverFromFile(const std::string& source,
                                        const PreparedCandidate& candidate, const KernelTask& task,
                                        Verifier& verifier, const DeviceInfo& info) {
  OPTIML_ASSIGN(const TemporaryDirectory folder, TemporaryDirectory::Create("optiml-delivered-"));
  const fs::path file = folder.path() / "best.cu";
  OPTIML_TRY(WriteFileAtomically(file, source));
  DeliveredOptions options;
  options.nvcc = FindNvcc();
  options.architecture = info.architecture;
  return CheckDelivered(file, task, candidate, verifier, options);
}

}  // namespace

rewrite::TargetLimits LimitsOf(const DeviceInfo& info) {
  rewrite::TargetLimits limits;
  const auto take = [](const auto& known, auto& into) {
    if (known > 0) {
      into = known;
    }
  };
  take(info.multiprocessors, limits.multiprocessors);
  take(info.threads_per_multiprocessor, limits.threads_per_multiprocessor);
  take(info.registers_per_multiprocessor, limits.registers_per_multiprocessor);
  take(info.shared_bytes_per_multiprocessor, limits.shared_bytes_per_multiprocessor);
  return limits;
}

namespace {

// One reference for the verifiers of all devices: it runs one call at a time.
class SharedReference : public HostReference {
 public:
  explicit SharedReference(HostReference& reference) : reference_(reference) {}
  Result<std::vector<Tensor>> Run(const TaskInputs& inputs) override {
    const std::lock_guard lock(mutex_);
    return reference_.Run(inputs);
  }
  bool has_range() const override { return reference_.has_range(); }
  Result<std::vector<Tensor>> RunRange(const TaskInputs& inputs, int64_t begin,
                                       int64_t end) override {
    const std::lock_guard lock(mutex_);
    return reference_.RunRange(inputs, begin, end);
  }

 private:
  HostReference& reference_;
  std::mutex mutex_;
};

}  // namespace

Result<RunRecord> RunSession(const SessionParts& parts, const SessionOptions& options,
                             const RunRecord& record) {
  std::optional<SharedReference> shared;
  if (parts.reference != nullptr) {
    shared.emplace(*parts.reference);
  }
  HostReference* reference = shared ? &*shared : nullptr;
  InterruptibleDevice device(*parts.device, parts.stop);
  Engines engines;
  OPTIML_ASSIGN(engines.verifier,
                MakeVerifier(*parts.task, *parts.builder, device, reference, options.verifier));
  for (Device* further : parts.more_devices) {
    Engines::More& more = engines.more.emplace_back();
    more.device = std::make_unique<InterruptibleDevice>(*further, parts.stop);
    OPTIML_ASSIGN(more.verifier, MakeVerifier(*parts.task, *parts.builder, *more.device, reference,
                                              options.verifier));
  }
  engines.make_catalogue = [&parts, limits = LimitsOf(device.Info())](
                               const PreparedCandidate& root,
                               const std::vector<std::string>& excluded_kernels) {
    return CatalogueFor(parts, limits, root, excluded_kernels);
  };
  engines.diagnose = Diagnose;
  engines.deliver = [&](const std::string& source, const PreparedCandidate& candidate) {
    return DeliverFromFile(source, candidate, *parts.task, *engines.verifier, device.Info());
  };
  return RunSessionWith(parts, engines, device, options, record);
}

}  // namespace optiml
