#include "verify/promoted_original.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include "task/names.h"
#include "verify/case_inputs.h"
#include "verify/case_rows.h"
#include "verify/compare.h"
#include "verify/plan_runner.h"

namespace optiml {
namespace {

// Functions of the CUDA Math API whose name for doubles is the one without the f.
constexpr const char* kWithoutF[] = {
    "acos",    "acosh",     "asin",    "asinh",         "atan",
    "atan2",   "atanh",     "cbrt",    "ceil",          "copysign",
    "cos",     "cosh",      "cospi",   "cyl_bessel_i0", "cyl_bessel_i1",
    "erf",     "erfc",      "erfcinv", "erfcx",         "erfinv",
    "exp",     "exp10",     "exp2",    "expm1",         "fabs",
    "fdim",    "floor",     "fma",     "fmax",          "fmin",
    "fmod",    "frexp",     "hypot",   "ilogb",         "j0",
    "j1",      "ldexp",     "lgamma",  "llrint",        "llround",
    "log",     "log10",     "log1p",   "log2",          "logb",
    "lrint",   "lround",    "modf",    "nearbyint",     "nextafter",
    "norm3d",  "norm4d",    "normcdf", "normcdfinv",    "pow",
    "rcbrt",   "remainder", "rhypot",  "rint",          "rnorm3d",
    "rnorm4d", "round",     "rsqrt",   "scalbn",        "sin",
    "sincos",  "sincospi",  "sinh",    "sinpi",         "sqrt",
    "tan",     "tanh",      "tgamma",  "trunc",         "y0",
    "y1",
};

struct Renamed {
  const char* of_float;
  const char* of_double;
};
// Intrinsics, types, and macros of <cmath>.
constexpr Renamed kRenamed[] = {
    {"float", "double"},
    {"float1", "double1"},
    {"float2", "double2"},
    {"float3", "double3"},
    {"float4", "double4"},
    {"make_float1", "make_double1"},
    {"make_float2", "make_double2"},
    {"make_float3", "make_double3"},
    {"make_float4", "make_double4"},
    {"__expf", "exp"},
    {"__exp10f", "exp10"},
    {"__logf", "log"},
    {"__log2f", "log2"},
    {"__log10f", "log10"},
    {"__powf", "pow"},
    {"__sinf", "sin"},
    {"__cosf", "cos"},
    {"__tanf", "tan"},
    {"__sincosf", "sincos"},
    {"__fadd_rn", "__dadd_rn"},
    {"__fsub_rn", "__dsub_rn"},
    {"__fmul_rn", "__dmul_rn"},
    {"__fdiv_rn", "__ddiv_rn"},
    {"__fmaf_rn", "__fma_rn"},
    {"__fsqrt_rn", "__dsqrt_rn"},
    {"__frcp_rn", "__drcp_rn"},
    {"__frsqrt_rn", "rsqrt"},
    {"__fdividef(a, b)", "((a) / (b))"},
    {"__saturatef(a)", "fmin(fmax((a), 0.0), 1.0)"},
    {"INFINITY", "(1e300 * 1e300)"},
    {"NAN", "(1e300 * 1e300 * 0.0)"},
};

std::string Macros() {
  std::string text;
  for (const char* name : kWithoutF) {
    text += fmt::format("#define {0}f {0}\n", name);
  }
  for (const Renamed& renamed : kRenamed) {
    const std::string name = renamed.of_float;
    text += fmt::format("#undef {}\n#define {} {}\n", name.substr(0, name.find('(')), name,
                        renamed.of_double);
  }
  return text;
}

// Behind the last line that includes something.
size_t BehindIncludes(const std::string& text) {
  size_t behind = 0;
  for (size_t line = 0; line < text.size();) {
    const size_t end = std::min(text.find('\n', line), text.size() - 1) + 1;
    const size_t hash = text.find_first_not_of(" \t", line);
    if (hash < end && text[hash] == '#') {
      const size_t word = text.find_first_not_of(" \t", hash + 1);
      if (word < end && text.compare(word, 7, "include") == 0) {
        behind = end;
      }
    }
    line = end;
  }
  return behind;
}

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The end of what begins at `at`: a comment, a string or character literal, a number or a word with
// its suffix, or one character.
size_t TokenEnd(const std::string& text, size_t at) {
  const auto behind = [&](const char* mark) {
    const size_t found = text.find(mark, at + 2);
    return found == std::string::npos ? text.size() : found + std::strlen(mark);
  };
  if (text.compare(at, 2, "//") == 0) {
    return behind("\n");
  }
  if (text.compare(at, 2, "/*") == 0) {
    return behind("*/");
  }
  if (text[at] == '"' || text[at] == '\'') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != text[at] && text[end] != '\n') {
      end += text[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text.size());
  }
  size_t end = at + 1;
  const bool is_number =
      std::isdigit(static_cast<unsigned char>(text[at])) != 0 ||
      (text[at] == '.' && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])));
  const bool is_hex = text.compare(at, 2, "0x") == 0 || text.compare(at, 2, "0X") == 0;
  while (end < text.size() && (is_number || IsWordCharacter(text[at])) &&
         (IsWordCharacter(text[end]) || (is_number && text[end] == '.') ||
          (is_number && (text[end] == '+' || text[end] == '-') &&
           std::strchr("eEpP", text[end - 1]) != nullptr && !is_hex))) {
    ++end;
  }
  return end;
}

