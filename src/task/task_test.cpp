#include "task/task.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/file_system.h"
#include "task/launcher_scan.h"
#include "task/memory_need.h"
#include "task/task_file.h"

namespace optiml {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kKernel[] = R"(// a comment with extern "C" void not_me(int a) {
#define LAUNCH extern "C"
__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) { }
static int helper(int a) { return a; }
extern "C" __global__ void exported(const float* x) { }
extern "C" void softmax(const float* __restrict__ x, float* y, int rows,
                        int cols) {
  softmax_kernel<<<rows, 256>>>(x, y, rows, cols);
}
)";

constexpr char kTask[] = R"([task]
name    = "softmax"
source  = "kernel.cu"
entry   = "softmax"
intent  = "row-wise softmax"

[sizes]
timed   = [ { rows = 64, cols = 128 } ]
checked = [ { rows = 1, cols = 1 }, { rows = 33, cols = 100 } ]

[args]
x    = { dtype = "f32", shape = ["rows", "cols"], fill = "normal" }
y    = { dtype = "f32", shape = ["rows", "cols"], role = "out" }
rows = {}
cols = {}
)";

class TaskTest : public testing::Test {
 protected:
  TaskTest() : folder_(*TemporaryDirectory::Create("optiml-task-test-")) {
    Write("kernel.cu", kKernel);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
  }

  Result<KernelTask> Load(const std::string& toml, const TaskOverrides& overrides = {}) {
    Write("task.toml", toml);
    return LoadTask(folder_.path(), overrides);
  }

  // kTask with one piece replaced.
  static std::string With(const std::string& from, const std::string& to) {
    std::string text = kTask;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  std::string Message(const std::string& toml, const TaskOverrides& overrides = {}) {
    const Result<KernelTask> task = Load(toml, overrides);
    return task ? "loaded" : task.error().message();
  }

  TemporaryDirectory folder_;
};

TEST_F(TaskTest, LoadsEveryPartOfATask) {
  Write("reference.cpp", "");
  const Result<KernelTask> task = Load(std::string(kTask) + R"(
scale = { dtype = "f32", fill = "uniform", min = 0.5, max = 2 }
eps = { dtype = "f32", value = 1e-5 }
ws = { dtype = "u8", shape = ["4 * rows + 1"], role = "workspace" }
idx = { dtype = "i32", shape = ["rows"], fill = "randint", min = 0, max = "cols" }

[reference]
kind = "host"
source = "reference.cpp"

[tolerance]
relative = 1e-5
reduction_length = "cols"
args.y = { absolute = 1e-3 }

[cost]
bytes = "8 * rows * cols"
operations = "5 * rows * cols"

[origin]
repo = "example/kernels"
anything = "free"
)");
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->name, "softmax");
  EXPECT_EQ(task->source.entry(), "softmax");
  std::vector<std::string> names;
  for (const ArgSpec& arg : task->args) {
    names.push_back(arg.name);
  }
  EXPECT_THAT(names, ElementsAre("x", "y", "rows", "cols", "scale", "eps", "ws", "idx"));
  EXPECT_TRUE(task->args[2].is_size);
  EXPECT_EQ(task->args[1].role, ArgRole::kOut);
  EXPECT_EQ(*task->args[5].value, 1e-5);
  EXPECT_EQ(task->args[4].fill.min_value, 0.5);
  EXPECT_EQ(task->args[6].role, ArgRole::kWorkspace);
  EXPECT_EQ(task->checked.size(), 2u);
  EXPECT_EQ(task->checked[1].sizes.at("cols"), 100);
  EXPECT_EQ(task->reference.kind, ReferenceKind::kHost);
  EXPECT_EQ(task->tolerance.per_argument.at("y").absolute, 1e-3);
  EXPECT_EQ(*task->cost.bytes->Evaluate(task->timed[0].sizes), 8 * 64 * 128);
  EXPECT_EQ(task->origin.at("anything"), "free");
  EXPECT_FALSE(task->hash.is_zero());
}

