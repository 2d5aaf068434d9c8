// The task's own kernels in double precision (verify/promoted_original.h) beside the references of
// examples/ and suite/, which compute in double as well: where a kernel can be promoted, it must
// say what the reference says, far more closely than floats could.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "task/reference.h"
#include "task/task.h"
#include "verify/promoted_original.h"

namespace optiml {
namespace {

// Of the largest element. Constants that the kernels write as floats are 1e-9 off where the
// references have more digits of them; floats throughout would be 1e-7 off at best.
constexpr double kMostDistance = 1e-8;
// All but four of the 40 tasks: these have outputs of 16 bits or integers.
constexpr int kLeastPromoted = 36;

// The largest distance over the largest element, of all float outputs.
double Distance(const KernelTask& task, const std::vector<Tensor>& promoted,
                const std::vector<Tensor>& expected) {
  double distance = 0;
  double largest = 0;
  size_t i = 0;
  for (const ArgSpec& arg : task.args) {
    if (!arg.is_buffer) {
      continue;
    }
    const Tensor& tensor = promoted[i];
    for (int64_t e = 0; !tensor.bytes.empty() && e < tensor.element_count(); ++e) {
      distance = std::max(distance, std::fabs(tensor.At(e) - expected[i].At(e)));
      largest = std::max(largest, std::fabs(expected[i].At(e)));
    }
    ++i;
  }
  return largest > 0 ? distance / largest : distance;
}

class PromotedTasks : public ::testing::Test {
 protected:
  PromotedTasks()
      : cache_(*TemporaryDirectory::Create("optiml-promoted-tasks-")),
        builder_(MakeNvrtcBuilder({})),
        device_(*EmulatorDevice::Make({})) {}

  // The distance, or the reason why there is none.
  std::variant<double, std::string> Judge(const std::filesystem::path& folder) {
    const Result<KernelTask> task = LoadTask(folder);
    EXPECT_TRUE(task) << task.error().message();
    ReferenceOptions options;
    options.cache_directory = cache_.path();
    const auto reference = MakeHostReference(*task, options);
    EXPECT_TRUE(reference) << reference.error().message();
    const SizeRow& row = task->checked.back();
    const TaskInputs inputs = *MakeInputs(*task, row.sizes, 3);
    auto made = PromotedOriginal::Make(*task, {{row.sizes, inputs.scalars, row.Text()}},
                                       {*builder_, device_->Info().architecture, {}});
    EXPECT_TRUE(made) << made.error().message();
    if (const auto* reason = std::get_if<std::string>(&*made)) {
      return *reason;
    }
    auto outputs =
        std::get<PromotedOriginal>(*made).Run(inputs, 0, uint64_t{4'000'000'000}, *device_);
    EXPECT_TRUE(outputs) << outputs.error().message();
    if (const auto* reason = std::get_if<std::string>(&*outputs)) {
      return *reason;
    }
    const auto expected = (*reference)->Run(inputs);
    EXPECT_TRUE(expected) << expected.error().message();
    return Distance(*task, std::get<std::vector<Tensor>>(*outputs), *expected);
  }

  TemporaryDirectory cache_;
  std::unique_ptr<Builder> builder_;
  std::unique_ptr<EmulatorDevice> device_;
};

TEST_F(PromotedTasks, AgreeWithTheirReferencesAsDoublesDo) {
  if (const auto toolchain = builder_->Toolchain(); !toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  int promoted = 0;
  for (const char* corpus : {"examples", "suite"}) {
    const std::filesystem::path root = std::filesystem::path(OPTIML_SOURCE_DIR) / corpus;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      if (!std::filesystem::exists(entry.path() / "task.toml")) {
        continue;
      }
      const std::string name = fmt::format("{}/{}", corpus, entry.path().filename().string());
      const auto judged = Judge(entry.path());
      if (const double* distance = std::get_if<double>(&judged)) {
        fmt::print("{}: {:.2g}\n", name, *distance);
        EXPECT_LT(*distance, kMostDistance) << name;
        ++promoted;
      } else {
        fmt::print("{}: {}\n", name, std::get<std::string>(judged));
      }
    }
  }
  EXPECT_GE(promoted, kLeastPromoted);
}

}  // namespace
}  // namespace optiml
