#include "prompt/code_reply.h"

#include <gtest/gtest.h>

namespace optiml {
namespace {

TEST(CodeOfReply, TakesTheOnlyBlock) {
  EXPECT_EQ(*CodeOfReply("Here:\n```cuda\nint x;\n```\nDone."), "int x;\n");
  EXPECT_EQ(*CodeOfReply("int x;\n"), "int x;\n");
}

TEST(CodeOfReply, RefusesWhatIsNotOnePieceOfCode) {
  for (const char* reply :
       {"", " \n", "```\n\n```", "```\nint x;", "```int x;", "```\na\n```\n```\nb\n```"}) {
    EXPECT_FALSE(CodeOfReply(reply)) << reply;
  }
}

}  // namespace
}  // namespace optiml