TEST_F(TaskTest, InfersTheOnlyEntryAndDerivesCheckedSizes) {
  const Result<KernelTask> task =
      Load(With("checked = [ { rows = 1, cols = 1 }, { rows = 33, cols = 100 } ]\n", ""));
  ASSERT_TRUE(task) << task.error().message();
  ASSERT_GE(task->checked.size(), 3u);
  EXPECT_EQ(task->checked[0].sizes, (SizeBindings{{"rows", 1}, {"cols", 1}}));
  for (const SizeRow& row : task->checked) {
    EXPECT_LE(row.sizes.at("rows"), 64);
    EXPECT_LE(row.sizes.at("cols"), 128);
  }
  const Result<KernelTask> inferred = Load(With("entry   = \"softmax\"\n", ""));
  ASSERT_TRUE(inferred) << inferred.error().message();
  EXPECT_EQ(inferred->source.entry(), "softmax");
}

TEST_F(TaskTest, HashFollowsWhatChangesResultsAndNothingElse) {
  const ContentHash hash = Load(kTask)->hash;
  EXPECT_EQ(Load(With("row-wise softmax", "other words"))->hash, hash);
  EXPECT_EQ(Load("# a comment\n" + std::string(kTask))->hash, hash);
  EXPECT_NE(Load(With("cols = 100", "cols = 101"))->hash, hash);
  EXPECT_NE(Load(std::string(kTask) + "[tolerance]\nrelative = 1e-3\n")->hash, hash);
  Write("kernel.cu", std::string(kKernel) + "\n// changed\n");
  EXPECT_NE(Load(kTask)->hash, hash);
}

TEST_F(TaskTest, FlagsReplaceSizesAndArguments) {
  TaskOverrides overrides;
  overrides.timed = {{{"rows", 5}, {"cols", 6}}};
  overrides.checked = {{{"rows", 2}, {"cols", 3}}};
  overrides.shapes["x"] = "f16[rows,cols]:in:uniform(0.5,2)";
  const Result<KernelTask> task = Load(kTask, overrides);
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->timed.front().sizes.at("cols"), 6);
  EXPECT_EQ(task->checked.size(), 1u);
  EXPECT_EQ(task->args[0].dtype, DType::kF16);
  EXPECT_EQ(task->args[0].fill.min_value, 0.5);
  overrides.shapes["q"] = "f32[rows]:in";
  EXPECT_THAT(Message(kTask, overrides), HasSubstr("has no such argument"));
}

struct BadTask {
  const char* what;
  const char* from;
  const char* to;
  const char* message;
};

class BadTaskTest : public TaskTest, public testing::WithParamInterface<BadTask> {};

