#ifndef OPTIML_VERIFY_DELIVERED_H_
#define OPTIML_VERIFY_DELIVERED_H_

// The last check: the file that is handed over is the kernel that was verified. best.cu is read
// back from the disk, prepared and verified again by the same path as any candidate, its plans must
// be the candidate's, and nvcc must compile it where there is an nvcc.

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/kernel_task.h"
#include "verify/verifier.h"

namespace optiml {

struct DeliveredOptions {
  std::optional<std::filesystem::path> nvcc;  // absent: nvcc is not tried
  bool confined = true;                       // false only after the user's explicit --unconfined
  std::string architecture = "sm_90";
};

struct DeliveredReport {
  // Rejected at kDelivered, with the stage that failed in the reason, or accepted.
  Evaluation evaluation;
  // "compiled by nvcc release 13.0", "nvcc not present", "nvcc not tried: no sandbox ..."
  std::string nvcc;
};

// `candidate` is what the search accepted. Fails when the file cannot be read or a tool breaks.
Result<DeliveredReport> CheckDelivered(const std::filesystem::path& file, const KernelTask& task,
                                       const PreparedCandidate& candidate, Verifier& verifier,
                                       const DeliveredOptions& options);

// nvcc on PATH, or of the default installation; absent when there is none.
std::optional<std::filesystem::path> FindNvcc();

}  // namespace optiml

#endif  // OPTIML_VERIFY_DELIVERED_H_
