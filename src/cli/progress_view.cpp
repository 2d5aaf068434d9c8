#include "cli/progress_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/model_report.h"
#include "report/text_format.h"

namespace optiml {
namespace {

constexpr int kBarWidth = 24;

double ToSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string PhaseText(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::kBattery:
      return "testing the task's checks";
    case Progress::Phase::kRoot:
      return "evaluating the task's kernel";
    case Progress::Phase::kSearch:
      return "searching";
    case Progress::Phase::kChain:
      return "re-measuring the kept chain";
    case Progress::Phase::kDelivered:
      return "checking the result as delivered";
    case Progress::Phase::kDone:
      return "done";
  }
  return "";
}

// "best 3.21x predicted (1.20 ms -> 373.8 us)", "" before the first time is known.
std::string BestText(const Progress& progress) {
  if (!(progress.root_time_s > 0) || !(progress.best_time_s > 0)) {
    return "";
  }
  return fmt::format("best {} {} ({} -> {})",
                     FormatFactor(progress.root_time_s / progress.best_time_s),
                     progress.measured ? "measured" : "predicted",
                     FormatSeconds(progress.root_time_s), FormatSeconds(progress.best_time_s));
}

// "models: proposer 3 calls, 12k tokens, $0.04; judge ...", "" without models.
std::string ModelsText(const Progress& progress) {
  std::string text;
  for (const RoleUse& use : progress.models) {
    text += (text.empty() ? "models: " : "; ") +
            RoleUseText(use.role, use.calls, use.tokens, use.dollars);
  }
  return text;
}

// Cuts at a character boundary.
std::string Cut(std::string text, size_t width) {
  if (text.size() <= width) {
    return text;
  }
  size_t end = width > 3 ? width - 3 : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  text.resize(end);
  return text + "...";
}

// One line: control characters of compiler messages would tear it.
std::string Untorn(const std::string& text) {
  std::string out = ValidUtf8(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

}  // namespace

std::string TerminalLine(const Progress& progress, int width) {
  std::string line;
  if (progress.phase == Progress::Phase::kSearch && progress.candidates_budget > 0) {
    const double share = std::clamp(
        static_cast<double>(progress.candidates_done) / progress.candidates_budget, 0.0, 1.0);
    const auto filled = static_cast<size_t>(share * kBarWidth);
    line = fmt::format("[{}{}] {}/{}", std::string(filled, '#'),
                       std::string(static_cast<size_t>(kBarWidth) - filled, '-'),
                       progress.candidates_done, progress.candidates_budget);
  } else {
    line = PhaseText(progress.phase);
  }
  if (const std::string best = BestText(progress); !best.empty()) {
    line += "  " + best;
  }
  line += "  " + FormatElapsed(ToSeconds(progress.elapsed));
  if (progress.eta) {
    line += ", " + FormatElapsed(ToSeconds(*progress.eta)) + " left";
  }
  if (const std::string models = ModelsText(progress); !models.empty()) {
    line += "  " + models;
  }
  if (!progress.last.empty()) {
    line += "  " + Untorn(progress.last);
  }
  return Cut(line, static_cast<size_t>(std::max(width - 1, 20)));
}

std::string PlainLine(const Progress& progress) {
  if (progress.phase != Progress::Phase::kSearch || progress.last.empty()) {
    std::string line = PhaseText(progress.phase);
    const std::string best = BestText(progress);
    return best.empty() ? line : line + ": " + best;
  }
  std::string line = fmt::format("{}/{} {}", progress.candidates_done, progress.candidates_budget,
                                 Untorn(progress.last));
  if (const std::string best = BestText(progress); !best.empty()) {
    line += "; " + best;
  }
  if (const std::string models = ModelsText(progress); !models.empty()) {
    line += "; " + models;
  }
  return line;
}

void ProgressView::Show(const Progress& progress) {
  if (quiet_ || progress.phase == Progress::Phase::kDone) {
    return;  // the summary follows
  }
  if (env_.err_is_terminal) {
    *env_.err << "\r\x1b[K" << TerminalLine(progress, env_.width) << std::flush;
    drawn_ = true;
    return;
  }
  const std::string line = PlainLine(progress);
  if (line != last_line_ || progress.phase != phase_) {
    *env_.err << line << "\n" << std::flush;
  }
  last_line_ = line;
  phase_ = progress.phase;
}

void ProgressView::Clear() {
  if (drawn_) {
    *env_.err << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }
}

}  // namespace optiml
