#include "frontend/recorder_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "frontend/launch_rules.h"
#include "frontend/recorder_text.h"

namespace optiml::frontend {

namespace {

// Headers of device code, which no host compiler accepts: their #include lines are emptied.
constexpr std::array<std::string_view, 4> kDeviceHeaders = {"cooperative_groups", "cub/",
                                                            "cuda_pipeline", "mma.h"};

std::string WithoutDeviceHeaders(const std::string& text) {
  constexpr std::string_view kBlanks = " \t";
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    std::string_view rest = line;
    const auto skip = [&](std::string_view word) {
      rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
      const bool found = rest.starts_with(word);
      rest.remove_prefix(found ? word.size() : rest.size());
    };
    skip("#");
    skip("include");
    rest.remove_prefix(std::min(rest.find_first_of("<\""), rest.size()));
    const bool is_device =
        !rest.empty() &&
        std::any_of(kDeviceHeaders.begin(), kDeviceHeaders.end(),
                    [&](std::string_view header) { return rest.substr(1).starts_with(header); });
    result += is_device ? std::string_view("\n") : line;
    begin = end;
  }
  return result;
}

}  // namespace

std::string WithRecorderNamespace(std::string text, const std::string& space) {
  constexpr std::string_view kMark = "OPTIML_SPACE";
  for (size_t at = 0; (at = text.find(kMark, at)) != std::string::npos; at += space.size()) {
    text.replace(at, kMark.size(), space);
  }
  return text;
}

std::string RecorderProgramText(const ast::SourceUnit& unit, const ast::Function& launcher,
                                size_t arguments, RecordedNames& names) {
  const std::string space = RecorderNamespace(unit.text);
  std::string text = fmt::format("#include \"launcher.h\"\n#line 1 \"{}\"\n{}\n", kRecordedFile,
                                 WithoutDeviceHeaders(unit.host_text.text));
  text += "#line 1 \"optiml_register.cpp\"\n";
  text += fmt::format("extern \"C\" void {}_register() {{\n", space);
  for (const ast::Function& function : unit.functions) {
    if (!function.is_kernel || function.is_template || function.body == nullptr) {
      continue;
    }
    text += fmt::format("::{}::Kernel({}, {}ull, {}, &{});\n", space, names.kernels.size(),
                        StaticSharedBytes(unit, function),
                        function.launch_bounds_threads.value_or(0), function.name_expression);
    names.kernels.push_back(function.id);
  }
  for (const ast::Variable& variable : unit.variables) {
    if (!variable.name_expression.empty()) {
      text += fmt::format("{}_symbol({}, __builtin_addressof({}), sizeof({}));\n", space,
                          names.symbols.size(), variable.name_expression, variable.name_expression);
      names.symbols.push_back(variable.id);
    }
  }
  text += fmt::format("}}\nextern \"C\" void {}_call(const void* optiml_arguments) {{\n", space);
  text += fmt::format(
      "const auto* optiml_values = static_cast<const ::{}::Argument*>"
      "(optiml_arguments);\n(void)optiml_values;\n",
      space);
  text += fmt::format("using OptimlCalled = ::{}::Signature<decltype(&{})>;\n", space,
                      launcher.name_expression);
  text += fmt::format("{}(", launcher.name_expression);
  for (size_t i = 0; i < arguments; ++i) {
    text += fmt::format("{}::{}::Get<OptimlCalled::Parameter<{}>>(optiml_values[{}])",
                        i == 0 ? "" : ", ", space, i, i);
  }
  return text + ");\n}\n";
}

}  // namespace optiml::frontend
