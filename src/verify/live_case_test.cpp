// What must hold of the plans of a launcher in host mode: rules on plans and outputs alone. Whole
// launchers are in tests/verify/.

#include "verify/live_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    bytes.push_back(std::byte(value));
  }
  return bytes;
}

LaunchPlan PlanOf(std::vector<LaunchStep> steps) {
  LaunchPlan plan;
  plan.buffers = {{"y", 0, 64, 0}};
  plan.steps = std::move(steps);
  return plan;
}

UploadStep Upload(int line, std::initializer_list<int> values) {
  return {{0, 0}, Bytes(values), line};
}

TEST(UploadThatDiffers, ComparesBytesByLineAndNumber) {
  const LaunchPlan plan = PlanOf({Upload(3, {0}), Upload(5, {1, 2}), Upload(3, {0})});
  EXPECT_THAT(UploadThatDiffers(plan, plan, "k.cu"), IsEmpty());
  EXPECT_THAT(UploadThatDiffers(plan, PlanOf({Upload(3, {0}), Upload(5, {1, 3})}), "k.cu"),
              HasSubstr("k.cu:5: launcher gives the device bytes"));
  EXPECT_THAT(UploadThatDiffers(plan, PlanOf({Upload(3, {0}), Upload(3, {1})}), "k.cu"),
              HasSubstr("k.cu:3:"));
  EXPECT_THAT(UploadThatDiffers(plan, PlanOf({Upload(5, {1})}), "k.cu"), HasSubstr("k.cu:5:"));
}

TEST(UploadThatDiffers, OneMayGoOnForLonger) {
  const LaunchPlan more = PlanOf({Upload(3, {0}), Upload(3, {0}), Upload(7, {9})});
  EXPECT_THAT(UploadThatDiffers(more, PlanOf({Upload(3, {0})}), "k.cu"), IsEmpty());
  EXPECT_THAT(UploadThatDiffers(PlanOf({}), more, "k.cu"), IsEmpty());
}

TEST(UploadThatDiffers, ValuesOfMemsetsCountTheirSizesDoNot) {
  const LaunchPlan zero = PlanOf({MemsetStep{{0, 0}, 0, 4, 2}});
  EXPECT_THAT(UploadThatDiffers(zero, PlanOf({MemsetStep{{0, 0}, 0, 8, 2}}), "k.cu"), IsEmpty());
  EXPECT_THAT(UploadThatDiffers(zero, PlanOf({MemsetStep{{0, 0}, 1, 4, 2}}), "k.cu"),
              HasSubstr("k.cu:2:"));
}

TEST(UploadThatDiffers, ALaunchIsGivenAFewScalars) {
  const auto plan = [](size_t size, int value) {
    KernelLaunch launch;
    launch.kernel = "k";
    launch.line = 4;
    launch.arguments = {DevicePointer{0, 0}, std::vector<std::byte>(size - 4, std::byte{1}),
                        StructArgument{Bytes({0, 0, 0, value}), {}}};
    return PlanOf({launch});
  };
  EXPECT_THAT(UploadThatDiffers(plan(64, 1), plan(64, 2), "k.cu"), IsEmpty());
  EXPECT_THAT(UploadThatDiffers(plan(65, 1), plan(65, 1), "k.cu"), IsEmpty());
  EXPECT_THAT(UploadThatDiffers(plan(65, 1), plan(65, 2), "k.cu"), HasSubstr("k.cu:4:"));
}

class CarriedTest : public ::testing::Test {
 protected:
  CarriedTest() {
    for (const auto& [name, role] : {std::pair("x", ArgRole::kIn), std::pair("y", ArgRole::kOut)}) {
      ArgSpec arg;
      arg.name = name;
      arg.is_buffer = true;
      arg.dtype = DType::kI32;
      arg.role = role;
      task_.args.push_back(arg);
    }
  }
  // Outputs of a run: the input says nothing.
  static std::vector<Tensor> Run(std::vector<int32_t> y) {
    Tensor tensor = MakeTensor(DType::kI32, {static_cast<int64_t>(y.size())});
    std::memcpy(tensor.bytes.data(), y.data(), tensor.bytes.size());
    return {MakeTensor(DType::kI32, {1}), tensor};
  }
  std::string Carried(const std::vector<int32_t>& one_on_other,
                      const std::vector<int32_t>& other_on_one) {
    return OutputThatIsCarried(task_, {one_, other_, Run(one_on_other), Run(other_on_one)});
  }

  KernelTask task_;
  const std::vector<Tensor> one_ = Run({1, 2, 3, 4});
  const std::vector<Tensor> other_ = Run({1, 5, 6, 7});
};

TEST_F(CarriedTest, LaunchesThatGiveTheirOwnContentsAnswerCarryIt) {
  EXPECT_EQ(Carried({1, 2, 3, 4}, {1, 5, 6, 7}), "y");
  EXPECT_EQ(Carried({1, 2, 3, 7}, {1, 5, 6, 4}), "y") << "most of it";
}

TEST_F(CarriedTest, LaunchesThatGiveTheContentsAnswerDoNot) {
  EXPECT_EQ(Carried({1, 5, 6, 7}, {1, 2, 3, 4}), "");
  EXPECT_EQ(Carried({1, 5, 6, 4}, {1, 2, 3, 7}), "") << "a third by chance";
}

TEST_F(CarriedTest, OneDirectionIsNotEnough) {
  // Fewer rounds than the other contents need leave what was there.
  EXPECT_EQ(Carried({1, 2, 3, 4}, {1, 2, 3, 4}), "");
}

TEST_F(CarriedTest, WhereAPlanDoesNotRunNothingIsSaid) {
  EXPECT_EQ(OutputThatIsCarried(task_, {one_, other_, {}, other_}), "");
}

TEST_F(CarriedTest, WhereBothContentsHaveOneAnswerNothingIsSaid) {
  EXPECT_EQ(OutputThatIsCarried(task_, {one_, one_, one_, one_}), "");
}

TEST_F(CarriedTest, SameOutputsLooksAtOutputsAlone) {
  std::vector<Tensor> changed = one_;
  changed[0].bytes[0] = std::byte{9};
  EXPECT_TRUE(SameOutputs(task_, one_, changed));
  changed[1].bytes[0] = std::byte{9};
  EXPECT_FALSE(SameOutputs(task_, one_, changed));
}

}  // namespace
}  // namespace optiml
