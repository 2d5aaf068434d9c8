#include "verify/delivered.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

#include "base/file_system.h"
#include "base/process.h"

namespace optiml {
namespace {

constexpr auto kNvccLimit = std::chrono::seconds(120);
constexpr char kDefaultNvcc[] = "/usr/local/cuda/bin/nvcc";
// Where Debian's /usr/bin/c++ points to; the sandbox does not hold /etc otherwise.
constexpr char kAlternatives[] = "/etc/alternatives";

std::string FirstErrorOf(const std::string& log) {
  std::string_view rest = log;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.find("error") != std::string_view::npos) {
      return std::string(line);
    }
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return log.substr(0, 300);
}

struct NvccOutcome {
  std::string note;
  std::optional<std::string> failure;  // it does not compile
};

Result<NvccOutcome> CompileWithNvcc(const std::string& text, const DeliveredOptions& options) {
  if (!options.nvcc) {
    return NvccOutcome{"nvcc not present", std::nullopt};
  }
  if (options.confined) {
    if (const Result<void> sandbox = SandboxAvailable(); !sandbox) {
      return NvccOutcome{"nvcc not tried: " + sandbox.error().message(), std::nullopt};
    }
  }
  // The compiler reads what the source includes: it sees the toolkit and this folder alone.
  OPTIML_ASSIGN(const TemporaryDirectory scratch, TemporaryDirectory::Create("optiml-nvcc-"));
  OPTIML_TRY(WriteFileAtomically(scratch.path() / "best.cu", text));
  std::error_code ignored;
  const std::filesystem::path nvcc = std::filesystem::canonical(*options.nvcc, ignored);
  if (nvcc.empty()) {
    return NvccOutcome{"nvcc not present", std::nullopt};
  }
  ProcessRequest request;
  request.argv = {nvcc.string(), "-std=c++17", "-arch=" + options.architecture, "-c", "-o",
                  "best.o",      "best.cu"};
  request.working_directory = scratch.path();
  request.limits.wall_time = kNvccLimit;
  request.environment = std::map<std::string, std::string>{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                                                           {"LC_ALL", "C"},
                                                           {"TMPDIR", scratch.path().string()}};
  if (options.confined) {
    request.sandbox = Sandbox{{}, {scratch.path()}};
    if (!nvcc.string().starts_with("/usr/")) {
      request.sandbox->read_only.push_back(nvcc.parent_path().parent_path());
    }
    if (std::filesystem::is_directory(kAlternatives, ignored)) {
      request.sandbox->read_only.emplace_back(kAlternatives);
    }
  }
  OPTIML_ASSIGN(const ProcessOutcome outcome, RunProcess(request));
  if (outcome.timed_out) {
    return NvccOutcome{"", fmt::format("nvcc did not end within {} s", kNvccLimit.count())};
  }
  if (!outcome.succeeded()) {
    return NvccOutcome{"", "nvcc does not compile it: " +
                               FirstErrorOf(outcome.standard_error + outcome.standard_output)};
  }
  return NvccOutcome{fmt::format("compiled by nvcc for {}", options.architecture), std::nullopt};
}

// Where the plans of two preparations first differ; absent when they do not.
std::optional<std::string> PlanDifference(const PreparedCandidate& a, const PreparedCandidate& b) {
  const auto differ = [](const std::vector<LaunchPlan>& x, const std::vector<LaunchPlan>& y) {
    if (x.size() != y.size()) {
      return true;
    }
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i].Format() != y[i].Format()) {
        return true;
      }
    }
    return false;
  };
  if (differ(a.case_plans, b.case_plans)) {
    return "its launches at a checked shape are not those that were verified";
  }
  if (differ(a.timed_plans, b.timed_plans)) {
    return "its launches at a timed shape are not those that were timed";
  }
  if (a.artifact.ptx_hash != b.artifact.ptx_hash) {
    return "its PTX is not the one that was verified";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::filesystem::path> FindNvcc() {
  if (Result<std::filesystem::path> found = FindProgram("nvcc"); found) {
    return *std::move(found);
  }
  std::error_code ignored;
  if (std::filesystem::exists(kDefaultNvcc, ignored)) {
    return std::filesystem::path(kDefaultNvcc);
  }
  return std::nullopt;
}

Result<DeliveredReport> CheckDelivered(const std::filesystem::path& file, const KernelTask& task,
                                       const PreparedCandidate& candidate, Verifier& verifier,
                                       const DeliveredOptions& options) {
  DeliveredReport report;
  const auto reject = [&](const std::string& reason) {
    report.evaluation.outcome =
        Rejection{Stage::kDelivered, fmt::format("{}: {}", file.filename().string(), reason)};
    return report;
  };
  OPTIML_ASSIGN(const std::string text, ReadFile(file));
  const KernelSource source(text, task.source.entry(), file.filename().string());
  OPTIML_ASSIGN(auto prepared, verifier.Prepare(source, report.evaluation));
  if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
    return reject(fmt::format("{}: {}", StageName(rejection->stage), rejection->reason));
  }
  auto& delivered = std::get<PreparedCandidate>(prepared);
  OPTIML_ASSIGN(const auto untraced, verifier.Trace(delivered, report.evaluation));
  if (untraced) {
    return reject(fmt::format("{}: {}", StageName(untraced->stage), untraced->reason));
  }
  if (const auto difference = PlanDifference(candidate, delivered)) {
    return reject(*difference);
  }
  OPTIML_TRY(verifier.Verify(delivered, report.evaluation));
  if (report.evaluation.accepted()) {
    OPTIML_TRY(verifier.VerifyTimed(delivered, report.evaluation));
  }
  if (const Rejection* rejection = report.evaluation.rejection()) {
    return reject(fmt::format("{}: {}", StageName(rejection->stage), rejection->reason));
  }
  OPTIML_ASSIGN(const NvccOutcome nvcc, CompileWithNvcc(text, options));
  report.nvcc = nvcc.note;
  if (nvcc.failure) {
    return reject(*nvcc.failure);
  }
  return report;
}

}  // namespace optiml
