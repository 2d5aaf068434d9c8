// A trace is what a foreign program wrote: whatever it holds becomes plans or one message.

#include "frontend/recorded_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"
#include "frontend/recorder/protocol.h"

namespace optiml {
namespace {

using frontend::PlansFromTrace;
using frontend::RecordedCall;
using frontend::Surroundings;
using recording::BufferAddress;
using ::testing::HasSubstr;

constexpr char kText[] =
    "__constant__ float w[2];\n"
    "struct Pair { const float* from; int n; float* to; };\n"
    "__global__ void k(const float* x, float* y, int n) {}\n"
    "__global__ void both(Pair p) {}\n"
    "extern \"C\" void run(const float* x, float* y, int n) { k<<<1, 32>>>(x, y, n); }\n";

// Words of a trace.
class Trace {
 public:
  Trace& Put(std::initializer_list<uint64_t> words) {
    for (const uint64_t word : words) {
      text_.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    return *this;
  }
  Trace& Blob(const std::string& bytes) {
    Put({bytes.size()});
    text_ += bytes + std::string((8 - bytes.size() % 8) % 8, '\0');
    return *this;
  }
  // A launch of k with the grid's x.
  Trace& Launch(uint64_t x, uint64_t y, uint64_t grid = 4) {
    Put({recording::kLaunch, 5, 0, grid, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0, 0, 3});
    const auto bytes = [](uint64_t word, size_t size) {
      return std::string(reinterpret_cast<const char*>(&word), size);
    };
    return Blob(bytes(x, 8)).Blob(bytes(y, 8)).Blob(bytes(7, 4));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class RecordedPlanTest : public ::testing::Test {
 protected:
  RecordedPlanTest() {
    auto parsed = ParseSource(KernelSource(kText, "run", "kernel.cu"));
    unit_ = std::get<ast::SourceUnit>(*std::move(parsed));
    for (const ast::Function& function : unit_.functions) {
      if (function.is_kernel) {
        names_.kernels.push_back(function.id);
      } else if (function.name == "run") {
        launcher_ = &function;
      }
    }
    for (const ast::Variable& variable : unit_.variables) {
      if (!variable.name_expression.empty()) {
        names_.symbols.push_back(variable.id);
      }
    }
    for (const char* name : {"x", "y"}) {
      LauncherArgument argument;
      argument.name = name;
      argument.is_buffer = true;
      argument.size_bytes = 400;
      arguments_.push_back(argument);
    }
    arguments_.emplace_back();
    arguments_.back().name = "n";
  }

  // The plans' texts, or the refusal.
  std::string Read(const std::string& trace, size_t calls = 1) {
    const auto plans = PlansFromTrace(unit_, *launcher_, names_,
                                      std::vector<RecordedCall>(calls, {&arguments_, false}),
                                      Surroundings::kUsual, {}, trace);
    if (const auto* refusal = std::get_if<Refusal>(&plans)) {
      return refusal->reason;
    }
    std::string text;
    for (const auto& one : std::get<std::vector<frontend::RecordedPlan>>(plans)) {
      text += one.plan.Format();
    }
    return text;
  }
  std::string Call(const Trace& inside) {
    return Read(Trace().Put({recording::kBegin, 0}).text() + inside.text() +
                Trace().Put({recording::kEnd, 0, 0}).text());
  }

  ast::SourceUnit unit_;
  const ast::Function* launcher_ = nullptr;
  frontend::RecordedNames names_;
  std::vector<LauncherArgument> arguments_;
  const uint64_t x_ = BufferAddress(0, false);
  const uint64_t y_ = BufferAddress(1, false);
  const uint64_t scratch_ = BufferAddress(3, false);  // 2 is the scalar's
};

TEST_F(RecordedPlanTest, BecomesLaunchesWithBuffersAndOffsets) {
  const std::string text = Call(Trace().Launch(x_ + 16, y_));
  EXPECT_THAT(text, HasSubstr("launch k grid 4x1x1"));
  EXPECT_THAT(text, HasSubstr("x+16"));
}

TEST_F(RecordedPlanTest, SeveralCallsOfOneProcessHaveOnePlanEach) {
  Trace trace;
  trace.Put({recording::kBegin, 0}).Launch(x_, y_).Put({recording::kEnd, 0, 0});
  trace.Put({recording::kBegin, 0}).Launch(x_, y_, 9).Put({recording::kEnd, 0, 1});
  EXPECT_THAT(Read(trace.text(), 2), HasSubstr("grid 9x1x1"));
  EXPECT_THAT(Read(trace.text(), 3), HasSubstr("launcher ends its process"));
  EXPECT_THAT(Read(trace.text(), 1), HasSubstr("garbled"));
}

TEST_F(RecordedPlanTest, WhatIsKeptMustBeHeldAtTheEndOfEveryCall) {
  const auto two = [&](bool held_again) {
    Trace trace;
    trace.Put({recording::kBegin, 0, recording::kMalloc, 3, scratch_, 64}).Launch(x_, scratch_);
    trace.Put({recording::kHeld, 0, scratch_, recording::kEnd, 0, 0, recording::kBegin, 0});
    if (held_again) {
      trace.Put({recording::kHeld, 0, scratch_});
    }
    return Read(trace.Put({recording::kEnd, 0, 0}).text(), 2);
  };
  EXPECT_THAT(two(true), HasSubstr("launch k"));
  EXPECT_THAT(two(false), HasSubstr("kernel.cu:3: launcher allocates buffer \"scratch\""));
}

TEST_F(RecordedPlanTest, PaddingOfAStructIsNothing) {
  struct Pair {
    uint64_t from;
    int32_t n;
    uint32_t padding;
    uint64_t to;
  };
  const auto launch = [&](uint32_t padding) {
    const Pair pair{x_, 3, padding, y_ + 8};
    std::string bytes(sizeof(pair), '\0');
    std::memcpy(bytes.data(), &pair, sizeof(pair));
    return Call(Trace()
                    .Put({recording::kLaunch, 6, 1, 1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0, 0, 1})
                    .Blob(bytes));
  };
  EXPECT_THAT(launch(0), HasSubstr("y+8"));
  EXPECT_EQ(launch(0), launch(0x5a5a5a5a));
}

TEST_F(RecordedPlanTest, AFaultOfTheProgramIsTheReasonAndPrintable) {
  EXPECT_EQ(Call(Trace().Put({recording::kFault, 12}).Blob("launcher \x1b[31m does\n it")),
            "kernel.cu:12: launcher ?[31m does? it");
}

struct Wrong {
  const char* name;
  std::vector<uint64_t> words;
  const char* expected;
};

TEST_F(RecordedPlanTest, WhatCannotBeIsRefused) {
  const uint64_t nowhere = BufferAddress(500, false);
  const std::vector<Wrong> cases = {
      {"unknown event", {99, 1}, "garbled"},
      {"no words", {recording::kMemset, 1}, "garbled"},
      {"unknown kernel", {recording::kAttribute, 1, 77, 8, 1}, "garbled"},
      {"unknown symbol", {recording::kSymbol, 1, 5, scratch_}, "garbled"},
      {"another call inside", {recording::kBegin, 1}, "garbled"},
      {"a buffer of another number", {recording::kMalloc, 1, nowhere, 64}, "garbled"},
      {"too much memory", {recording::kMalloc, 1, scratch_, ~uint64_t{0}}, "more than the"},
      {"a pointer to nowhere", {recording::kMemset, 1, nowhere, 0, 4, 0}, "points nowhere"},
      {"null", {recording::kMemset, 1, 0, 0, 4, 0}, "the device pointer is null"},
      {"past the end", {recording::kMemset, 1, y_, 0, 401, 0}, "leave buffer \"y\""},
      {"sizes that wrap", {recording::kMemset, 1, y_ + 8, 0, ~uint64_t{0} - 4, 0}, "leave buffer"},
      {"an argument freed", {recording::kFree, 1, y_}, "frees its argument \"y\""},
      {"freed inside",
       {recording::kMalloc, 1, scratch_, 64, recording::kFree, 1, scratch_ + 8},
       "cudaFree of a pointer that cudaMalloc did not return"},
      {"held by nobody",
       {recording::kMalloc, 7, scratch_, 64},
       "kernel.cu:7: launcher allocates buffer \"scratch\" (64 bytes) here, and ends without "
       "freeing it"},
      {"a holder of nothing", {recording::kHeld, 1, scratch_}, "garbled"},
      {"freed twice",
       {recording::kMalloc, 1, scratch_, 64, recording::kFree, 2, scratch_, recording::kFree, 3,
        scratch_},
       "kernel.cu:3: cudaFree: buffer \"scratch\" (64 bytes) was freed in line 2"},
      {"used after",
       {recording::kMalloc, 1, scratch_, 64, recording::kFree, 1, scratch_, recording::kMemset, 1,
        scratch_, 0, 4, 0},
       "was freed"},
      {"an upload without its bytes", {recording::kUpload, 1, y_, 0, 1 << 20}, "garbled"},
      {"an upload of all bytes", {recording::kUpload, 1, y_, 0, ~uint64_t{0}}, "garbled"},
      {"an unknown attribute", {recording::kAttribute, 1, 0, 99, 1}, "unknown attribute 99"},
  };
  for (const Wrong& wrong : cases) {
    Trace trace;
    for (const uint64_t word : wrong.words) {
      trace.Put({word});
    }
    EXPECT_THAT(Call(trace), HasSubstr(wrong.expected)) << wrong.name;
  }
  EXPECT_THAT(Call(Trace().Launch(nowhere, y_)), HasSubstr("points nowhere"));
  EXPECT_THAT(Call(Trace().Launch(x_, y_, 0)), HasSubstr("empty grid"));
  EXPECT_THAT(Call(Trace().Launch(x_, y_, uint64_t{1} << 40)), HasSubstr("garbled"));
  EXPECT_THAT(Read(""), HasSubstr("launcher ends its process"));
}

TEST_F(RecordedPlanTest, AnyBytesGivePlansOrAMessage) {
  const std::string good = Trace()
                               .Put({recording::kBegin, 0, recording::kMalloc, 3, scratch_, 64})
                               .Launch(x_, scratch_)
                               .Put({recording::kSymbol, 4, 0, BufferAddress(4, false)})
                               .Put({recording::kCopy, 4, y_, x_, 8, 0, recording::kSyncAll, 4})
                               .Put({recording::kHeld, 0, scratch_, recording::kEnd, 0, 0})
                               .text();
  ASSERT_THAT(Read(good), HasSubstr("launch k"));
  Rng rng(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    const size_t changes = 1 + rng.NextBelow(3);
    for (size_t c = 0; c < changes; ++c) {
      bad[rng.NextBelow(bad.size())] = static_cast<char>(rng.NextBelow(256));
    }
    if (rng.NextBelow(4) == 0) {
      bad.resize(rng.NextBelow(bad.size()));
    }
    EXPECT_FALSE(Read(bad).empty());
  }
}

}  // namespace
}  // namespace optiml
