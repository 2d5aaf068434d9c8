// The tasks under examples/ load, and their references compute on their checked sizes.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/reference.h"
#include "task/task.h"

namespace optiml {
namespace {

TEST(Examples, LoadAndTheirReferencesRun) {
  const TemporaryDirectory cache = *TemporaryDirectory::Create("optiml-examples-test-");
  int tasks = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OPTIML_SOURCE_DIR "/examples")) {
    if (!entry.is_directory()) {
      continue;
    }
    SCOPED_TRACE(entry.path().filename().string());
    ++tasks;
    const Result<KernelTask> task = LoadTask(entry.path());
    ASSERT_TRUE(task) << task.error().message();
    EXPECT_FALSE(task->intent.empty());
    EXPECT_TRUE(task->cost.bytes && task->cost.operations);
    const auto launcher =
        ScanLauncher(task->source.text(), task->source.path(), task->source.entry());
    ASSERT_TRUE(launcher) << launcher.error().message();
    EXPECT_TRUE(CheckArguments(*task, launcher->parameters));
    ReferenceOptions options;
    options.cache_directory = cache.path();
    const auto reference = MakeHostReference(*task, options);
    ASSERT_TRUE(reference) << reference.error().message();
    for (const SizeRow& row : task->checked) {
      const auto inputs = MakeInputs(*task, row.sizes, 1);
      ASSERT_TRUE(inputs) << inputs.error().message();
      const auto outputs = (*reference)->Run(*inputs);
      EXPECT_TRUE(outputs) << outputs.error().message();
    }
  }
  EXPECT_GE(tasks, 8);
}

// The text between the first fence that opens with `fence` and its end.
std::string CodeBlock(const std::string& text, const std::string& fence) {
  const size_t begin = text.find(fence) + fence.size();
  return text.substr(begin, text.find("\n```", begin) - begin + 1);
}

TEST(Examples, TheOneOfTheFormatsDescriptionLoadsAndRuns) {
  const Result<std::string> page = ReadFile(OPTIML_SOURCE_DIR "/docs/task_format.md");
  ASSERT_TRUE(page) << page.error().message();
  const TemporaryDirectory folder = *TemporaryDirectory::Create("optiml-format-test-");
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "task.toml", CodeBlock(*page, "```toml\n")));
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "reference.cpp", CodeBlock(*page, "```cpp\n")));
  ASSERT_TRUE(
      WriteFileAtomically(folder.path() / "kernel.cu", "extern \"C\" void scaled_softmax();"));
  const Result<KernelTask> task = LoadTask(folder.path());
  ASSERT_TRUE(task) << task.error().message();
  const auto reference = MakeHostReference(*task, {});
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_TRUE((*reference)->Run(*MakeInputs(*task, task->checked[1].sizes, 1)));
}

}  // namespace
}  // namespace optiml
