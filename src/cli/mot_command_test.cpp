#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(MotCommand, OptionsOfOtherActionsAreRefused) {
  CommandLine line;
  EXPECT_EQ(line.Run({"mot", "inspect", "x.mot.gguf", "--candidates", "2"}), kExitBadUse);
  EXPECT_THAT(line.err.str(),
              HasSubstr("--candidates is for `mot generate`, not for `mot inspect`"));
  EXPECT_EQ(line.Run({"mot", "generate", "x.mot.gguf"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("mot generate needs --prompt FILE"));
  EXPECT_EQ(line.Run({"mot", "init", "x.mot.gguf"}), kExitBadUse);
  EXPECT_EQ(line.Run({"mot", "train", "x.mot.gguf"}), kExitBadUse);
  EXPECT_EQ(line.Run({"mot", "generate", "x", "--prompt", "p", "-n", "0"}), kExitBadUse);
}

#ifndef OPTIML_HAS_MOT
TEST(MotCommand, WithoutLlamaItSaysSo) {
  CommandLine line;
  EXPECT_EQ(line.Run({"mot", "inspect", "x.mot.gguf"}), kExitEnvironment);
  EXPECT_THAT(line.err.str(), HasSubstr("this program was built without llama.cpp"));
}
#endif

}  // namespace
}  // namespace optiml
