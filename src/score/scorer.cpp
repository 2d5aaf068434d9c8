#include "score/scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/check.h"
#include "score/judge.h"
#include "score/proxies.h"
#include "score/seconds_text.h"

namespace optiml {
namespace {

// Work regression in instructions, in DRAM bytes, and new spills.
constexpr int kGuardrails = 3;

uint64_t SpillBytes(const Evaluation& evaluation) {
  uint64_t bytes = 0;
  for (const KernelResources& kernel : evaluation.resources) {
    bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
  }
  return bytes;
}

// NaN when it is not known, which compares as no regression.
const char* TimeWord(const Evaluation& evaluation) {
  return evaluation.timings.front().kind == TimingKind::kPredicted ? "predicted" : "measured";
}

}  // namespace

Scorer::Scorer(const ScoreOptions& options, const Evaluation& root)
    : options_(options), root_(root) {
  OPTIML_CHECK(root.accepted() && !root.timings.empty(), "the root was accepted and timed");
}

Reward Scorer::ScoreRoot() const {
  Reward reward;
  reward.parts.push_back({"time", options_.time_weight, 0, "the root itself"});
  return reward;
}

double Scorer::FailureTotal() const {
  const double lowest = options_.time_weight * options_.time_clip + options_.proxy_weight +
                        options_.judge_weight + kGuardrails * options_.guardrail_penalty;
  return -lowest - 1;
}

Reward Scorer::Score(const Evaluation& candidate, const Edit& edit, const Evaluation& parent,
                     const std::optional<Judgement>& by_model) const {
  Reward reward;
  if (const Rejection* rejection = candidate.rejection()) {
    reward.total = FailureTotal();
    reward.parts.push_back(
        {"guardrail", 1, reward.total, fmt::format("rejected at {}", StageName(rejection->stage))});
    return reward;
  }
  OPTIML_CHECK(!candidate.timings.empty(), "an accepted candidate was timed");
  reward.parts.push_back(TimePart(candidate));
  if (options_.proxies && root_.profile && candidate.profile) {
    const Bound bound = root_.diagnosis ? root_.diagnosis->bound : Bound::kUnknown;
    if (const auto score = ScoreProxies(bound, *root_.profile, *candidate.profile)) {
      reward.parts.push_back({"proxy", options_.proxy_weight, score->value, score->reason});
    }
  }
  if (options_.judge) {
    auto judgement = JudgeEdit(edit, parent.profile, candidate.profile);
    if (by_model && (!judgement || judgement->verdict == Verdict::kUnclear)) {
      judgement = by_model;
    }
    if (judgement) {
      reward.parts.push_back({"judge", options_.judge_weight, judgement->value, judgement->reason});
    }
  }
  if (RewardPart guardrail = GuardrailPart(candidate); guardrail.value != 0) {
    reward.parts.push_back(std::move(guardrail));
  }
  for (const RewardPart& part : reward.parts) {
    reward.total += part.weight * part.value;
  }
  return reward;
}

RewardPart Scorer::TimePart(const Evaluation& candidate) const {
  const double speed_up = root_.TimeSeconds() / candidate.TimeSeconds();
  const double value = std::clamp(std::log(speed_up), -options_.time_clip, options_.time_clip);
  return {"time", options_.time_weight, value,
          fmt::format("{} {} against the root's {}: {:.3g} times as fast", TimeWord(candidate),
                      SecondsText(candidate.TimeSeconds()), SecondsText(root_.TimeSeconds()),
                      speed_up)};
}

RewardPart Scorer::GuardrailPart(const Evaluation& candidate) const {
  std::vector<std::string> broken;
  if (candidate.TimeSeconds() >= root_.TimeSeconds()) {
    const Proxy work[] = {
        {"instructions", {metric::kThreadInstructions}, Direction::kDown, 1},
        {"DRAM bytes",
         {metric::kDramReadBytes, metric::kDramWriteBytes, metric::kDramDirtyBytes},
         Direction::kDown,
         1}};
    for (const Proxy& proxy : work) {
      const auto values = root_.profile && candidate.profile
                              ? CompareProxy(proxy, *root_.profile, *candidate.profile)
                              : std::nullopt;
      if (values && values->after > options_.work_regression_factor * values->before) {
        broken.push_back(fmt::format("{} went from {:.4g} to {:.4g}", proxy.name, values->before,
                                     values->after));
      }
    }
    if (SpillBytes(candidate) > SpillBytes(root_)) {
      broken.push_back(fmt::format("spills went from {} to {} bytes a thread", SpillBytes(root_),
                                   SpillBytes(candidate)));
    }
  }
  std::string reason;
  for (const std::string& sentence : broken) {
    reason += (reason.empty() ? "" : ", ") + sentence;
  }
  return {"guardrail", options_.guardrail_penalty, -static_cast<double>(broken.size()),
          reason + ", without a gain in time"};
}

}  // namespace optiml
