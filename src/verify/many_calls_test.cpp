#include "verify/many_calls.h"

#include <gtest/gtest.h>

namespace optiml {
namespace {

TEST(ManyCalls, VariablesOnTheDeviceAreSeenAndStringsAreNone) {
  EXPECT_TRUE(HasDeviceVariables(".version 8.0\n.visible .global .align 4 .u32 calls;\n"));
  EXPECT_TRUE(HasDeviceVariables(".weak .global .align 4 .u32 _Z5callsIiE;\n"));
  EXPECT_TRUE(HasDeviceVariables("\n.global .align 4 .u32 _ZZ5CallsbE1c;"));
  EXPECT_FALSE(HasDeviceVariables(".global .align 1 .b8 $str[4] = {37, 100, 10};\n"));
  EXPECT_FALSE(HasDeviceVariables(".global .align 1 .b8 __unnamed_1[9] = {1};\n"));
  EXPECT_FALSE(HasDeviceVariables(".const .align 4 .f32 w[9];\n\tld.global.f32 \t%f1, [%rd1];\n"));
  EXPECT_FALSE(HasDeviceVariables(""));
}

TEST(ManyCalls, AreAsManyAsWorkAndMemoryAllow) {
  TaskInputs inputs;
  inputs.buffers.resize(1);
  inputs.buffers[0].bytes.resize(1000);
  constexpr uint64_t kLimit = 1'000'000'000;
  EXPECT_EQ(CallsInOneProcess(inputs, 1'000, kLimit), 300U);
  EXPECT_EQ(CallsInOneProcess(inputs, 100'000, kLimit), 80U);
  EXPECT_EQ(CallsInOneProcess(inputs, 100'000'000, kLimit), 5U);
  EXPECT_EQ(CallsInOneProcess(inputs, 300'000'000, kLimit), 0U);
  EXPECT_EQ(CallsInOneProcess(inputs, 0, kLimit), 5U);
  inputs.buffers[0].bytes.resize(size_t{1} << 20);
  EXPECT_EQ(CallsInOneProcess(inputs, 1'000, kLimit), 15U);
}

}  // namespace
}  // namespace optiml
