#include "device/cuda/messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace optiml::cuda {
namespace {

TimeMessage Sample() {
  TimeMessage message;
  message.arena_bytes = 12345;
  Job& job = message.jobs.emplace_back();
  job.cubin = {std::byte{1}, std::byte{2}};
  job.kernels = {{"k<float>", "_Z1kIfEvv"}};
  job.plan.buffers = {{"x", 0, 64, 3}, {"tmp", -1, 128, 4, "table"}};
  KernelLaunch launch;
  launch.kernel = "k<float>";
  launch.grid = {5, 6, 7};
  launch.cluster = {2, 1, 1};
  launch.cooperative = true;
  TensorMapArgument map;
  map.tensor = {0, 16};
  map.dimensions = {8, 9};
  map.box = {4, 4};
  StructArgument fields;
  fields.bytes.resize(24);
  fields.pointers = {{8, {1, 32}}};
  launch.arguments = {DevicePointer{0, 4}, std::vector<std::byte>{std::byte{9}}, fields, map};
  job.plan.steps = {AttributeStep{"k<float>", "MaxDynamicSharedMemorySize", 70000, 2},
                    MemsetStep{{0, 0}, 7, 64, 3}, CopyStep{{0, 0}, {1, 0}, 8, 4},
                    UploadStep{{1, 8}, {std::byte{3}}, 5}, launch};
  message.sets = {{{{{0, 1, true}, {-1, 2, false}}, {-1, 4096}, {-1, 8192}}}};
  return message;
}

TEST(Messages, EveryKindOfPlanComesThrough) {
  const TimeMessage message = Sample();
  const Result<TimeMessage> back = DecodeTimeMessage(Encode(message));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->jobs[0].plan.Format(), message.jobs[0].plan.Format());
  EXPECT_EQ(back->jobs[0].kernels[0].lowered_name, "_Z1kIfEvv");
  EXPECT_EQ(back->jobs[0].plan.buffers[1].symbol, "table");
  EXPECT_EQ(std::get<KernelLaunch>(back->jobs[0].plan.steps[4]).arguments,
            std::get<KernelLaunch>(message.jobs[0].plan.steps[4]).arguments);
  EXPECT_TRUE(back->sets[0][0].before[0].is_read_only);
  EXPECT_EQ(back->sets[0][0].after[1], 4096);
  EXPECT_EQ(back->sets[0][0].after_other[1], 8192);
}

TEST(Messages, CutOrLongerBytesAreAnError) {
  std::vector<std::byte> bytes = Encode(Sample());
  for (const size_t size : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_FALSE(DecodeTimeMessage({bytes.begin(), bytes.begin() + static_cast<long>(size)}));
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeTimeMessage(bytes));
}

TEST(Messages, TheSocketSaysWhenNothingCame) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Message message;
  EXPECT_EQ(Receive(ends[0], 1, message), Received::kTimedOut);
  ASSERT_TRUE(Send(ends[1], MessageKind::kRun, {std::byte{5}}));
  EXPECT_EQ(Receive(ends[0], 1000, message), Received::kMessage);
  EXPECT_EQ(message.kind, MessageKind::kRun);
  EXPECT_EQ(message.bytes, std::vector<std::byte>{std::byte{5}});
  close(ends[1]);
  EXPECT_EQ(Receive(ends[0], 1000, message), Received::kClosed);
  EXPECT_FALSE(Send(ends[0], MessageKind::kRun, {}));
  close(ends[0]);
}

}  // namespace
}  // namespace optiml::cuda
