// Functions that the file does not define: the C and C++ library's mathematics and small helpers.
// What is not listed here or in interpreter_runtime.cpp is refused by name.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "frontend/interpreter.h"
#include "frontend/side_effects.h"

namespace optiml::frontend {

namespace {

struct UnaryMath {
  std::string_view name;  // without std:: and without the f of the float version
  double (*in_double)(double);
  float (*in_float)(float);
};

// Computed by this machine's C library, as a launcher compiled for the host would be.
constexpr std::array<UnaryMath, 22> kUnaryMath = {{
    {"sqrt", std::sqrt, std::sqrt},    {"cbrt", std::cbrt, std::cbrt},
    {"exp", std::exp, std::exp},       {"exp2", std::exp2, std::exp2},
    {"log", std::log, std::log},       {"log2", std::log2, std::log2},
    {"log10", std::log10, std::log10}, {"log1p", std::log1p, std::log1p},
    {"sin", std::sin, std::sin},       {"cos", std::cos, std::cos},
    {"tan", std::tan, std::tan},       {"asin", std::asin, std::asin},
    {"acos", std::acos, std::acos},    {"atan", std::atan, std::atan},
    {"tanh", std::tanh, std::tanh},    {"erf", std::erf, std::erf},
    {"ceil", std::ceil, std::ceil},    {"floor", std::floor, std::floor},
    {"trunc", std::trunc, std::trunc}, {"round", std::round, std::round},
    {"rint", std::rint, std::rint},    {"fabs", std::fabs, std::fabs},
}};

struct BinaryMath {
  std::string_view name;
  double (*in_double)(double, double);
  float (*in_float)(float, float);
};

constexpr std::array<BinaryMath, 6> kBinaryMath = {{
    {"pow", std::pow, std::pow},
    {"fmod", std::fmod, std::fmod},
    {"atan2", std::atan2, std::atan2},
    {"hypot", std::hypot, std::hypot},
    {"fmax", std::fmax, std::fmax},
    {"fmin", std::fmin, std::fmin},
}};

// Results depend on when or where the launcher runs: a plan cannot hold them.
constexpr std::array<std::string_view, 8> kNotRepeatable = {"rand", "srand",  "time",   "clock",
                                                            "atoi", "getenv", "random", "drand48"};

// Messages; nobody reads them.
constexpr std::array<std::string_view, 8> kPrinting = {"printf", "fprintf", "puts",    "fputs",
                                                       "fflush", "perror",  "putchar", "vprintf"};

// Where messages go.
constexpr std::array<std::string_view, 6> kMessageStreams = {"cout",      "cerr",      "clog",
                                                             "std::cout", "std::cerr", "std::clog"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool MatchesMath(std::string_view called, std::string_view known) {
  return called == known ||
         (called.size() == known.size() + 1 && called.back() == 'f' && called.starts_with(known));
}

}  // namespace

HostValue Interpreter::EvaluateCall(const ast::Expr& expr) {
  if (expr.variable >= 0) {
    const HostValue callee =
        Load(VariableAddress(expr), unit_.variables[static_cast<size_t>(expr.variable)].type);
    const auto function = HostMemory::AsFunction(static_cast<uint64_t>(callee.integer));
    if (!function.has_value()) {
      CannotFollow(
          fmt::format("launcher calls \"{}\", which is no function of the file", expr.name));
    }
    return CallUser(unit_.functions[static_cast<size_t>(*function)], expr.operands, 0, 0, nullptr);
  }
  if (expr.function >= 0) {
    const ast::Function& function = unit_.functions[static_cast<size_t>(expr.function)];
    if (function.body != nullptr || !function.is_extern_c) {
      return CallUser(function, expr.operands, 0, 0, nullptr);
    }
  }
  return CallLibrary(expr);
}

HostValue Interpreter::CallLibrary(const ast::Expr& expr) {
  // Not every argument matters to a plan, but what its evaluation changes does.
  const size_t outer = watched_.size();
  for (const ast::ExprPtr& operand : expr.operands) {
    if (ChangesSomething(*operand)) {
      watched_.emplace_back(operand.get(), false);
    }
  }
  HostValue result = CallKnown(expr);
  for (size_t i = outer; i < watched_.size(); ++i) {
    if (!watched_[i].second) {
      CannotFollow(fmt::format(
          "launcher changes something in an argument of {}, which cannot be traced", expr.name));
    }
  }
  watched_.resize(outer);
  return result;
}

void Interpreter::Print(const ast::Expr& expr, const std::string& name) {
  const bool is_stream = name.starts_with("operator<<");
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    const ast::Expr* operand = expr.operands[i].get();
    while (operand->kind == ast::ExprKind::kCast && operand->is_implicit) {
      operand = operand->operands[0].get();
    }
    const bool is_chain =
        (operand->kind == ast::ExprKind::kCall || operand->kind == ast::ExprKind::kMethodCall) &&
        operand->name.find("operator<<") != std::string::npos;
    if (is_stream && i == 0 && !is_chain &&
        !(operand->kind == ast::ExprKind::kVariable && Contains(kMessageStreams, operand->name))) {
      CannotFollow(
          "launcher writes to a stream that is none of the messages', which cannot be traced");
    }
    const ast::Type& type = *expr.operands[i]->type;
    if (!is_stream && type.kind == ast::TypeKind::kPointer && type.element != nullptr &&
        type.element->kind == ast::TypeKind::kInt && type.element->bits > 8 &&
        !type.element->is_const) {
      Refuse(fmt::format("launcher passes {} to {}, which may write there (%n)", type.text, name));
    }
    if (ChangesSomething(*expr.operands[i])) {
      Evaluate(*expr.operands[i]);
    }
  }
}

HostValue Interpreter::CallKnown(const ast::Expr& expr) {
  std::string name = expr.name;
  const bool is_standard = name.starts_with("std::");
  if (is_standard) {
    name = name.substr(5);
  }
  HostValue result;
  result.type = expr.type;
  if (CallRuntime(expr, name, result) || CallStandard(expr, name, result) ||
      CallMath(expr, name, result)) {
    return result;
  }
  if (Contains(kNotRepeatable, name)) {
    Refuse(fmt::format("launcher calls {}, whose result differs between runs", expr.name));
  }
  CannotFollow(fmt::format("launcher calls {}, which cannot be traced", expr.name));
}

HostValue Interpreter::MinMax(const ast::Expr& expr, bool is_max) {
  std::vector<ast::ExprPtr> operands = expr.operands;
  if (operands.size() == 1 && operands[0]->kind == ast::ExprKind::kInitList) {
    operands = operands[0]->operands;  // std::max({a, b, c})
  }
  if (operands.empty()) {
    CannotFollow(fmt::format("launcher calls {} without values", expr.name));
  }
  HostValue best = Convert(Evaluate(*operands[0]), expr.type);
  for (size_t i = 1; i < operands.size(); ++i) {
    const HostValue other = Convert(Evaluate(*operands[i]), expr.type);
    const HostValue less =
        Binary(expr, "<", is_max ? best : other, is_max ? other : best, IntType());
    if (IsTrue(less)) {
      best = other;
    }
  }
  return best;
}

HostValue Interpreter::MakeVector(const ast::Expr& expr) {
  return Initialise(expr.type, expr.operands);
}

bool Interpreter::CallStandard(const ast::Expr& expr, const std::string& name, HostValue& result) {
  const auto operand = [&](size_t i) -> const ast::Expr& { return *expr.operands[i]; };
  const size_t count = expr.operands.size();
  if (Contains(kPrinting, name)) {
    Print(expr, name);
    result = IntegerValue(0, expr.type);
    return true;
  }
  if (name.starts_with("operator<<") && count == 2) {
    Print(expr, name);
    result.type = VoidType();
    return true;
  }
  if ((name == "min" || name == "max" || name == "umin" || name == "umax") && count >= 1) {
    result = MinMax(expr, name.ends_with("max"));
    return true;
  }
  if (name == "clamp" && count == 3) {
    const HostValue value = Convert(Evaluate(operand(0)), expr.type);
    const HostValue low = Convert(Evaluate(operand(1)), expr.type);
    const HostValue high = Convert(Evaluate(operand(2)), expr.type);
    result = IsTrue(Binary(expr, "<", value, low, IntType()))    ? low
             : IsTrue(Binary(expr, "<", high, value, IntType())) ? high
                                                                 : value;
    return true;
  }
  if (name == "swap" && count == 2) {
    const uint64_t a = Address(operand(0));
    const uint64_t b = Address(operand(1));
    const HostValue first = Load(a, operand(0).type);
    const HostValue second = Load(b, operand(1).type);
    Store(a, second);
    Store(b, first);
    result.type = VoidType();
    return true;
  }
  if ((name == "move" || name == "forward") && count == 1) {
    result = Evaluate(operand(0));
    return true;
  }
  if (name == "exit" || name == "abort" || name == "_Exit" || name == "terminate") {
    Refuse(fmt::format("launcher calls {}", name));
  }
  if (name == "__optiml_assertion_failed" || name == "__assert_fail") {
    Refuse("an assertion of the launcher fails");
  }
  if (name == "malloc" || name == "calloc") {
    const auto first = static_cast<uint64_t>(EvaluateInteger(operand(0)));
    uint64_t size = first;
    if (name == "calloc" &&
        __builtin_mul_overflow(first, static_cast<uint64_t>(EvaluateInteger(operand(1))), &size)) {
      Refuse("launcher allocates more host memory than there is");
    }
    const uint64_t address = Allocate(size);
    if (name == "calloc") {
      HostObject* object = memory_.Find(address, size);
      std::fill(object->states.begin(), object->states.end(), ByteState::kPlain);
    }
    result = IntegerValue(static_cast<int64_t>(address), expr.type);
    return true;
  }
  if (name.starts_with("operator new[]")) {
    const uint64_t element = StorageBytes(*expr.type->element);
    const auto length = static_cast<uint64_t>(EvaluateInteger(operand(0)));
    uint64_t size = 0;
    if (__builtin_mul_overflow(length, element, &size)) {
      Refuse("launcher allocates more host memory than there is");
    }
    const uint64_t address = Allocate(size);
    if (name.ends_with("()")) {
      HostObject* object = memory_.Find(address, size);
      std::fill(object->states.begin(), object->states.end(), ByteState::kPlain);
    }
    result = IntegerValue(static_cast<int64_t>(address), expr.type);
    return true;
  }
  if (name == "free" || name == "operator delete") {
    const auto address = static_cast<uint64_t>(EvaluateInteger(operand(0)));
    if (address != 0) {
      if (memory_.Find(address, 0) == nullptr || HostMemory::OffsetOf(address) != 0) {
        Refuse("launcher frees what it did not allocate");
      }
      memory_.Free(address);
    }
    result.type = VoidType();
    return true;
  }
  if ((name == "memcpy" || name == "memmove") && count == 3) {
    const HostValue destination = Evaluate(operand(0));
    Copy(static_cast<uint64_t>(destination.integer),
         static_cast<uint64_t>(EvaluateInteger(operand(1))),
         static_cast<uint64_t>(EvaluateInteger(operand(2))), /*HostToHost=*/0);
    result = IntegerValue(destination.integer, expr.type);
    return true;
  }
  if (name == "memset" && count == 3) {
    const auto address = static_cast<uint64_t>(EvaluateInteger(operand(0)));
    const int64_t value = EvaluateInteger(operand(1));
    const auto size = static_cast<uint64_t>(EvaluateInteger(operand(2)));
    HostObject* object = memory_.Find(address, size);
    if (object == nullptr) {
      Refuse("launcher sets memory outside of a host variable");
    }
    const auto offset = static_cast<std::ptrdiff_t>(HostMemory::OffsetOf(address));
    std::fill_n(object->bytes.begin() + offset, size, static_cast<std::byte>(value & 0xff));
    std::fill_n(object->states.begin() + offset, size, ByteState::kPlain);
    result = IntegerValue(static_cast<int64_t>(address), expr.type);
    return true;
  }
  if (name.starts_with("make_") && (KindOf(*expr.type) == ValueKind::kBytes)) {
    result = MakeVector(expr);
    return true;
  }
  return false;
}

bool Interpreter::CallMath(const ast::Expr& expr, const std::string& name, HostValue& result) {
  const size_t count = expr.operands.size();
  if (count == 1 && (name == "abs" || name == "labs" || name == "llabs")) {
    result = Convert(Evaluate(*expr.operands[0]), expr.type);
    if (KindOf(*expr.type) == ValueKind::kReal) {
      result.real = std::fabs(result.real);
    } else if (result.integer < 0) {
      result.integer =
          WrapInteger(static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(result.integer)),
                      static_cast<int>(StorageBytes(*expr.type)) * 8, true);
    }
    return true;
  }
  if (count == 1 &&
      (name == "__builtin_popcount" || name == "__builtin_popcountll" || name == "__builtin_clz" ||
       name == "__builtin_clzll" || name == "__builtin_ctz" || name == "__builtin_ctzll")) {
    const HostValue value = Evaluate(*expr.operands[0]);
    const int bits = static_cast<int>(StorageBytes(*value.type)) * 8;
    const auto raw = static_cast<uint64_t>(WrapInteger(value.integer, bits, false));
    if (name.find("popcount") != std::string::npos) {
      result = IntegerValue(__builtin_popcountll(raw), expr.type);
      return true;
    }
    if (raw == 0) {
      Refuse(fmt::format("{}(0) has no defined result", name));
    }
    result = IntegerValue(name.find("clz") != std::string::npos ? __builtin_clzll(raw) - (64 - bits)
                                                                : __builtin_ctzll(raw),
                          expr.type);
    return true;
  }
  if (KindOf(*expr.type) == ValueKind::kInteger) {
    if (count == 1 && MatchesMath(name, "lround")) {
      result = IntegerValue(std::lround(Convert(Evaluate(*expr.operands[0]), DoubleType()).real),
                            expr.type);
      return true;
    }
    return false;
  }
  const bool in_float = expr.type->kind == ast::TypeKind::kFloat && expr.type->bits == 32;
  if (count == 1) {
    for (const UnaryMath& known : kUnaryMath) {
      if (MatchesMath(name, known.name)) {
        const double x = Convert(Evaluate(*expr.operands[0]), expr.type).real;
        result.real = in_float ? static_cast<double>(known.in_float(static_cast<float>(x)))
                               : known.in_double(x);
        return true;
      }
    }
    if (MatchesMath(name, "rsqrt")) {
      const double x = Convert(Evaluate(*expr.operands[0]), expr.type).real;
      result.real = RoundReal(1.0 / std::sqrt(x), *expr.type);
      return true;
    }
  }
  if (count == 2) {
    for (const BinaryMath& known : kBinaryMath) {
      if (MatchesMath(name, known.name)) {
        const double x = Convert(Evaluate(*expr.operands[0]), expr.type).real;
        const double y = Convert(Evaluate(*expr.operands[1]), expr.type).real;
        result.real =
            in_float
                ? static_cast<double>(known.in_float(static_cast<float>(x), static_cast<float>(y)))
                : known.in_double(x, y);
        return true;
      }
    }
    if (MatchesMath(name, "ldexp")) {
      const double x = Convert(Evaluate(*expr.operands[0]), expr.type).real;
      result.real = RoundReal(std::ldexp(x, static_cast<int>(EvaluateInteger(*expr.operands[1]))),
                              *expr.type);
      return true;
    }
  }
  return false;
}

}  // namespace optiml::frontend
