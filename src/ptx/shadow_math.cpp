#include "ptx/shadow_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace optiml::ptx {
namespace {

// Leading bits that a sum must lose to count as a cancellation.
constexpr double kCancelledBits = 3;
constexpr double kMostBits = 64;  // when nothing is left

float Narrow(double amount) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isnan(amount)) {
    return std::numeric_limits<float>::infinity();
  }
  return std::isinf(amount) ? static_cast<float>(amount)
                            : static_cast<float>(std::clamp(amount, -kLargest, kLargest));
}

}  // namespace

void Births::Add(int32_t line, double amount) {
  if (amount == 0) {
    return;
  }
  for (int i = 0; i < count_; ++i) {
    if (parts_[i].line == line) {
      parts_[i].amount += amount;
      return;
    }
  }
  if (count_ < kMost) {
    parts_[count_++] = {line, amount};
    return;
  }
  Part* least = std::min_element(parts_, parts_ + kMost, [](const Part& a, const Part& b) {
    return std::fabs(a.amount) < std::fabs(b.amount);
  });
  if (std::fabs(least->amount) < std::fabs(amount)) {
    *least = {line, amount};
  }
}

void Births::Take(const ShadowOperand& operand, double gain) {
  if (operand.shadow == nullptr || gain == 0) {
    return;
  }
  for (const ErrorPart& part : operand.shadow->parts) {
    if (part.amount != 0) {
      Add(part.line, static_cast<double>(part.amount) * gain);
    }
  }
  const double weight = std::fabs(gain * (operand.value - operand.shadow->shadow));
  if (weight > most_taken_) {
    most_taken_ = weight;
    cancelled_line_ = operand.shadow->cancelled_line;
    cancelled_bits_ = operand.shadow->cancelled_bits;
  }
}

void Births::Cancel(int32_t line, double largest, double result) {
  if (most_taken_ <= 0 || !std::isfinite(largest) || largest == 0) {
    return;
  }
  const double bits =
      result == 0 ? kMostBits : std::min(std::log2(largest / std::fabs(result)), kMostBits);
  if (bits >= kCancelledBits && bits > cancelled_bits_) {
    cancelled_line_ = line;
    cancelled_bits_ = bits;
  }
}

void Births::Write(ShadowValue& value) const {
  // The largest ones, by insertion.
  value.parts = {};
  for (int i = 0; i < count_; ++i) {
    ErrorPart part{parts_[i].line, Narrow(parts_[i].amount)};
    for (ErrorPart& place : value.parts) {
      if (std::fabs(part.amount) > std::fabs(place.amount)) {
        std::swap(part, place);
      }
    }
  }
  value.cancelled_line = cancelled_line_;
  value.cancelled_bits = static_cast<uint16_t>(cancelled_bits_);
}

bool HasShadow(AluOp operation) {
  switch (operation) {
    case AluOp::kAdd:
    case AluOp::kSub:
    case AluOp::kMulLo:
    case AluOp::kDiv:
    case AluOp::kFma:
    case AluOp::kMin:
    case AluOp::kMax:
    case AluOp::kNeg:
    case AluOp::kAbs:
    case AluOp::kCopysign:
    case AluOp::kSqrt:
    case AluOp::kRcp:
    case AluOp::kRsqrt:
    case AluOp::kEx2:
    case AluOp::kLg2:
    case AluOp::kSin:
    case AluOp::kCos:
    case AluOp::kTanh:
      return true;
    default:
      return false;
  }
}

double Evaluate(AluOp operation, const double (&x)[3]) {
  switch (operation) {
    case AluOp::kAdd:
      return x[0] + x[1];
    case AluOp::kSub:
      return x[0] - x[1];
    case AluOp::kMulLo:
      return x[0] * x[1];
    case AluOp::kDiv:
      return x[0] / x[1];
    case AluOp::kFma:
      return std::fma(x[0], x[1], x[2]);
    case AluOp::kMin:
      return std::fmin(x[0], x[1]);
    case AluOp::kMax:
      return std::fmax(x[0], x[1]);
    case AluOp::kNeg:
      return -x[0];
    case AluOp::kAbs:
      return std::fabs(x[0]);
    case AluOp::kCopysign:
      return std::copysign(x[1], x[0]);
    case AluOp::kSqrt:
      return std::sqrt(x[0]);
    case AluOp::kRcp:
      return 1 / x[0];
    case AluOp::kRsqrt:
      return 1 / std::sqrt(x[0]);
    case AluOp::kEx2:
      return std::exp2(x[0]);
    case AluOp::kLg2:
      return std::log2(x[0]);
    case AluOp::kSin:
      return std::sin(x[0]);
    case AluOp::kCos:
      return std::cos(x[0]);
    case AluOp::kTanh:
      return std::tanh(x[0]);
    default:
      return x[0];
  }
}

void Derivatives(AluOp operation, const double (&x)[3], double y, double (&gains)[3]) {
  constexpr double kLn2 = 0.6931471805599453;
  const double first = operation == AluOp::kSub        ? 1
                       : operation == AluOp::kMulLo    ? x[1]
                       : operation == AluOp::kFma      ? x[1]
                       : operation == AluOp::kDiv      ? 1 / x[1]
                       : operation == AluOp::kMin      ? (y == x[0] ? 1 : 0)
                       : operation == AluOp::kMax      ? (y == x[0] ? 1 : 0)
                       : operation == AluOp::kNeg      ? -1
                       : operation == AluOp::kAbs      ? (std::signbit(x[0]) ? -1 : 1)
                       : operation == AluOp::kCopysign ? 0
                       : operation == AluOp::kSqrt     ? 0.5 / y
                       : operation == AluOp::kRcp      ? -y * y
                       : operation == AluOp::kRsqrt    ? -0.5 * y * y * y
                       : operation == AluOp::kEx2      ? y * kLn2
                       : operation == AluOp::kLg2      ? 1 / (x[0] * kLn2)
                       : operation == AluOp::kSin      ? std::cos(x[0])
                       : operation == AluOp::kCos      ? -std::sin(x[0])
                       : operation == AluOp::kTanh     ? 1 - y * y
                                                       : 1;
  const double second =
      operation == AluOp::kSub                               ? -1
      : operation == AluOp::kMulLo                           ? x[0]
      : operation == AluOp::kFma                             ? x[0]
      : operation == AluOp::kDiv                             ? -y / x[1]
      : operation == AluOp::kMin || operation == AluOp::kMax ? (first == 0 ? 1 : 0)
      : operation == AluOp::kCopysign ? (std::signbit(x[0]) == std::signbit(x[1]) ? 1 : -1)
                                      : 1;
  gains[0] = first;
  gains[1] = second;
  gains[2] = 1;
}

double Difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) {
    return 0;
  }
  const double difference = a - b;
  return std::isnan(difference) ? HUGE_VAL : difference;
}

}  // namespace optiml::ptx
