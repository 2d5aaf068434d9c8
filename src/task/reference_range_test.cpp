#include "task/reference_range.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "base/file_system.h"
#include "task/task.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kTask[] = R"TOML([task]
source = "kernel.cu"
entry  = "rows"
[sizes]
timed   = [ { n = 700, mode = 0 } ]
checked = [ { n = 7, mode = 0 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
k = { dtype = "i64", shape = ["ceil_div(n, 2)"], role = "out" }
n = {}
mode = {}
[reference]
kind   = "host"
source = "reference.cpp"
)TOML";

class ReferenceRangeTest : public testing::Test {
 protected:
  ReferenceRangeTest() : folder_(*TemporaryDirectory::Create("optiml-range-test-")) {
    Write("kernel.cu", "extern \"C\" void rows();");
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
    return MakeHostReference(task_, {});
  }
  std::string Check(HostReference& reference, int64_t n, int64_t mode) {
    const TaskInputs inputs = *MakeInputs(task_, {{"n", n}, {"mode", mode}}, 1);
    const auto whole = reference.Run(inputs);
    EXPECT_TRUE(whole) << whole.error().message();
    const auto agrees = CheckReferenceRange(task_, reference, inputs, *whole);
    return agrees ? "agrees" : agrees.error().message();
  }

  const TemporaryDirectory folder_;
  KernelTask task_;
};

// The whole function, and a range function that goes wrong in the way that `mode` names.
constexpr char kReference[] = R"(#include <cmath>
#include <cstdint>
void rows_reference(const float* x, double* y, int64_t* k, int n, int) {
  for (int i = 0; i < n; ++i) { y[i] = i == 4 ? NAN : 3.0 * x[i]; k[i / 2] = (1ll << 60) + i / 2; }
}
// rows_reference_range( in a comment is no function.
void rows_reference_range(int64_t begin, int64_t end, const float* x, double* y, int64_t* k, int n,
                          int mode) {
  for (int64_t i = begin; i < end; ++i) {
    if (mode == 1 && i == 5) continue;
    y[i] = i == 4 ? (mode == 2 ? 0 : NAN) : 3.0 * x[mode == 3 ? i - begin : i] * (1 + 1e-9);
    if (i < (n + 1) / 2) k[i] = (1ll << 60) + i + (mode == 4 ? 1 : 0);
  }
  if (mode == 5) y[n] = 1;
  if (mode == 6 && end == n) y[n - 1] += 1;
}
)";

TEST_F(ReferenceRangeTest, WhatARangeGetsWrongIsNamed) {
  const auto reference = Make(kReference);
  ASSERT_TRUE(reference) << reference.error().message();
  ASSERT_TRUE((*reference)->has_range());
  for (const int64_t n : {0, 1, 2, 3, 7, 700}) {
    EXPECT_EQ(Check(**reference, n, 0), "agrees") << n;
  }
  EXPECT_THAT(Check(**reference, 7, 1),
              StartsWith("reference.cpp:7: rows_reference_range leaves element 5 of y unwritten"));
  EXPECT_THAT(
      Check(**reference, 7, 2),
      AllOf(StartsWith("reference.cpp:7: rows_reference_range on elements [2, 6) gives 0 for "
                       "element 4 of y, rows_reference gives nan"),
            HasSubstr("n=7")));
  EXPECT_THAT(Check(**reference, 7, 3), HasSubstr("for element 2 of y"));
  // Doubles would not tell these integers apart.
  EXPECT_THAT(Check(**reference, 7, 4), HasSubstr("for element 2 of k"));
  EXPECT_THAT(Check(**reference, 7, 5),
              StartsWith("reference.cpp:7: rows_reference_range accesses element 7 of y"));
  EXPECT_THAT(Check(**reference, 7, 6), HasSubstr("on elements [6, 7) gives"));
}

TEST_F(ReferenceRangeTest, TheRangeFunctionTakesWhatTheWholeOneTakes) {
  const std::string whole =
      "void rows_reference(const float* x, double* y, long* k, int n, int) {}\n";
  const auto message = [&](const std::string& range) {
    const auto reference = Make(whole + "void rows_reference_range(" + range + ") {}\n");
    return reference ? "accepted" : reference.error().message();
  };
  EXPECT_EQ(message("long long, const long, const float*, double*, long*, int, int"), "accepted");
  EXPECT_EQ(message("long, long, const float* x, float* y, long* k, int n, int"),
            "reference.cpp:2: rows_reference_range takes (i64, i64, const f32*, f32*, i64*, i32, "
            "i32), expected (i64, i64, const f32*, f64*, i64*, i32, i32): begin, end and what "
            "rows_reference takes");
  EXPECT_THAT(message("const float* x, double* y, long* k, int n, int"),
              StartsWith("reference.cpp:2: rows_reference_range takes (const f32*, "));
  EXPECT_THAT(message(""), StartsWith("reference.cpp:2: rows_reference_range takes (), expected"));
}

TEST_F(ReferenceRangeTest, AFunctionThatOnlyACommentNamesIsNone) {
  const auto reference = Make(
      "// no rows_reference_range(long, long) yet\n"
      "void rows_reference(const float* x, double* y, long* k, int n, int) {}\n");
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_FALSE((*reference)->has_range());
}

TEST(ComparedRanges, ReachTheLastElementAndAnInnerOne) {
  EXPECT_TRUE(ComparedRanges(0).empty());
  for (int64_t count = 1; count < 40; ++count) {
    const auto ranges = ComparedRanges(count);
    ASSERT_FALSE(ranges.empty());
    EXPECT_EQ(ranges.back().second, count);
    for (const auto& [begin, end] : ranges) {
      EXPECT_TRUE(0 <= begin && begin < end && end <= count) << count;
    }
    EXPECT_TRUE(count < 3 || ranges.front().first > 0) << count;
    EXPECT_TRUE(count < 4 || ranges.front().second < count) << count;
  }
}

}  // namespace
}  // namespace optiml
