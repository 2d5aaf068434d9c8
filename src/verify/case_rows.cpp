#include "verify/case_rows.h"

#include <algorithm>
#include <array>

#include "task/inputs.h"

namespace optiml {
namespace {

// Of our own row, from large to small; powers of two, so that halving keeps divisibility.
constexpr std::array<int64_t, 6> kAlignedLimits = {1024, 512, 256, 128, 64, 32};
constexpr double kAlignedElements = 40'000;

// A row of ours with one long extent: as long as still runs fast. The first is beyond 16 bits.
constexpr std::array<int64_t, 11> kLongExtents = {131'072, 65'536, 32'768, 16'384, 8192, 4096,
                                                  2048,    1024,   512,    256,    128};
constexpr int64_t kShortExtent = 8;
// Of leading dimensions: each of their values is often a block of its own, however short its row.
constexpr int64_t kLongLeadingExtent = 512;
constexpr double kLongElements = 300'000;
constexpr double kLongOperations = 4e6;

int64_t HalvedTo(int64_t extent, int64_t limit) {
  while (extent > limit && extent % 2 == 0) {
    extent /= 2;
  }
  return std::min(extent, limit);
}

// Whether our emulator runs it fast and every buffer has elements.
bool IsQuick(const KernelTask& task, const SizeBindings& sizes) {
  for (const ArgSpec* arg : BufferArgs(task)) {
    const auto shape = ShapeOf(task, *arg, sizes);
    if (!shape || std::any_of(shape->begin(), shape->end(), [](int64_t e) { return e < 1; })) {
      return false;
    }
  }
  if (Elements(task, sizes) > kLongElements) {
    return false;
  }
  const auto operations =
      task.cost.operations ? task.cost.operations->Evaluate(sizes) : Result<int64_t>(int64_t{0});
  return operations && static_cast<double>(*operations) <= kLongOperations;
}

// Whether the size is of leading dimensions only.
bool IsLeading(const KernelTask& task, const std::string& size) {
  bool leads = false;
  for (const ArgSpec* arg : BufferArgs(task)) {
    for (size_t d = 0; arg->shape.size() > 1 && d < arg->shape.size(); ++d) {
      const std::vector<std::string> names = arg->shape[d].Names();
      if (std::find(names.begin(), names.end(), size) == names.end()) {
        continue;
      }
      if (d + 1 == arg->shape.size()) {
        return false;
      }
      leads = true;
    }
  }
  return leads;
}

}  // namespace

std::vector<const ArgSpec*> BufferArgs(const KernelTask& task) {
  std::vector<const ArgSpec*> args;
  for (const ArgSpec& arg : task.args) {
    if (arg.is_buffer) {
      args.push_back(&arg);
    }
  }
  return args;
}

double Elements(const KernelTask& task, const SizeBindings& sizes) {
  double total = 0;
  for (const ArgSpec* arg : BufferArgs(task)) {
    const auto shape = ShapeOf(task, *arg, sizes);
    double count = 1;
    for (const int64_t extent : shape ? *shape : std::vector<int64_t>{}) {
      count *= static_cast<double>(extent);
    }
    total += count;
  }
  return total;
}

std::vector<SizeRow> LongRows(const KernelTask& task, const std::vector<SizeRow>& others) {
  std::vector<SizeRow> rows;
  const SizeBindings& timed = task.timed.front().sizes;
  for (const auto& [name, value] : timed) {
    int64_t known = 0;
    for (const SizeRow& row : others) {
      const auto found = row.sizes.find(name);
      known = std::max(known, found == row.sizes.end() ? 0 : found->second);
    }
    const bool is_leading = IsLeading(task, name);
    for (const int64_t extent : kLongExtents) {
      if (is_leading && extent > kLongLeadingExtent) {
        continue;
      }
      SizeRow row;
      for (const auto& [other, of_other] : timed) {
        row.sizes[other] = HalvedTo(of_other, other == name ? extent : kShortExtent);
      }
      if (row.sizes[name] <= known) {
        break;
      }
      if (IsQuick(task, row.sizes)) {
        rows.push_back(std::move(row));
        break;
      }
    }
  }
  return rows;
}

std::optional<SizeRow> AlignedRow(const KernelTask& task) {
  for (const int64_t limit : kAlignedLimits) {
    SizeRow row;
    for (const auto& [name, value] : task.timed.front().sizes) {
      row.sizes[name] = HalvedTo(value, limit);
    }
    if (Elements(task, row.sizes) <= kAlignedElements) {
      const bool is_new =
          std::none_of(task.checked.begin(), task.checked.end(),
                       [&](const SizeRow& checked) { return checked.sizes == row.sizes; });
      return is_new ? std::optional<SizeRow>(row) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace optiml
