// The other side of a live run: what a foreign program says, in frames, piece by piece.

#include "frontend/live_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "frontend/recorder/protocol.h"

namespace optiml {
namespace {

using frontend::LiveTrace;
using frontend::RecordedCall;
using frontend::Surroundings;
using recording::BufferAddress;
using ::testing::HasSubstr;

constexpr char kText[] =
    "__global__ void k(const float* x) {}\n"
    "extern \"C\" void run(const float* x) { k<<<1, 32>>>(x); }\n";

std::string Words(std::initializer_list<uint64_t> words) {
  std::string text;
  for (const uint64_t word : words) {
    text.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return text;
}

std::string Frame(const std::string& text, bool waits) {
  return Words({text.size() | (waits ? recording::kFrameWaits : 0)}) + text;
}

class Sevens : public LiveDevice {
 public:
  Result<bool> Begin(size_t) override { return true; }
  Result<std::optional<std::vector<std::byte>>> Read(const LaunchPlan&, const DevicePointer&,
                                                     uint64_t size_bytes) override {
    if (broken) {
      return Error(ErrorCode::kUnavailable, "the device is lost");
    }
    return std::optional(std::vector<std::byte>(size_bytes, std::byte{7}));
  }
  Result<bool> End(const LaunchPlan&) override { return true; }

  bool broken = false;
};

class LiveTraceTest : public ::testing::Test {
 protected:
  LiveTraceTest() {
    auto parsed = ParseSource(KernelSource(kText, "run", "kernel.cu"));
    unit_ = std::get<ast::SourceUnit>(*std::move(parsed));
    for (const ast::Function& function : unit_.functions) {
      if (function.is_kernel) {
        names_.kernels.push_back(function.id);
      } else {
        launcher_ = &function;
      }
    }
    arguments_ = {{"x", true, 400}};
    calls_ = {{&arguments_, false}};
    trace_ = std::make_unique<LiveTrace>(LiveTrace::Of{
        unit_, *launcher_, names_, calls_, Surroundings::kUsual, PlanLimits{}, device_});
  }

  std::string ReadOf(uint64_t size) {
    return Words({recording::kBegin, 0, recording::kRead, 2, BufferAddress(0, false), size, 0});
  }
  std::string Reason(const std::string& output) {
    auto finished = trace_->Finish(output);
    EXPECT_TRUE(finished);
    const auto* refusal = std::get_if<Refusal>(&*finished);
    return refusal == nullptr ? "" : refusal->reason;
  }

  ast::SourceUnit unit_;
  const ast::Function* launcher_ = nullptr;
  frontend::RecordedNames names_;
  std::vector<LauncherArgument> arguments_;
  std::vector<RecordedCall> calls_;
  Sevens device_;
  std::unique_ptr<LiveTrace> trace_;
};

TEST_F(LiveTraceTest, AnswersWhenAFrameIsWholeAndTheProgramWaits) {
  const std::string asks = Frame(ReadOf(4), true);
  for (size_t size = 0; size < asks.size(); ++size) {
    EXPECT_EQ(trace_->Take(asks.substr(0, size)), "") << size;
  }
  EXPECT_EQ(trace_->Take(asks), std::string(4, '\7'));
  const std::string all = asks + Frame(Words({recording::kEnd, 0, 0}), false);
  EXPECT_EQ(trace_->Take(all), "");
  auto finished = trace_->Finish(all);
  ASSERT_TRUE(finished);
  const auto& made = std::get<std::vector<LivePlan>>(*finished);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0].reads.size(), 1u);
  EXPECT_EQ(made[0].reads[0].line, 2);
}

TEST_F(LiveTraceTest, AFrameThatDoesNotWaitIsNotAnswered) {
  EXPECT_EQ(trace_->Take(Frame(ReadOf(4), false)), "");
}

TEST_F(LiveTraceTest, AProgramThatWaitsInTheMiddleOfAnEventIsEnded) {
  const std::string output = Frame(ReadOf(4).substr(0, 24), true);
  EXPECT_EQ(trace_->Take(output), std::nullopt);
  EXPECT_THAT(Reason(output), HasSubstr("garbled"));
}

TEST_F(LiveTraceTest, AReadBeyondItsBufferIsEnded) {
  const std::string output = Frame(ReadOf(404), true);
  EXPECT_EQ(trace_->Take(output), std::nullopt);
  EXPECT_THAT(Reason(output), HasSubstr("copy to the host"));
}

TEST_F(LiveTraceTest, AFrameLongerThanWhatComesIsNoTrace) {
  const std::string output = Words({recording::kFrameWaits - 1, recording::kBegin});
  EXPECT_EQ(trace_->Take(output), "");
  EXPECT_THAT(Reason(output), HasSubstr("ends its process"));
}

TEST_F(LiveTraceTest, ALostDeviceIsAnError) {
  device_.broken = true;
  const std::string output = Frame(ReadOf(4), true);
  EXPECT_EQ(trace_->Take(output), std::nullopt);
  const auto finished = trace_->Finish(output);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message(), "the device is lost");
}

}  // namespace
}  // namespace optiml
