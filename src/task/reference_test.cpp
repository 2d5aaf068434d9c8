#include "task/reference.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "base/file_system.h"
#include "base/process.h"
#include "task/task.h"

namespace optiml {
namespace {

using testing::HasSubstr;

constexpr char kTask[] = R"([task]
source = "kernel.cu"
entry  = "axpy"
[sizes]
timed   = [ { n = 8, mode = 0 } ]
checked = [ { n = 5, mode = 0 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
z = { dtype = "f16", shape = ["n"], role = "inout", fill = "small_ints" }
k = { dtype = "i32", shape = [2], role = "out" }
a = { dtype = "f32", fill = "uniform" }
n = {}
mode = {}
[reference]
kind   = "host"
source = "reference.cpp"
)";

constexpr char kSignature[] =
    "extern \"C\" void axpy_reference(const float* x, double* y, double* z, int* k, float a, "
    "int n, int mode)";
constexpr char kGood[] =
    "for (int i = 0; i < n; ++i) { y[i] = double(a) * x[i]; z[i] += 0.125; } k[0] = n; k[1] = 7;";

class ReferenceTest : public testing::Test {
 protected:
  ReferenceTest() : folder_(SharedFolder()) {
    Write("kernel.cu", "extern \"C\" void axpy();");
    Write("task.toml", kTask);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
  }
  Result<std::unique_ptr<HostReference>> Make(const std::string& text) {
    Write("reference.cpp", text);
    const Result<KernelTask> task = LoadTask(folder_.path());
    EXPECT_TRUE(task) << task.error().message();
    task_ = *task;
    ReferenceOptions options;
    options.cache_directory = folder_.path() / "cache";
    options.time_limit_s = 1;
    return MakeHostReference(task_, options);
  }
  // One function that does the thing `mode` asks for: compiled once for many tests.
  std::string RunMode(const std::vector<std::string>& bodies, size_t mode) {
    std::string text = "#include <cstdlib>\n#include <stdexcept>\n";
    text += std::string(kSignature) + " {\n";
    for (size_t i = 0; i < bodies.size(); ++i) {
      text += "if (mode == " + std::to_string(i) + ") {" + bodies[i] + "}\n";
    }
    if (!reference_) {
      auto made = Make(text + "}\n");
      if (!made) {
        return made.error().message();
      }
      reference_ = *std::move(made);
    }
    const auto result =
        reference_->Run(*MakeInputs(task_, {{"n", 5}, {"mode", static_cast<int64_t>(mode)}}, 1));
    return result ? "ran" : result.error().message();
  }

  // Shared, so that equal references are compiled once.
  static const TemporaryDirectory& SharedFolder() {
    static const TemporaryDirectory kFolder = *TemporaryDirectory::Create("optiml-reference-test-");
    return kFolder;
  }

  const TemporaryDirectory& folder_;
  KernelTask task_;
  std::unique_ptr<HostReference> reference_;
};

// One compilation serves the three tests of this text.
std::string GoodReference() {
  return std::string(kSignature) + "{" + kGood + "}\n" +
         "void axpy_reference_range(long begin, long end, const float* x, double* y, double*, "
         "int*, float a, int, int) {\n"
         "  for (long i = begin; i < end; ++i) y[i] = double(a) * x[i]; }\n";
}

TEST_F(ReferenceTest, ComputesInDoubleOnTheInputs) {
  const auto reference = Make(GoodReference());
  ASSERT_TRUE(reference) << reference.error().message();
  const TaskInputs inputs = *MakeInputs(task_, {{"n", 5}, {"mode", 0}}, 1);
  const auto result = (*reference)->Run(inputs);
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_EQ(result->size(), 4u);
  EXPECT_EQ((*result)[1].dtype, DType::kF64);
  for (int64_t i = 0; i < 5; ++i) {
    EXPECT_EQ((*result)[1].At(i), inputs.scalars.at("a") * inputs.buffers[0].At(i));
    EXPECT_EQ((*result)[2].At(i), inputs.buffers[2].At(i) + 0.125);
  }
  EXPECT_EQ((*result)[3].At(0), 5);
  EXPECT_EQ((*result)[3].At(1), 7);
}

TEST_F(ReferenceTest, ARangeComputesSomeElements) {
  const auto reference = Make(GoodReference());
  ASSERT_TRUE(reference) << reference.error().message();
  ASSERT_TRUE((*reference)->has_range());
  const TaskInputs inputs = *MakeInputs(task_, {{"n", 5}, {"mode", 0}}, 1);
  const auto result = (*reference)->RunRange(inputs, 2, 4);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ((*result)[1].At(3), inputs.scalars.at("a") * inputs.buffers[0].At(3));
}

TEST_F(ReferenceTest, SecondUseIsNotCompiledAgain) {
  ASSERT_TRUE(Make(GoodReference()));
  const auto programs = [&] {
    std::map<std::filesystem::path, std::filesystem::file_time_type> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "cache")) {
      found[entry.path()] = entry.last_write_time();
    }
    return found;
  };
  const auto before = programs();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(Make(GoodReference()));
  EXPECT_EQ(programs(), before);
}

TEST_F(ReferenceTest, TakesHalfWordsAndTheKernelsOwnTypes) {
  const auto reference = Make(
      "#include <cstdint>\nvoid axpy_reference(const double* x, float* y, uint16_t* z, "
      "int* k, double a, int64_t n, int) {\n"
      "  for (int i = 0; i < n; ++i) { y[i] = float(x[i]); z[i] = 0x3c00; }\n"
      "  k[0] = k[1] = 1; (void)a; }\n");
  ASSERT_TRUE(reference) << reference.error().message();
  const TaskInputs inputs = *MakeInputs(task_, {{"n", 5}, {"mode", 0}}, 1);
  const auto result = (*reference)->Run(inputs);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ((*result)[1].At(3), inputs.buffers[0].At(3));
  EXPECT_EQ((*result)[2].At(3), 1.0);
}

TEST_F(ReferenceTest, CompileErrorsNameFileAndLine) {
  const auto reference =
      Make("\nextern \"C\" void axpy_reference(const float* x) {\n  nonsense;\n}");
  ASSERT_FALSE(reference);
  EXPECT_THAT(reference.error().message(), testing::StartsWith("reference.cpp:3:3: error: "));
}

TEST_F(ReferenceTest, AMissingFunctionIsNamed) {
  EXPECT_EQ(Make("void other() {}").error().message(),
            "reference.cpp: no function axpy_reference, the reference of axpy");
}

TEST_F(ReferenceTest, DisagreeingParametersAreNamed) {
  EXPECT_THAT(Make("void axpy_reference(const float* x, int n) {}").error().message(),
              HasSubstr("reference.cpp:1: axpy_reference has 2 parameters, but the task has 7"));
  EXPECT_THAT(Make("void axpy_reference(const float* x, int* y, double* z, int* k, float a, int n, "
                   "int) {}")
                  .error()
                  .message(),
              HasSubstr("has i32* for y, expected f32* or f64* (task.toml:9)"));
}

TEST_F(ReferenceTest, WhatGoesWrongInsideIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {std::string(kGood) + "y[n] = 1;", "axpy_reference accesses element 5 of y, which has 5"},
      {std::string(kGood) + "y[0] = x[n];", "accesses element 5 of x, which has 5"},
      {std::string(kGood) + "y[-1] = 1;", "writes before the first element of y"},
      {std::string(kGood) + "const_cast<float*>(x)[2] = 1;", "writes to element 2 of its input x"},
      {"for (int i = 0; i < n; ++i) if (i != 3) y[i] = 1; k[0] = k[1] = 1;",
       "leaves element 3 of y unwritten"},
      // Values that look like the poison, but were computed.
      {"for (int i = 0; i < n; ++i) y[i] = 1; k[0] = 0xA5A5A5A5; k[1] = 0x5A5A5A5A;", "ran"},
      {"std::abort();", "crashed with signal 6"},
      {"volatile int* p = nullptr; *p = 1;", "accesses memory that belongs to no argument"},
      {"for (volatile int i = 0;; ) (void)i;", "did not end within 1 s"},
      {"std::exit(0);", "ended the process without returning"},
      {"std::exit(3);", "ended the process with status 3"},
      {"throw std::runtime_error(\"no\");", "throws: no"},
      // It sees neither the environment nor the task's folder.
      {std::string(kGood) +
           "if (std::getenv(\"HOME\")) throw std::runtime_error(\"sees the environment\");"
           "if (std::system(\"ls " +
           folder_.path().string() +
           "/task.toml 2>/dev/null\") == 0) throw std::runtime_error(\"sees the task\");",
       "ran"},
  };
  std::vector<std::string> bodies;
  for (const auto& [body, message] : cases) {
    bodies.push_back(body);
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_THAT(RunMode(bodies, i), HasSubstr(cases[i].second)) << cases[i].first;
  }
}

