#include "rewrite/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/own_launcher.h"
#include "rewrite/emit/emitters.h"
#include "rewrite/emit/lane_body.h"
#include "rewrite/emit/launch_sites.h"

namespace optiml::rewrite {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Where the first line begins.
uint32_t FileStart(const std::string& text) {
  return text.starts_with(kByteOrderMark) ? static_cast<uint32_t>(kByteOrderMark.size()) : 0;
}

// The start of the line that holds `at`.
uint32_t LineStart(const std::string& text, uint32_t at) {
  const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return newline == std::string::npos ? FileStart(text) : static_cast<uint32_t>(newline) + 1;
}

// Where the comment lines that directly precede a kernel begin: they describe the old one. A
// comment that opens the file stays: it is the file's.
uint32_t CommentStart(const std::string& text, uint32_t kernel) {
  uint32_t begin = LineStart(text, kernel);
  if (text.find_first_not_of(" \t", begin) < kernel) {
    return kernel;  // something else stands on the line
  }
  uint32_t first = begin;
  while (first > FileStart(text)) {
    const uint32_t line = LineStart(text, first - 1);
    if (text.compare(line, 2, "//") != 0) {
      break;
    }
    first = line;
  }
  return first == FileStart(text) ? begin : first;
}

bool IsInsideExternC(const ast::SourceUnit& unit, const ast::Function& kernel) {
  const std::string text =
      unit.text.substr(kernel.range.begin, kernel.range.end - kernel.range.begin);
  return kernel.is_extern_c && text.substr(0, text.find('(')).find("extern") == std::string::npos;
}

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Names that emitted text gives to functions and kernels: what stands before a parenthesis in lines
// that begin at the margin.
void CollectFunctionNames(const std::string& text, std::vector<std::string>* names) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t open = std::min(text.find('(', begin), end);
    if (open < end && IsNameCharacter(text[begin])) {
      size_t first = open;
      while (first > begin && IsNameCharacter(text[first - 1])) {
        --first;
      }
      names->push_back(text.substr(first, open - first));
    }
    begin = end + 1;
  }
}

bool HasWord(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !IsNameCharacter(text[at - 1])) &&
        (end == text.size() || !IsNameCharacter(text[end]))) {
      return true;
    }
  }
  return false;
}

// The host function that stands for the task's [launch] table, which knows nothing of the emitted
// kernels.
std::string OwnLauncher(const KernelFacts& facts) {
  CodeWriter out;
  out.Comment("Launches it; takes the place of the task's [launch].");
  out.Open(fmt::format("extern \"C\" void {}({})", OwnLauncherName(facts.function->name_expression),
                       HostParameters(facts)));
  out.Line(fmt::format("{}({});", LaunchHelperName(facts), ArgumentNames(facts)));
  out.Close();
  return "\n" + out.text();
}

}  // namespace

EmittedKernel EmitKernel(const KernelFacts& facts, const Schedule& schedule) {
  if (schedule.Has("row_fold")) {
    return EmitRowFold(facts, schedule);
  }
  if (schedule.Has("column_fold")) {
    return EmitColumnFold(facts, schedule);
  }
  if (schedule.Has("split_fold")) {
    return EmitFullFold(facts, schedule);
  }
  if (schedule.Has("tile_shared")) {
    return EmitContraction(facts, schedule);
  }
  if (schedule.Has("turn_tile")) {
    return EmitTranspose(facts, schedule);
  }
  if (schedule.Has("register_window")) {
    return EmitStencil(facts, schedule);
  }
  if (schedule.Has("privatise")) {
    return EmitScatter(facts, schedule);
  }
  if (facts.shape.kind == ShapeKind::kMap && !schedule.primitives.empty()) {
    return EmitMap(facts, schedule);
  }
  return EmitPoints(facts, schedule);
}

std::optional<std::string> RefuseReplacement(const ast::SourceUnit& unit,
                                             const ast::Function& kernel, bool launched_by_task) {
  if (kernel.range.in_macro) {
    return fmt::format("line {}: {} is spelled by a macro", kernel.line, kernel.name);
  }
  for (const ast::Function& other : unit.functions) {
    if (other.id != kernel.id && !LaunchSitesOf(unit, other).empty() &&
        other.range.begin == kernel.range.begin && other.range.end == kernel.range.end) {
      return fmt::format("line {}: {} has several template instances", kernel.line, kernel.name);
    }
  }
  const std::vector<LaunchSite> sites = LaunchSitesOf(unit, kernel);
  if (sites.empty() && !launched_by_task) {
    return fmt::format("{} is launched nowhere in the file", kernel.name);
  }
  const std::string own_launcher = OwnLauncherName(kernel.name_expression);
  if (launched_by_task && HasWord(unit.text, own_launcher)) {
    return fmt::format("the file uses the name {} already", own_launcher);
  }
  for (const LaunchSite& site : sites) {
    if (site.range.in_macro) {
      return fmt::format("line {}: the launch of {} is spelled by a macro", site.line, kernel.name);
    }
    if (site.range.begin < kernel.range.end) {
      return fmt::format("line {}: {} is launched before it is defined", site.line, kernel.name);
    }
  }
  return std::nullopt;
}

