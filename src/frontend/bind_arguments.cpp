#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontend/frontend.h"

namespace optiml {

namespace {

std::string Place(const KernelTask& task, const ArgSpec& arg) {
  if (arg.line == 0) {
    return fmt::format("argument \"{}\"", arg.name);
  }
  const std::string file = task.folder.empty() ? task.source.path() : "task.toml";
  return fmt::format("{}:{}: argument \"{}\"", file, arg.line, arg.name);
}

Result<uint64_t> BufferBytes(const KernelTask& task, const ArgSpec& arg,
                             const SizeBindings& sizes) {
  uint64_t bytes = DTypeBytes(arg.dtype);
  for (const SizeExpr& extent : arg.shape) {
    auto value = extent.Evaluate(sizes);
    if (!value.has_value()) {
      return std::move(value).error().WithContext(Place(task, arg));
    }
    if (*value < 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: extent \"{}\" is {}, which is negative", Place(task, arg),
                               extent.text(), *value));
    }
    // Offsets into a buffer are signed 64-bit.
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(*value), &bytes) ||
        bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: its size in bytes overflows at extent \"{}\" = {} (at most 2^63-1 "
                      "bytes)",
                      Place(task, arg), extent.text(), *value));
    }
  }
  return bytes;
}

struct IntegerRange {
  double low;
  double high;
};

IntegerRange RangeOf(DType dtype) {
  if (dtype == DType::kBool) {
    return {0, 1};
  }
  const int bits = static_cast<int>(DTypeBytes(dtype)) * 8;
  if (IsSignedInteger(dtype)) {
    return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - (bits < 64 ? 1 : 0)};
  }
  return {0, std::ldexp(1.0, bits) - (bits < 64 ? 1 : 0)};
}

// What a fill gives a scalar when nobody chose a value: the lower end of its range, its constant,
// or 1, which is a legal value of every other fill.
Result<double> FirstValue(const KernelTask& task, const ArgSpec& arg, const SizeBindings& sizes) {
  const Fill& fill = arg.fill;
  switch (fill.kind) {
    case FillKind::kConstant:
      return fill.value;
    case FillKind::kZeros:
      return 0.0;
    case FillKind::kUniform:
    case FillKind::kRandInt: {
      if (fill.min_value.has_value()) {
        return *fill.min_value;
      }
      if (fill.min.has_value()) {
        auto value = fill.min->Evaluate(sizes);
        if (!value.has_value()) {
          return std::move(value).error().WithContext(Place(task, arg));
        }
        return static_cast<double>(*value);
      }
      return 0.0;
    }
    default:
      return 1.0;
  }
}

}  // namespace

Result<std::vector<LauncherArgument>> BindArguments(const KernelTask& task,
                                                    const SizeBindings& sizes,
                                                    const std::map<std::string, double>& scalars) {
  std::vector<LauncherArgument> bound;
  for (const ArgSpec& arg : task.args) {
    LauncherArgument made;
    made.name = arg.name;
    if (arg.is_buffer) {
      made.is_buffer = true;
      OPTIML_ASSIGN(made.size_bytes, BufferBytes(task, arg, sizes));
      bound.push_back(std::move(made));
      continue;
    }
    const auto chosen = scalars.find(arg.name);
    const auto size = sizes.find(arg.name);
    if (arg.is_size && chosen == scalars.end() && size != sizes.end() && !IsFloat(arg.dtype)) {
      // Sizes are exact integers; doubles are not beyond 2^53.
      const IntegerRange range = RangeOf(arg.dtype);
      if (static_cast<double>(size->second) < range.low ||
          static_cast<double>(size->second) > range.high) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: size {} does not fit {}", Place(task, arg), size->second,
                                 DTypeName(arg.dtype)));
      }
      made.value = size->second;
      bound.push_back(std::move(made));
      continue;
    }
    double value = 0;
    if (chosen != scalars.end()) {
      value = chosen->second;
    } else if (arg.value.has_value()) {
      value = *arg.value;
    } else if (arg.is_size) {
      if (size == sizes.end()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: the row of sizes has no \"{}\"", Place(task, arg), arg.name));
      }
      value = static_cast<double>(size->second);
    } else {
      OPTIML_ASSIGN(value, FirstValue(task, arg, sizes));
    }
    if (IsFloat(arg.dtype)) {
      made.value = value;
    } else {
      const IntegerRange range = RangeOf(arg.dtype);
      if (!(value >= range.low && value <= range.high) || value != std::trunc(value)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: value {} does not fit {}", Place(task, arg), value,
                                 DTypeName(arg.dtype)));
      }
      made.value = value >= 9223372036854775808.0
                       ? static_cast<int64_t>(static_cast<uint64_t>(value))
                       : static_cast<int64_t>(value);
    }
    bound.push_back(std::move(made));
  }
  return bound;
}

}  // namespace optiml
