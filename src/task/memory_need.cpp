#include "task/memory_need.h"

#include <fmt/format.h>

#include "task/inputs.h"
#include "task/task_file.h"

namespace optiml {
namespace {

// A timed row: its inputs, the contents that are handed over, and the device's own copy.
constexpr uint64_t kCopiesOfTimed = 3;
// A case of a checked row: its inputs and, mostly of outputs in double precision, what is expected.
constexpr uint64_t kCopiesOfCase = 3;

std::string Gibibytes(uint64_t bytes) {
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace

uint64_t BufferBytes(const KernelTask& task, const SizeRow& row) {
  uint64_t total = 0;
  for (const ArgSpec& arg : task.args) {
    const auto shape = ShapeOf(task, arg, row.sizes);
    if (!arg.is_buffer || !shape) {
      continue;
    }
    auto bytes = static_cast<uint64_t>(DTypeBytes(arg.dtype));
    for (const int64_t extent : *shape) {
      bytes *= static_cast<uint64_t>(extent);
    }
    total += bytes;
  }
  return total;
}

Result<void> CheckMemory(const KernelTask& task, uint64_t cases, uint64_t available_bytes) {
  const auto check = [&](const SizeRow& row, uint64_t copies, const char* what,
                         const char* flag) -> Result<void> {
    const uint64_t buffers = BufferBytes(task, row);
    if (buffers <= available_bytes / copies) {
      return {};
    }
    return Error(
        ErrorCode::kUnavailable,
        fmt::format("{}: {} {} has {} of buffers and needs about {} of memory; {} "
                    "are free: make the sizes smaller",
                    WhereSaid(row, flag, "task.toml"), what, row.Text(), Gibibytes(buffers),
                    Gibibytes(buffers * copies), Gibibytes(available_bytes)));
  };
  for (const SizeRow& row : task.checked) {
    OPTIML_TRY(check(row, kCopiesOfCase * cases, "the checked row", "--checked"));
  }
  for (const SizeRow& row : task.timed) {
    OPTIML_TRY(check(row, kCopiesOfTimed, "the timed row", "--timed"));
  }
  return {};
}

}  // namespace optiml