namespace {

// Whether most lines of the text end as on Windows.
bool EndsLinesWithReturn(std::string_view text) {
  size_t lines = 0;
  size_t returns = 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    ++lines;
    returns += at > 0 && text[at - 1] == '\r' ? 1 : 0;
  }
  return 2 * returns > lines;
}

// The text with a carriage return before each newline that has none.
std::string WithReturns(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) {
      result += '\r';
    }
    result += text[i];
  }
  return result;
}

}  // namespace

std::string Replace(const std::string& text, std::vector<Replacement> replacements) {
  const bool with_returns = EndsLinesWithReturn(text);
  std::sort(replacements.begin(), replacements.end(),
            [](const Replacement& a, const Replacement& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
            });
  std::string result;
  uint32_t at = 0;
  for (const Replacement& replacement : replacements) {
    OPTIML_CHECK(replacement.begin >= at, "replacements overlap");
    result += text.substr(at, replacement.begin - at);
    result += with_returns ? WithReturns(replacement.text) : replacement.text;
    at = replacement.end;
  }
  return result + text.substr(at);
}

ApplyOutcome EmitSource(const ast::SourceUnit& unit, const KernelSource& root,
                        const std::vector<ScheduledKernel>& kernels,
                        std::vector<Replacement> further) {
  std::vector<Replacement> replacements = std::move(further);
  std::vector<std::pair<uint32_t, size_t>> order;  // place in the file, replacement
  bool uses_pack = false;
  std::vector<std::string> emitted_names;  // of the kernels before: one file holds them all
  for (const ScheduledKernel& kernel : kernels) {
    KernelFacts facts = *kernel.facts;
    facts.program.reserved_names.insert(facts.program.reserved_names.end(), emitted_names.begin(),
                                        emitted_names.end());
    const ast::Function& function = *facts.function;
    if (std::optional<std::string> reason =
            RefuseReplacement(unit, function, facts.launched_by_task)) {
      return ApplyRefusal{*reason};
    }
    const EmittedKernel emitted = EmitKernel(facts, kernel.schedule);
    CollectFunctionNames(emitted.kernels, &emitted_names);
    CollectFunctionNames(emitted.launcher, &emitted_names);
    uses_pack = uses_pack || emitted.uses_pack;
    std::string text = emitted.kernels + "\n" + emitted.launcher;
    if (facts.launched_by_task) {
      text += OwnLauncher(facts);
    }
    if (IsInsideExternC(unit, function)) {
      text = fmt::format("extern \"C++\" {{\n{}}}", text);
    } else if (!text.empty() && text.back() == '\n') {
      text.pop_back();
    }
    order.emplace_back(function.range.begin, replacements.size());
    replacements.push_back(
        {CommentStart(unit.text, function.range.begin), function.range.end, text});
    for (const LaunchSite& site : LaunchSitesOf(unit, function)) {
      std::string call = LaunchHelperName(facts) + "(";
      for (size_t i = 0; i < site.arguments.size(); ++i) {
        call += (i == 0 ? "" : ", ") + site.arguments[i];
      }
      if (PassesStream(facts)) {
        call += ", " + (site.stream.empty() ? std::string("0") : site.stream);
      }
      replacements.push_back({site.range.begin, site.range.end, call + ")"});
    }
  }
  if (uses_pack) {
    if (HasWord(unit.text, "Pack")) {
      return ApplyRefusal{"the file uses the name Pack already"};
    }
    const size_t first = std::min_element(order.begin(), order.end())->second;
    std::string& text = replacements[first].text;
    text = text.starts_with("extern \"C++\" {\n")
               ? "extern \"C++\" {\n" + PackDefinition() + text.substr(15)
               : PackDefinition() + text;
  }
  return KernelSource(Replace(unit.text, std::move(replacements)), root.entry(), root.path());
}

}  // namespace optiml::rewrite
