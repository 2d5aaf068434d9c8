#include "task/reference_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/names.h"

namespace optiml {
namespace {

// Both forms compute in double and may sum in another order. What they may differ by is far below
// what a candidate is granted: a few roundings of the output's type, and in double, where sums that
// cancel show, still a million times less than a wrong term.
constexpr double kRoundings = 4;
constexpr double kDoubleAgreement = 0x1p-30;

// Whether element e of an output of the task's `dtype` is the same in both.
bool Agree(DType dtype, const Tensor& whole, const Tensor& part, int64_t e, double typical) {
  if (!IsFloat(dtype)) {
    const size_t at = static_cast<size_t>(e) * DTypeBytes(dtype);
    return LoadInteger(dtype, whole.bytes.data() + at) ==
           LoadInteger(dtype, part.bytes.data() + at);
  }
  const double a = whole.At(e);
  const double b = part.At(e);
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  const double agreement =
      dtype == DType::kF64 ? kDoubleAgreement : kRoundings * UnitRoundoff(dtype);
  // Equal infinities are equal; others agree with nothing.
  return a == b || std::fabs(a - b) <= agreement * std::max(std::fabs(a), typical);
}

}  // namespace

std::vector<std::pair<int64_t, int64_t>> ComparedRanges(int64_t count) {
  if (count == 0) {
    return {};
  }
  const int64_t begin = count / 3;
  const int64_t end = std::max(begin + 1, count - count / 4);
  if (end == count) {
    return {{begin, end}};
  }
  return {{begin, end}, {count - 1, count}};
}

Result<void> CheckReferenceRange(const KernelTask& task, HostReference& reference,
                                 const TaskInputs& inputs, const std::vector<Tensor>& whole) {
  OPTIML_CHECK(reference.has_range(), "the reference has no range function");
  std::vector<const ArgSpec*> args;  // by buffer argument
  for (const ArgSpec& arg : task.args) {
    if (arg.is_buffer) {
      args.push_back(&arg);
    }
  }
  int64_t longest = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    longest = IsOutput(*args[i]) ? std::max(longest, whole[i].element_count()) : longest;
  }
  for (const auto& [begin, end] : ComparedRanges(longest)) {
    OPTIML_ASSIGN(const std::vector<Tensor> part, reference.RunRange(inputs, begin, end));
    for (size_t i = 0; i < args.size(); ++i) {
      if (!IsOutput(*args[i])) {
        continue;
      }
      const double typical = IsFloat(args[i]->dtype) ? RootMeanSquare(whole[i]) : 0;
      for (int64_t e = begin; e < std::min(end, whole[i].element_count()); ++e) {
        if (!Agree(args[i]->dtype, whole[i], part[i], e, typical)) {
          const std::string symbol = task.source.entry() + "_reference";
          const Result<std::string> text = ReadFile(task.reference.source);
          return Error(
              ErrorCode::kInvalidArgument,
              fmt::format("{}:{}: {}_range on elements [{}, {}) gives {} for element {} of "
                          "{}, {} gives {} ({})",
                          task.reference.source.filename().string(),
                          text ? FunctionLine(*text, symbol + "_range").value_or(1) : 1, symbol,
                          begin, end, part[i].At(e), e, args[i]->name, symbol, whole[i].At(e),
                          inputs.text));
        }
      }
    }
  }
  return {};
}

}  // namespace optiml
