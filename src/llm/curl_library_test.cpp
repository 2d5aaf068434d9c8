#include "llm/curl_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CurlLibrary, IsOpenedHere) {
  EXPECT_TRUE(CurlLibrary::Get()) << CurlLibrary::Get().error().message();
}

TEST(CurlLibrary, SaysWhatToDoWhereItIsNot) {
  const auto absent = CurlLibrary::Open("libno-such-curl.so.4");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(absent.error().message(),
              AllOf(HasSubstr("install libcurl4"), HasSubstr("libno-such-curl.so.4")));
  const auto other = CurlLibrary::Open("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(), HasSubstr("libm.so.6 has no curl_global_init"));
}

}  // namespace
}  // namespace optiml
