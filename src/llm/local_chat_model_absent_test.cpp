#include <gtest/gtest.h>

#include "llm/local_chat_model.h"

namespace optiml {
namespace {

TEST(LocalModelAbsent, NamesTheRemedy) {
  EXPECT_FALSE(HasLocalModels());
  const auto model = OpenLocalChatModel("m.gguf");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(model.error().message(),
            "m.gguf: this program was built without local models; ./setup --with-llama builds it "
            "with them");
}

}  // namespace
}  // namespace optiml