TEST_P(BadTaskTest, IsRefusedWithFileAndLine) {
  const BadTask& bad = GetParam();
  const std::string toml = *bad.from == '\0' ? std::string(kTask) + bad.to : With(bad.from, bad.to);
  const Result<KernelTask> task = Load(toml);
  ASSERT_FALSE(task) << bad.what;
  EXPECT_THAT(task.error().message(), HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(
    Task, BadTaskTest,
    testing::Values(
        BadTask{"syntax", "[sizes]", "[sizes", "task.toml:7: "},
        BadTask{"unknown section", "", "[size]\n",
                "task.toml:16: unknown key \"size\" in the file"},
        BadTask{"unknown key", "intent  =", "purpose =",
                "task.toml:5: unknown key \"purpose\" in [task] (allowed: name, source, entry, "
                "intent, allow_libraries)"},
        BadTask{"unknown arg key", "fill = \"normal\"", "fil = \"normal\"",
                "task.toml:12: unknown key \"fil\" in argument \"x\" (allowed: dtype, shape,"},
        BadTask{"unknown dtype", "x    = { dtype = \"f32\"", "x    = { dtype = \"f23\"",
                "task.toml:12: unknown dtype \"f23\" (known: f16"},
        BadTask{"unknown fill", "\"normal\"", "\"gauss\"",
                "task.toml:12: unknown fill \"gauss\" (known: normal"},
        BadTask{"unknown role", "role = \"out\"", "role = \"output\"",
                "task.toml:13: unknown role \"output\" (known: in out inout workspace)"},
        BadTask{"wrong type", "name    = \"softmax\"", "name = 3",
                "task.toml:2: \"name\" is an integer, expected a string"},
        BadTask{"missing source", "\"kernel.cu\"", "\"other.cu\"",
                "task.toml:3: \"other.cu\": no such file"},
        BadTask{"missing shape", "y    = { dtype = \"f32\", shape = [\"rows\", \"cols\"], role",
                "y = { dtype = \"f32\", role", "task.toml:13: y: role = \"out\" but no shape"},
        BadTask{"neither", "cols = {}\n", "columns = {}\n",
                "task.toml:15: columns: neither a size nor a shape"},
        BadTask{"duplicate", "cols = {}\n", "rows = {}\n", "task.toml:15: "},
        BadTask{"bad expression", "shape = [\"rows\", \"cols\"], fill",
                "shape = [\"rows +\"], fill", "task.toml:12: \"shape\": size expression"},
        BadTask{"unknown size", "shape = [\"rows\", \"cols\"], fill", "shape = [\"n\"], fill",
                "task.toml:12: x: shape at cols=1 rows=1: "},
        BadTask{"negative size", "rows = 33", "rows = -33",
                "task.toml:9: size \"rows\" is -33, sizes are not negative"},
        BadTask{"negative extent", "shape = [\"rows\", \"cols\"], fill",
                "shape = [\"rows - 2\"], fill", "extent \"rows - 2\" is -1 at cols=1 rows=1"},
        BadTask{"overflow of bytes", "timed   = [ { rows = 64", "timed = [ { rows = 2000000000",
                "are more than the 64 GiB"},
        BadTask{"overflow of a product", "shape = [\"rows\", \"cols\"], fill",
                "shape = [\"rows * 9223372036854775807 * 3\"], fill", "task.toml:12: x: shape"},
        BadTask{"size too big for int", "timed   = [ { rows = 64", "timed = [ { rows = 3000000000",
                "size rows = 3000000000 does not fit in the argument's type i32"},
        BadTask{"no rows", "timed   = [ { rows = 64, cols = 128 } ]", "timed = []",
                "task.toml:8: \"timed\" has no rows"},
        BadTask{"no timed", "timed   = [ { rows = 64, cols = 128 } ]", "",
                "task.toml:7: no timed sizes"},
        BadTask{"other names", "{ rows = 33, cols = 100 }", "{ rows = 33 }",
                "task.toml:9: the row \"rows=33\" does not name the sizes"},
        BadTask{"float size", "rows = 33", "rows = 3.5",
                "task.toml:9: size \"rows\" is a number, expected an integer"},
        BadTask{"fill of an output", "role = \"out\"", "role = \"out\", fill = \"normal\"",
                "task.toml:13: y: an argument with role = \"out\" has no fill"},
        BadTask{"no output", "role = \"out\"", "role = \"in\"", "nothing would be checked"},
        BadTask{"empty range", "fill = \"normal\"", "fill = \"uniform\", min = 2, max = \"rows\"",
                "task.toml:12: x: the fill's range is empty at cols=1 rows=1"},
        BadTask{"special", "fill = \"normal\"", "fill = \"special\"",
                "task.toml:12: x: fill = \"special\" needs allow_special = true"},
        BadTask{"value and fill", "cols = {}\n",
                "cols = {}\ns = { dtype = \"f32\", fill = \"uniform\", value = 2 }\n",
                "task.toml:16: s: a scalar has a value or a fill, not both"},
        BadTask{"offsets", "fill = \"normal\"", "fill = \"offsets\"",
                "task.toml:12: x: fill = \"offsets\" needs total"},
        BadTask{"negative tolerance", "", "[tolerance]\nabsolute = -1\n",
                "task.toml:17: \"absolute\" is -1"},
        BadTask{"useless tolerance", "", "[tolerance]\nrelative = 1.5\n",
                "task.toml:17: \"relative\" is 1.5: from 1 on, zeros would pass"},
        BadTask{"contradiction", "",
                "[tolerance]\nrelative = 1e-6\nallow_reduced_precision = true\n",
                "task.toml:18: allow_reduced_precision contradicts relative = 1e-06"},
        BadTask{"tolerance of an input", "", "[tolerance.args]\nx = { absolute = 1 }\n",
                "task.toml:17: \"x\" is no output of the task"},
        BadTask{"reference kind", "", "[reference]\nkind = \"torch\"\n",
                "task.toml:17: unknown reference kind \"torch\""},
        BadTask{"reference without source", "", "[reference]\nkind = \"host\"\n",
                "task.toml:16: kind = \"host\" needs source"},
        BadTask{"reference file missing", "", "[reference]\nkind = \"host\"\nsource = \"r.cpp\"\n",
                "task.toml:18: \"r.cpp\": no such file"},
        BadTask{"recorded without files", "", "[reference]\nkind = \"recorded\"\n",
                "task.toml:16: kind = \"recorded\" needs files"},
        BadTask{"launch without grid", "", "[launch]\nkernel = \"softmax_kernel\"\nblock = [1]\n",
                "task.toml:16: [launch] needs grid"},
        BadTask{"cost", "", "[cost]\nbytes = \"rows - 50\"\n",
                "task.toml:17: cost.bytes \"rows - 50\" is -49 at cols=1 rows=1"},
        BadTask{"cost of an unknown size", "", "[cost]\nbytes = 1\noperations = \"depth\"\n",
                "task.toml:18: cost.operations: at cols=1 rows=1: "},
        BadTask{"reduction length", "",
                "[tolerance]\nrelative = 0.1\n"
                "reduction_length = \"rows - 1\"\n",
                "task.toml:18: tolerance.reduction_length \"rows - 1\" is 0 at"},
        BadTask{"launch extent", "",
                "[launch]\nkernel = \"softmax_kernel\"\ngrid = [\"rows / 2\"]\nblock = [1]\n",
                "task.toml:18: launch.grid \"rows / 2\" is 0 at cols=1 rows=1"},
        BadTask{"entry", "entry   = \"softmax\"", "entry   = \"soft\"",
                "task.toml:4: entry \"soft\": kernel.cu has no host function of that name (its "
                "launcher is \"softmax\", line "}),
    [](const auto& instance) {
      std::string name;
      for (const char* c = instance.param.what; *c != '\0'; ++c) {
        name += *c == ' ' ? '_' : *c;
      }
      return name;
    });

TEST_F(TaskTest, IntegerOutputsTakeNoTolerance) {
  const std::string toml = With("y    = { dtype = \"f32\"", "y    = { dtype = \"i32\"");
  EXPECT_THAT(Message(toml + "[tolerance]\nabsolute = 1\n"),
              HasSubstr("integers are compared exactly"));
}

TEST_F(TaskTest, AKernelWithoutLauncherHasALaunch) {
  const Result<KernelTask> task = Load(With("entry   = \"softmax\"\n", "") + R"toml(
[launch]
kernel = "softmax_kernel"
grid = ["ceil_div(rows, 4)", 2]
block = [128]
dynamic_shared_bytes = "4 * cols"
)toml");
  ;
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->source.entry(), "softmax_kernel");
  ASSERT_TRUE(task->launch.has_value());
  EXPECT_EQ(*task->launch->grid[0].Evaluate({{"rows", 9}, {"cols", 1}}), 3);
}

TEST_F(TaskTest, SizesThatMemoryCannotHoldAreNamedWithWhatTheyNeed) {
  const KernelTask task = *Load(With("rows = 64, cols = 128", "rows = 65536, cols = 16384"));
  // Two buffers of 4 GiB.
  EXPECT_EQ(BufferBytes(task, task.timed.front()), uint64_t{8} << 30);
  EXPECT_TRUE(CheckMemory(task, 8, uint64_t{24} << 30));
  const Result<void> little = CheckMemory(task, 8, uint64_t{23} << 30);
  ASSERT_FALSE(little);
  EXPECT_EQ(little.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(little.error().message(),
            "task.toml:8: the timed row cols=16384 rows=65536 has 8 GiB of buffers and needs about "
            "24 GiB of memory; 23 GiB are free: make the sizes smaller");
  const KernelTask checked = *Load(With("rows = 33, cols = 100", "rows = 32768, cols = 1024"));
  EXPECT_TRUE(CheckMemory(checked, 2, uint64_t{2} << 30));
  EXPECT_THAT(CheckMemory(checked, 8, uint64_t{2} << 30).error().message(),
              HasSubstr("the checked row cols=1024 rows=32768 has 0.25 GiB of buffers and needs "
                        "about 6 GiB"));
}

TEST_F(TaskTest, MissingPathsAndFoldersAreNamed) {
  EXPECT_THAT(LoadTask(folder_.path() / "nothing").error().message(),
              HasSubstr("no such file or folder"));
  EXPECT_THAT(LoadTask(folder_.path()).error().message(), HasSubstr("no task.toml in this folder"));
  Write("kernel.txt", "");
  EXPECT_THAT(LoadTask(folder_.path() / "kernel.txt").error().message(),
              HasSubstr("expected a folder"));
}

TEST_F(TaskTest, AMissingEntryNamesWhatThereIs) {
  Write("kernel.cu", "__global__ void k(float* x) {}\n");
  EXPECT_THAT(
      Message(With("entry   = \"softmax\"\n", "")),
      HasSubstr("no \"entry\" in [task] and none can be inferred: kernel.cu:1: no launcher of k"));
  Write("two.cu", "extern \"C\" void a(int n) {}\nextern \"C\" { void b(int n) {} }\n");
  EXPECT_THAT(LoadTask(folder_.path() / "two.cu").error().message(),
              HasSubstr("several functions with C linkage, name the launcher with entry "
                        "(a (line 1), b (line 2))"));
}

// Found among host functions of C++ linkage by what they do; a line each: the text, and the entry
// or a part of the message.
TEST_F(TaskTest, TheLauncherIsTheHostFunctionThatLaunches) {
  const std::string kernel =
      "template <int B> __global__ void __launch_bounds__(B) k(float* x) {}\n";
  const std::pair<std::string, std::string> found[] = {
      {"void run(float* x, int n) { k<32><<<n, 32>>>(x); }", "run"},
      {"static inline int up(int a) { return a; }\nvoid run(float* x) { k<32><<<up(1), 32>>>(x); }",
       "run"},
      {"namespace a { namespace b {\nvoid run(float* x) { k<32><<<1, 32>>>(x); }\n} }", "run"},
      {"void one(float* x) { k<32><<<1, 32>>>(x); }\nvoid run(float* x) { one(x); one(x); }",
       "run"},
      {"struct S { int n; void run(float* x) { k<1><<<n, 1>>>(x); } };\n"
       "std::vector<int> run(float* x) { S s; s.run(x); k<2><<<1, 2>>>(x); return {}; }",
       "run"},
      {"template <class T> void any(T* x) { k<1><<<1, 1>>>(x); }\nvoid run(float* x) { "
       "any<float>(x); }",
       "run"},
      {"void run(float* x) {\n  cudaLaunchKernel((void*)k<8>, 1, 8, nullptr, 0, 0);\n}", "run"},
      {"int main() { float* x; k<32><<<1, 32>>>(x); }\nvoid run(float* x) { k<8><<<1, 8>>>(x); }",
       "run"},
      {"extern \"C\" int twice(int n) { return 2 * n; }\n"
       "extern \"C\" void run(float* x, int n) { k<8><<<twice(n), 8>>>(x); }",
       "run"},
      {"FORCE_INLINE(1)\n__attribute__((noinline)) void run(float* x) noexcept { k<8><<<1, "
       "8>>>(x); }",
       "run"},
  };
  for (const auto& [text, entry] : found) {
    const Result<ScannedLauncher> launcher = ScanLauncher(kernel + text, "kernel.cu", "");
    ASSERT_TRUE(launcher) << text << "\n" << launcher.error().message();
    EXPECT_EQ(launcher->entry, entry) << text;
    EXPECT_EQ(launcher->parameters.front().name, "x") << text;
  }
  const std::pair<std::string, std::string> refused[] = {
      {"void one(float* x) { k<32><<<1, 32>>>(x); }\nvoid two(float* x) { k<8><<<1, 8>>>(x); }",
       "several functions launch kernels, name the launcher with entry (one (line 2), two (line "
       "3))"},
      {"int main() { float* x; k<32><<<1, 32>>>(x); }",
       "no launcher of k but main, whose sizes and"},
      {"void helper(int n) {}", "no launcher of k: write"},
      {"void S::run(float* x) { k<32><<<1, 32>>>(x); }", "no launcher of k: write"},
      {"template <class T> void run(T* x) { k<32><<<1, 32>>>(x); }", "no launcher of k: write"},
  };
  for (const auto& [text, message] : refused) {
    const Result<ScannedLauncher> launcher = ScanLauncher(kernel + text, "kernel.cu", "");
    ASSERT_FALSE(launcher) << text << launcher->entry;
    EXPECT_THAT(launcher.error().message(), HasSubstr(message)) << text;
  }
  const std::string two = kernel + refused[0].first;
  EXPECT_EQ(ScanLauncher(two, "kernel.cu", "two")->line, 3);
  EXPECT_THAT(ScanLauncher(two, "kernel.cu", "three").error().message(),
              HasSubstr("no host function three(...) (found: one (line 2), two (line 3))"));
}

TEST_F(TaskTest, ALoneSourceIsATaskWhenItsCommentsSaySo) {
  Write("scale.cu", R"(
// optiml: rows=64 cols=128
// optiml: checked rows=3 cols=5
// optiml: arg x=f32[rows,cols]:in:normal
// optiml: arg y=f32[rows,cols]:out
// optiml: intent multiply by a
extern "C" void scale(const float* x, float* y, float a, int rows, int cols) {}
)");
  const Result<KernelTask> task = LoadTask(folder_.path() / "scale.cu");
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->intent, "multiply by a");
  EXPECT_EQ(task->checked.size(), 1u);
  EXPECT_EQ(task->args.size(), 5u);
  EXPECT_TRUE(task->args[2].fill.declared);  // a varies
  EXPECT_EQ(task->reference.kind, ReferenceKind::kOriginal);
}

TEST_F(TaskTest, ALoneSourceTakesItsSizesFromFlags) {
  Write("relu.cu", "extern \"C\" void relu(const float* x, float* y, int n) {}\n");
  TaskOverrides overrides;
  overrides.timed = {{{"n", 4096}}};
  const Result<KernelTask> task = LoadTask(folder_.path() / "relu.cu", overrides);
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->args[0].shape.at(0).text(), "n");
  EXPECT_EQ(task->args[1].role, ArgRole::kOut);
  EXPECT_THAT(
      LoadTask(folder_.path() / "relu.cu").error().message(),
      HasSubstr("relu.cu:1: relu cannot be made a task without more facts: no timed sizes"));
}

