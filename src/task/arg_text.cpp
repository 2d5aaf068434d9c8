// Arguments as the command line and comments write them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "task/names.h"
#include "task/task_file.h"

namespace optiml {
namespace {

// "randint(0, 256)", "normal", "constant(2)".
Result<void> ParseFillText(std::string_view text, ArgSpec& arg) {
  const size_t open = text.find('(');
  OPTIML_ASSIGN(arg.fill.kind, ParseFillKind(text.substr(0, open)));
  arg.fill.declared = true;
  if (open == std::string_view::npos) {
    return {};
  }
  if (text.back() != ')') {
    return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\": missing )", text));
  }
  const std::vector<std::string> parameters =
      SplitTrimmed(text.substr(open + 1, text.size() - open - 2), ',');
  const bool is_constant = arg.fill.kind == FillKind::kConstant;
  const bool is_offsets = arg.fill.kind == FillKind::kOffsets;
  if (parameters.size() != (is_constant || is_offsets ? 1u : 2u)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("\"{}\": expected {}", text,
                             is_constant ? "(value)" : (is_offsets ? "(total)" : "(min,max)")));
  }
  if (is_constant) {
    const std::optional<double> value = ParseNumber(parameters[0]);
    if (!value) {
      return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\": no number", text));
    }
    arg.fill.value = *value;
    return {};
  }
  if (is_offsets) {
    OPTIML_ASSIGN(arg.fill.total, SizeExpr::Parse(parameters[0]));
    return {};
  }
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<double> value = ParseNumber(parameters[i]);
    if (value && *value != std::floor(*value)) {
      (i == 0 ? arg.fill.min_value : arg.fill.max_value) = *value;
    } else {
      OPTIML_ASSIGN((i == 0 ? arg.fill.min : arg.fill.max), SizeExpr::Parse(parameters[i]));
    }
  }
  return {};
}

}  // namespace

Result<ArgSpec> ParseArgText(const std::string& name, const std::string& text,
                             std::string_view what_it_is) {
  const auto fail = [&](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} {}={}: {} (write dtype[extents]:role:fill, dtype=value, "
                             "dtype:fill or size)",
                             what_it_is, name, text, what));
  };
  ArgSpec arg;
  arg.name = name;
  if (text == "size") {
    arg.is_size = true;
    return arg;
  }
  const size_t end = text.find_first_of("[=:");
  const Result<DType> dtype = ParseDType(text.substr(0, end));
  if (!dtype) {
    return fail(dtype.error().message());
  }
  arg.dtype = *dtype;
  arg.fill.kind = IsFloat(arg.dtype) ? FillKind::kNormal : FillKind::kRandInt;
  if (end == std::string::npos) {
    return fail("no shape, value or fill");
  }
  if (text[end] == '=') {
    arg.value = ParseNumber(text.substr(end + 1));
    return arg.value ? Result<ArgSpec>(arg) : fail("the value is no number");
  }
  std::string rest = text.substr(end);
  if (rest[0] == '[') {
    arg.is_buffer = true;
    const size_t close = rest.find(']');
    if (close == std::string::npos) {
      return fail("missing ]");
    }
    for (const std::string& extent : SplitTrimmed(rest.substr(1, close - 1), ',')) {
      Result<SizeExpr> expression = SizeExpr::Parse(extent);
      if (!expression) {
        return fail(expression.error().message());
      }
      arg.shape.push_back(*std::move(expression));
    }
    rest = rest.substr(close + 1);
  }
  while (!rest.empty()) {
    if (rest[0] != ':') {
      return fail("expected \":\"");
    }
    const size_t next = rest.find(':', 1);
    const std::string word = rest.substr(1, next == std::string::npos ? next : next - 1);
    rest = next == std::string::npos ? "" : rest.substr(next);
    const Result<ArgRole> role = ParseArgRole(word);
    if (role) {
      if (!arg.is_buffer) {
        return fail("only buffers have a role");
      }
      arg.role = *role;
      continue;
    }
    const Result<void> fill = ParseFillText(word, arg);
    if (!fill) {
      return fail(fill.error().message());
    }
  }
  if (arg.fill.declared && (arg.role == ArgRole::kOut || arg.role == ArgRole::kWorkspace)) {
    return fail("an output or workspace has no fill");
  }
  return arg;
}

}  // namespace optiml
