#include "prompt/facts_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "prompt/fence.h"

namespace optiml {

std::string CountersText(const std::optional<Profile>& profile) {
  if (!profile || profile->metrics.empty()) {
    return "none were obtained";
  }
  std::string text;
  for (const auto& [id, metric] : profile->metrics) {
    text +=
        fmt::format("{}- {} = {:.4g} {}", text.empty() ? "" : "\n", id, metric.value, metric.unit);
  }
  return text;
}

std::string CounterChangesText(const Profile& before, const Profile& after) {
  std::string text;
  for (const auto& [id, metric] : before.metrics) {
    if (const std::optional<double> now = after.Get(id)) {
      text += fmt::format("{}- {}: {:.4g} -> {:.4g} {}", text.empty() ? "" : "\n", id, metric.value,
                          *now, metric.unit);
    }
  }
  return text.empty() ? "none on both sides" : text;
}

std::string ResourcesText(const std::vector<KernelResources>& resources) {
  std::string text;
  for (const KernelResources& kernel : resources) {
    text += fmt::format(
        "{}- {}: {} registers a thread, {} bytes of static shared memory, {} bytes of stack, "
        "spills of {} bytes stored and {} loaded",
        text.empty() ? "" : "\n", kernel.name_expression, kernel.registers,
        kernel.static_shared_bytes, kernel.stack_bytes, kernel.spill_store_bytes,
        kernel.spill_load_bytes);
  }
  return text.empty() ? "not known" : text;
}

std::string LimitsText(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& [name, fraction] : diagnosis.speed_of_light) {
    text += fmt::format("{}- {}: {:.2f}", text.empty() ? "" : "\n", name, fraction);
  }
  return text.empty() ? "not known" : text;
}

std::string DiagnosisText(const std::optional<PlacedDiagnosis>& placed) {
  if (!placed) {
    return "not known";
  }
  const Diagnosis* diagnosis = &placed->diagnosis;
  std::string text = fmt::format("{} (confidence {:.2f}): {}", BoundName(diagnosis->bound),
                                 diagnosis->confidence_ratio, diagnosis->cause);
  if (!placed->source_lines.empty()) {
    text += fmt::format("; at lines {}", fmt::join(placed->source_lines, ", "));
  }
  for (const std::string& sentence : diagnosis->evidence) {
    text += "\n- " + sentence;
  }
  // A model's words may be the source's.
  return placed->maker.empty() ? text : Fenced("diagnosis", text);
}

std::string ClaimText(const std::vector<MetricClaim>& claim) {
  std::string text;
  for (const MetricClaim& one : claim) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.metric,
                        one.direction == Direction::kDown ? "down" : "up");
  }
  return text.empty() ? "nothing" : text;
}

std::string TimesText(const Evaluation& evaluation) {
  std::string text;
  for (const Timing& timing : evaluation.timings) {
    text +=
        fmt::format("{}{:.4g} us {} at {}", text.empty() ? "" : "; ", timing.median_s * 1e6,
                    timing.kind == TimingKind::kMeasured ? "measured" : "predicted", timing.shape);
  }
  return text.empty() ? "not known" : text;
}

}  // namespace optiml