// "1.0f", ".5F", "1e-3f"; not "0x1f" and "1.0".
bool IsFloatLiteral(std::string_view token) {
  return token.size() > 1 && (token.back() == 'f' || token.back() == 'F') &&
         (token.front() == '.' || std::isdigit(static_cast<unsigned char>(token.front())) != 0) &&
         !(token.starts_with("0x") || token.starts_with("0X"));
}

// Floats that are written as literals, as doubles of the same value: a call with both would be
// ambiguous.
std::string PromoteLiterals(const std::string& text) {
  std::string promoted;
  for (size_t at = 0; at < text.size();) {
    const size_t end = TokenEnd(text, at);
    const std::string token = text.substr(at, end - at);
    promoted += IsFloatLiteral(token) ? "double(" + token + ")" : token;
    at = end;
  }
  return promoted;
}

double AsFloat(double value) {
  return static_cast<double>(static_cast<float>(value));
}

KernelTask PromotedTask(const KernelTask& task) {
  KernelTask promoted = task;
  promoted.source = KernelSource(PromoteFloats(task.source.text()), task.source.entry(),
                                 task.source.path() + " (in double precision)");
  for (ArgSpec& arg : promoted.args) {
    if (arg.dtype == DType::kF32) {
      arg.dtype = DType::kF64;
      arg.value = arg.value ? std::optional(AsFloat(*arg.value)) : std::nullopt;
    }
  }
  return promoted;
}

void RoundScalars(const KernelTask& task, std::map<std::string, double>& scalars) {
  for (auto& [name, value] : scalars) {
    const ArgSpec* arg = task.FindArg(name);
    if (arg != nullptr && arg->dtype == DType::kF32) {
      value = AsFloat(value);
    }
  }
}

bool IsPromoted(const ArgSpec& before) {
  return before.is_buffer && before.dtype == DType::kF32;
}

}  // namespace

std::string PromoteFloats(const std::string& text) {
  static const std::string macros = Macros();
  const size_t behind = BehindIncludes(text);
  const bool ends_line = behind == 0 || text[behind - 1] == '\n';
  return text.substr(0, behind) + (ends_line ? "" : "\n") + macros +
         PromoteLiterals(text.substr(behind));
}

Result<std::variant<PromotedOriginal, std::string>> PromotedOriginal::Make(
    const KernelTask& task, std::vector<PlanRequest> requests, const Tools& tools) {
  using Outcome = std::variant<PromotedOriginal, std::string>;
  if (std::none_of(task.args.begin(), task.args.end(),
                   [](const ArgSpec& arg) { return IsPromoted(arg) && IsOutput(arg); })) {
    return Outcome("it has no output of floats");
  }
  KernelTask promoted = PromotedTask(task);
  for (PlanRequest& request : requests) {
    RoundScalars(task, request.scalars);
  }
  Evaluation evaluation;
  OPTIML_ASSIGN(auto prepared,
                PrepareSource(promoted, promoted.source, true, requests, tools.builder,
                              tools.architecture, evaluation, tools.recorder));
  if (const auto* rejection = std::get_if<Rejection>(&prepared)) {
    return Outcome(fmt::format("in double precision it is refused at {}: {}",
                               StageName(rejection->stage), rejection->reason));
  }
  return Outcome(
      PromotedOriginal(std::move(promoted), std::get<PreparedSource>(std::move(prepared))));
}

Result<std::variant<std::vector<Tensor>, std::string>> PromotedOriginal::Run(
    const TaskInputs& inputs, size_t request, uint64_t step_limit, Device& device) const {
  using Outcome = std::variant<std::vector<Tensor>, std::string>;
  TaskInputs promoted = inputs;
  uint64_t bytes = 0;
  const std::vector<const ArgSpec*> args = BufferArgs(task_);
  std::vector<bool> is_promoted(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    bytes += inputs.buffers[i].bytes.size();
    is_promoted[i] = args[i]->dtype != inputs.buffers[i].dtype;
  }
  if (bytes > kMostPromotedBytes) {
    return Outcome(fmt::format("its buffers have {} MiB, more than {}", bytes >> 20,
                               kMostPromotedBytes >> 20));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_promoted[i]) {
      promoted.buffers[i] = Widened(inputs.buffers[i]);
    }
  }
  PlanRun run;
  run.artifact = &prepared_.artifact;
  run.plan = &prepared_.plans.at(request);
  run.passes = {{&promoted, kPoisonBytes[0]}};
  run.step_limit = step_limit;
  OPTIML_ASSIGN(PlanResult result, RunPlan(task_, run, device));
  if (result.outcome.status != RunStatus::kCompleted || !result.outcome.findings.empty()) {
    return Outcome("in double precision it fails: " + (result.outcome.reason.empty()
                                                           ? std::string("it did not complete")
                                                           : result.outcome.reason));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (!is_promoted[i] || !IsOutput(*args[i])) {
      result.buffers[i] = Tensor{};
    }
  }
  return Outcome(std::move(result.buffers));
}

}  // namespace optiml