// Every run is a new process, though the sandbox stays.
TEST_F(ReferenceTest, NothingOfARunIsLeftForTheNext) {
  Write("reference.cpp",
        "#include <unistd.h>\n#include <signal.h>\nstatic int runs = 0;\n" +
            std::string(kSignature) +
            "{ ++runs; for (int i = 0; i < n; ++i) y[i] = runs; k[0] = k[1] = 1;\n"
            "  if (mode == 1 && fork() == 0) { setsid(); while (true) { sleep(1); } }\n"
            "  if (mode == 2) { kill(0, SIGKILL); }\n"
            "  if (mode == 3) { kill(-1, SIGKILL); kill(getppid(), SIGKILL); }\n}\n");
  task_ = *LoadTask(folder_.path());
  ReferenceOptions options;
  options.cache_directory = folder_.path() / "cache";
  std::unique_ptr<HostReference> reference;
  // The sandbox ends with the thread that made it; what follows makes another.
  std::thread([&] { reference = *MakeHostReference(task_, options); }).join();
  const auto first_of = [&](int mode) {
    const auto result = reference->Run(*MakeInputs(task_, {{"n", 5}, {"mode", mode}}, 1));
    return result ? std::to_string((*result)[1].At(0)) : result.error().message();
  };
  EXPECT_THAT(first_of(0), HasSubstr("1.0"));
  EXPECT_THAT(first_of(0), HasSubstr("1.0"));
  EXPECT_THAT(first_of(1), HasSubstr("1.0"));  // leaves a process behind
  EXPECT_THAT(first_of(2), HasSubstr("crashed with signal 9"));
  EXPECT_THAT(first_of(3), HasSubstr("ended the process with status"));
  EXPECT_THAT(first_of(0), HasSubstr("1.0"));
}