TEST_F(TaskTest, WhatAFlagGotWrongNamesTheFlag) {
  TaskOverrides timed;
  timed.timed = {{{"rows", 5}}};
  EXPECT_THAT(Message(kTask, timed),
              StartsWith("--timed rows=5: the row \"rows=5\" does not name the sizes of the first "
                         "timed row (those are: cols, rows)"));
  TaskOverrides checked;
  checked.checked = {{{"rows", 3'000'000'000}, {"cols", 1}}};
  EXPECT_THAT(Message(kTask, checked),
              StartsWith("--checked cols=1 rows=3000000000: task.toml:14: size rows = 3000000000"));
  TaskOverrides arg;
  arg.shapes["x"] = "f16[rows,cols]:in:uniform(2,1)";
  EXPECT_THAT(Message(kTask, arg), StartsWith("--arg x: x: the fill's range is empty"));
  arg.shapes["x"] = "f16[rows,";
  EXPECT_THAT(Message(kTask, arg), StartsWith("--arg x=f16[rows,: missing ]"));
  arg.shapes = {{"rows", "f32[cols]"}};
  EXPECT_THAT(Message(kTask, arg), StartsWith("--arg rows=f32[cols]: this is a size"));
  arg.shapes = {{"y", "size"}};
  EXPECT_THAT(Message(kTask, arg), StartsWith("--arg y=size: no such size"));
  arg.shapes = {{"x", "f32[rows,cols]:special"}};
  EXPECT_THAT(Message(kTask, arg), StartsWith("--arg x=f32[rows,cols]:special: fill special"));

  // The same of a lone source, whose task nobody wrote down.
  Write("relu.cu", "extern \"C\" void relu(const float* x, float* y, int n) {}\n");
  const auto lone = [&](const TaskOverrides& flags) {
    const auto task = LoadTask(folder_.path() / "relu.cu", flags);
    return task ? "" : task.error().message();
  };
  TaskOverrides flags;
  flags.timed = {{{"n", 64}}};
  flags.checked = {{{"m", 5}}};
  EXPECT_THAT(lone(flags), StartsWith("--checked m=5: the row \"m=5\" does not name the sizes"));
  flags.checked = {{{"n", 3'000'000'000}}};
  EXPECT_THAT(lone(flags), StartsWith("--checked n=3000000000: "));
  flags.checked.clear();
  flags.shapes = {{"z", "f32[n]"}};
  EXPECT_THAT(lone(flags), StartsWith("--arg z: relu has no such parameter (relu.cu)"));
  flags.shapes = {{"x", "f32[m]"}};
  EXPECT_THAT(lone(flags), StartsWith("--arg x: x: shape at n="));
  flags.shapes = {{"x", "f99[n]"}};
  EXPECT_THAT(lone(flags), StartsWith("--arg x=f99[n]: unknown dtype"));
  flags.shapes.clear();
  flags.entry = "gelu";
  EXPECT_THAT(lone(flags), StartsWith("--entry gelu: relu.cu: no host function"));
}

TEST_F(TaskTest, AByteOrderMarkIsNoPartOfTheText) {
  const std::string mark = "\xEF\xBB\xBF";
  Write("relu.cu", mark + "// optiml: n=64\nextern \"C\" void relu(float* y, int n) {}\n");
  const Result<KernelTask> task = LoadTask(folder_.path() / "relu.cu");
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_EQ(task->timed.front().sizes.at("n"), 64);
  EXPECT_EQ(task->source.text().substr(0, 5), mark + "//");  // the result keeps it
  Write("relu.cu", mark + "extern \"C\" void relu(float* y, int n) {}\n");
  TaskOverrides flags;
  flags.timed = {{{"n", 64}}};
  EXPECT_TRUE(LoadTask(folder_.path() / "relu.cu", flags));
}

TEST_F(TaskTest, ABadCommentIsNamedWithItsLine) {
  Write("bad.cu", "\n// optiml: rows=x\nextern \"C\" void f(float* y, int rows) {}\n");
  EXPECT_THAT(LoadTask(folder_.path() / "bad.cu").error().message(),
              HasSubstr("bad.cu:2: optiml comment: \"rows=x\" is no size"));
}

TEST_F(TaskTest, InferenceListsWhatIsLeftToFillIn) {
  const std::vector<LauncherFact> facts = {
      {"x", true, true, DType::kF32, 1, ArgRole::kIn, "", {}},
      {"y", true, false, std::nullopt, 1, {}, "it is lost", {}},
      {"rows", false, false, DType::kI32, 1, {}, "", {}},
      {"cols", false, false, DType::kI32, 1, {}, "", {}}};
  const Result<InferredTask> inferred = InferTask("k.cu", kKernel, "softmax", facts, {});
  ASSERT_TRUE(inferred) << inferred.error().message();
  EXPECT_THAT(inferred->missing,
              ElementsAre(HasSubstr("no timed sizes"), HasSubstr("x: no shape"),
                          HasSubstr("y: its element type"), HasSubstr("y: no shape"),
                          HasSubstr("y: no role: it is lost")));
  EXPECT_THAT(inferred->toml, HasSubstr("rows = {}"));
  EXPECT_THAT(inferred->toml, HasSubstr("FILL IN"));
  EXPECT_THAT(Load(inferred->toml).error().message(),
              HasSubstr("sizes.timed.rows is not filled in yet: a whole number"));
}

TEST_F(TaskTest, WhatIsInferredLoads) {
  TaskOverrides overrides;
  overrides.timed = {{{"n", 256}, {"m", 4}}};
  overrides.shapes = {{"a", "i32[n]:in:randint(0,m)"},
                      {"c", "i32[m + 1]:in:offsets(n)"},
                      {"b", "f32[n, m]:inout:constant(2)"}};
  const std::vector<LauncherFact> facts = {{"a", true, true, DType::kI32, 1, {}, "", {}},
                                           {"b", true, false, DType::kF32, 1, {}, "", {}},
                                           {"c", true, true, DType::kI32, 1, {}, "", {}},
                                           {"n", false, false, DType::kI64, 1, {}, "", {}},
                                           {"m", false, false, DType::kI32, 1, {}, "", {}},
                                           {"alpha", false, false, DType::kF32, 1, {}, "", {}}};
  const Result<InferredTask> inferred =
      InferTask(folder_.path() / "kernel.cu", "", "softmax", facts, overrides);
  ASSERT_TRUE(inferred) << inferred.error().message();
  EXPECT_TRUE(inferred->missing.empty());
  const Result<KernelTask> task = Load(inferred->toml);
  ASSERT_TRUE(task) << task.error().message() << "\n" << inferred->toml;
  EXPECT_EQ(task->args[0].fill.max->text(), "m");
  EXPECT_EQ(task->args[1].role, ArgRole::kInOut);
  EXPECT_EQ(task->args[1].fill.value, 2);
  EXPECT_EQ(task->args[2].fill.total->text(), "n");
  EXPECT_EQ(task->args[3].dtype, DType::kI64);
}

TEST_F(TaskTest, ArgumentsAreComparedWithTheLauncher) {
  const KernelTask task = *Load(kTask);
  std::vector<LauncherFact> facts = ScanLauncher(kKernel, "kernel.cu", "softmax")->parameters;
  ASSERT_EQ(facts.size(), 4u);
  EXPECT_TRUE(facts[0].points_to_const);
  EXPECT_TRUE(CheckArguments(task, facts));

  auto changed = facts;
  changed[1].name = "out";
  EXPECT_THAT(
      CheckArguments(task, changed).error().message(),
      HasSubstr("task.toml:13: argument 2 is \"y\", but parameter 2 of softmax is \"out\""));
  changed = facts;
  changed[1].points_to_const = true;
  EXPECT_THAT(CheckArguments(task, changed).error().message(), HasSubstr("points to const"));
  changed = facts;
  changed[0].dtype = DType::kF64;
  EXPECT_THAT(CheckArguments(task, changed).error().message(),
              HasSubstr("x is f32 in the task, but f64 in softmax (kernel.cu:6)"));
  changed = facts;
  changed[0].dtype = std::nullopt;  // void*, float4*
  EXPECT_TRUE(CheckArguments(task, changed));
  changed = facts;
  changed[2].is_pointer = true;
  EXPECT_THAT(CheckArguments(task, changed).error().message(),
              HasSubstr("rows is a scalar in the task, but a pointer"));
  changed = facts;
  changed.pop_back();
  EXPECT_THAT(CheckArguments(task, changed).error().message(),
              HasSubstr("4 arguments in [args], but softmax has 3 parameters"));
}

TEST(ArgText, MalformedTextSaysWhatIsExpected) {
  for (const char* text : {"f32", "f99[n]", "f32[n", "f32[n]:sideways", "f32[n]:out:normal",
                           "f32=abc", "f32[n]:randint(1)", "f32:out"}) {
    const Result<ArgSpec> arg = ParseArgText("x", text);
    ASSERT_FALSE(arg) << text;
    EXPECT_THAT(arg.error().message(), HasSubstr("argument x=")) << text;
  }
}

TEST_F(TaskTest, SamplesAreTheOtherKernelsBesideATask) {
  const Result<KernelTask> task = Load(kTask);
  ASSERT_TRUE(task) << task.error().message();
  EXPECT_TRUE(LoadSamples(*task)->empty());
  std::filesystem::create_directory(folder_.path() / "samples");
  Write("samples/2.cu", "// the second");
  Write("samples/1.cu", "// the first");
  Write("samples/notes.txt", "none");
  const auto samples = LoadSamples(*task);
  ASSERT_TRUE(samples) << samples.error().message();
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ((*samples)[0].text(), "// the first");
  EXPECT_EQ((*samples)[0].path(), "samples/1.cu");
  EXPECT_EQ((*samples)[1].entry(), "softmax");
  // A lone file may lie beside a folder of that name by chance.
  std::filesystem::remove(folder_.path() / "task.toml");
  EXPECT_TRUE(LoadSamples(*task)->empty());
}

}  // namespace
}  // namespace optiml
