#include "task/inputs.h"

#include <fmt/format.h>

#include "task/fills.h"
#include "task/names.h"
#include "task/npy.h"

namespace optiml {
namespace {

// A host tensor beyond this is a mistake in the sizes, not a task: 64 GiB.
constexpr int64_t kMaxBufferBytes = int64_t{1} << 36;

bool IsFilled(const ArgSpec& arg) {
  return arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut;
}

Result<Tensor> RecordedInput(const KernelTask& task, const ArgSpec& arg,
                             const std::vector<int64_t>& shape) {
  const std::filesystem::path& file = task.reference.recorded.at(arg.name);
  OPTIML_ASSIGN(Tensor tensor, LoadNpy(file));
  OPTIML_TRY(CheckRecorded(tensor, arg, shape, file));
  return tensor;
}

}  // namespace

Result<std::vector<int64_t>> ShapeOf(const KernelTask& task, const ArgSpec& arg,
                                     const SizeBindings& sizes) {
  (void)task;
  std::vector<int64_t> shape;
  const std::string row = SizeRow{sizes, 0}.Text();
  int64_t bytes = static_cast<int64_t>(DTypeBytes(arg.dtype));
  bool overflows = false;
  for (const SizeExpr& extent : arg.shape) {
    const Result<int64_t> value = extent.Evaluate(sizes);
    if (!value) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: shape at {}: {}", arg.name, row, value.error().message()));
    }
    if (*value < 0) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: extent \"{}\" is {} at {}, extents are not negative", arg.name,
                               extent.text(), *value, row));
    }
    overflows |= __builtin_mul_overflow(bytes, *value, &bytes) || bytes > kMaxBufferBytes;
    shape.push_back(*value);
  }
  if (overflows) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {} elements of {} at {} are more than the {} GiB that a buffer "
                             "may have",
                             arg.name, fmt::join(shape, " x "), DTypeName(arg.dtype), row,
                             kMaxBufferBytes >> 30));
  }
  return shape;
}

Result<TaskInputs> MakeInputs(const KernelTask& task, const SizeBindings& sizes, uint64_t seed,
                              std::optional<FillKind> fill) {
  TaskInputs inputs;
  inputs.sizes = sizes;
  const bool recorded = task.reference.kind == ReferenceKind::kRecorded && !fill &&
                        sizes == task.checked.front().sizes;
  for (size_t i = 0; i < task.args.size(); ++i) {
    const ArgSpec& arg = task.args[i];
    // Each argument has numbers of its own: equal inputs would hide swapped ones.
    const uint64_t own_seed = RandomAt(seed, i);
    if (arg.is_buffer) {
      OPTIML_ASSIGN(const std::vector<int64_t> shape, ShapeOf(task, arg, sizes));
      if (recorded && IsFilled(arg)) {
        OPTIML_ASSIGN(Tensor tensor, RecordedInput(task, arg, shape));
        inputs.buffers.push_back(std::move(tensor));
        continue;
      }
      Tensor tensor = MakeTensor(arg.dtype, shape);
      if (IsFilled(arg)) {
        OPTIML_ASSIGN(const ResolvedFill resolved, ResolveFill(arg, sizes, fill));
        FillTensor(resolved, own_seed, tensor);
      }
      inputs.buffers.push_back(std::move(tensor));
    } else if (!arg.is_size) {
      Tensor scalar = MakeTensor(arg.dtype, {});
      if (arg.value) {
        StoreElement(arg.dtype, *arg.value, scalar.bytes.data());
      } else {
        OPTIML_ASSIGN(const ResolvedFill resolved, ResolveFill(arg, sizes, std::nullopt));
        FillTensor(resolved, own_seed, scalar);
      }
      inputs.scalars[arg.name] = scalar.At(0);  // as the argument's type holds it
    }
  }
  const std::string row = SizeRow{sizes, 0}.Text();
  inputs.text = fmt::format(
      "{}{}{}", row, row.empty() ? "" : ", ",
      recorded ? "recorded inputs"
               : fmt::format("{}, seed {}",
                             fill ? fmt::format("fill {}", FillKindName(*fill)) : "declared fills",
                             seed));
  return inputs;
}

}  // namespace optiml