TEST_F(ReferenceTest, EndsWhenTheUserWantsTheEnd) {
  Write("reference.cpp", std::string(kSignature) + "{ for (volatile int i = 0;; ) (void)i; }\n");
  task_ = *LoadTask(folder_.path());
  std::atomic<bool> stop{false};
  ReferenceOptions options;
  options.cache_directory = folder_.path() / "cache";
  options.time_limit_s = 30;
  options.stop = &stop;
  const auto reference = MakeHostReference(task_, options);
  ASSERT_TRUE(reference) << reference.error().message();
  const TaskInputs inputs = *MakeInputs(task_, {{"n", 5}, {"mode", 0}}, 1);
  stop = true;
  const auto result = (*reference)->Run(inputs);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInterrupted) << result.error().message();
}

TEST_F(ReferenceTest, WorksWithoutACacheThatCanBeWritten) {
  Write("reference.cpp", GoodReference());
  task_ = *LoadTask(folder_.path());
  ReferenceOptions options;
  options.cache_directory = folder_.path() / "task.toml" / "cache";  // below a file
  const auto reference = MakeHostReference(task_, options);
  ASSERT_TRUE(reference) << reference.error().message();
  const TaskInputs inputs = *MakeInputs(task_, {{"n", 5}, {"mode", 0}}, 1);
  const auto result = (*reference)->Run(inputs);
  EXPECT_TRUE(result) << result.error().message();
}

}  // namespace
}  // namespace optiml
