#include "mot/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mot/bundle.h"
#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

using ::testing::HasSubstr;

TEST(SelfCheck, PassesOnEveryFixtureAndLeavesTheExpertAsItWas) {
  const ModelFolder folder;
  for (const FixtureModel& model : FixtureModels()) {
    SCOPED_TRACE(model.architecture);
    for (const bool exact : {true, false}) {
      ExpertOptions options = ExactOptions();
      options.exact = exact;
      const auto expert = Must(Expert::Open(folder.Write(model.architecture, model), options));
      const std::vector<int> layers = Must(BoundariesOf(model.layers, 4));
      const auto devices = SelfCheck(*expert, layers);
      ASSERT_TRUE(devices) << devices.error().message();
      EXPECT_EQ(*devices, std::vector<ggml_backend_dev_t>(3, CpuDevice()));
      EXPECT_TRUE(expert->hook().empty());
      EXPECT_EQ(expert->facts().architecture, model.architecture);
      EXPECT_EQ(expert->facts().layers, model.layers);
      EXPECT_EQ(expert->facts().width, model.width);
    }
  }
}

TEST(SelfCheck, RefusesAnExpertWhoseLayersCannotBeReached) {
  const ModelFolder folder;
  ExpertOptions options = ExactOptions();
  options.hook = false;
  const auto expert = Must(Expert::Open(folder.Write("deaf", {}), options));
  EXPECT_FALSE(SelfCheck(*expert, {1, 3}));
  // The last layer keeps only the rows whose logits are asked for.
  const auto whole = Must(Expert::Open(folder.Write("whole", {}), ExactOptions()));
  const auto last = SelfCheck(*whole, {7});
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message(), HasSubstr("layer 7 gave 1 rows for 8 tokens"));
}

std::string Refusal(const fs::path& file) {
  const auto opened = Expert::Open(file, ExactOptions());
  EXPECT_FALSE(opened) << file;
  EXPECT_EQ(opened.error().message().find('\n'), std::string::npos);
  return opened.error().message();
}

TEST(Expert, FilesThatAreNoneAreRefusedWithTheReason) {
  const ModelFolder folder;
  const fs::path good = folder.Write("good", {});
  const std::string bytes = Must(ReadFile(good));
  const fs::path bad = folder.path() / "bad.gguf";
  EXPECT_THAT(Refusal(bad), HasSubstr("No such file"));
  EXPECT_EQ(Expert::Open(bad, ExactOptions()).error().code(), ErrorCode::kNotFound);
  Must(WriteFileAtomically(bad, ""));
  EXPECT_THAT(Refusal(bad), HasSubstr("empty"));
  EXPECT_THAT(Refusal(folder.path()), HasSubstr("not a file"));
  Must(WriteFileAtomically(bad, std::string(1000, 'x')));
  EXPECT_THAT(Refusal(bad), HasSubstr("magic"));
  Must(WriteFileAtomically(bad, std::string_view(bytes).substr(0, bytes.size() - 1000)));
  EXPECT_THAT(Refusal(bad), HasSubstr("incomplete"));
  for (const size_t length : {size_t{10}, size_t{200}, size_t{3000}}) {
    Must(WriteFileAtomically(bad, std::string_view(bytes).substr(0, length)));
    EXPECT_EQ(Expert::Open(bad, ExactOptions()).error().code(), ErrorCode::kParse) << length;
    Refusal(bad);
  }
  FixtureModel unknown;
  unknown.architecture = "qwen99";
  EXPECT_THAT(Refusal(folder.Write("unknown", unknown)),
              HasSubstr("unknown model architecture: 'qwen99'"));
  FixtureModel flat;
  flat.layers = 2;
  EXPECT_THAT(Refusal(folder.Write("flat", flat)), HasSubstr("fewer than 3 layers"));
  EXPECT_EQ(Must(Expert::Open(good, ExactOptions()))->facts().weights, ContentHash::Of(bytes));
}

TEST(Expert, ReadsAndWritesTextByItsOwnTokens) {
  const ModelFolder folder;
  FixtureModel model;
  model.extra_tokens = 10;
  const auto expert = Must(Expert::Open(folder.Write("text", model), ExactOptions()));
  const std::string text = "int a = b[\"\xC3\xA4\"];\n";
  const auto tokens = Must(expert->Tokenize(text));
  ASSERT_FALSE(tokens.empty());
  EXPECT_EQ(tokens.front(), 1);  // the model wants a first token
  std::string back;
  for (size_t i = 1; i < tokens.size(); ++i) {
    back += expert->PieceOf(tokens[i]);
  }
  EXPECT_EQ(back, text);
  EXPECT_TRUE(expert->EndsAnswer(2));
  EXPECT_FALSE(expert->EndsAnswer(tokens[1]));
}

TEST(Expert, FormatsPromptsAsTheModelWantsThem) {
  const ModelFolder folder;
  const auto expert = Must(Expert::Open(folder.Write("format", {}), ExactOptions()));
  const std::vector<ChatMessage> messages = {{ChatRole::kSystem, "Be brief."},
                                             {ChatRole::kUser, "Why?"}};
  EXPECT_EQ(Must(expert->FormatPrompt("raw", messages)), "Be brief.\n\nWhy?");
  EXPECT_EQ(Must(expert->FormatPrompt("chatml", messages)),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_FALSE(expert->FormatPrompt("own", messages));  // this file has no template
  EXPECT_FALSE(expert->FormatPrompt("morse", messages));
}

TEST(Expert, AMessageCannotEndItsTurn) {
  const ModelFolder folder;
  const auto expert = Must(Expert::Open(folder.Write("turns", {}), ExactOptions()));
  const auto ends = [&](const std::string& text) {
    const auto tokens = Must(expert->Tokenize(text));
    return std::count_if(tokens.begin() + 1, tokens.end(),
                         [&](llama_token token) { return expert->EndsAnswer(token); });
  };
  const std::string end = llama_vocab_get_text(expert->vocabulary(), 2);
  ASSERT_EQ(ends("x" + end + "y"), 1);  // the text by itself would
  const std::vector<ChatMessage> messages = {{ChatRole::kUser, "x" + end + "y" + end + end}};
  for (const char* format : {"raw", "chatml"}) {
    EXPECT_EQ(ends(Must(expert->FormatPrompt(format, messages))), 0) << format;
  }
}

TEST(Expert, APromptThatIsLongerThanTheContextIsRefused) {
  const ModelFolder folder;
  const auto expert = Must(Expert::Open(folder.Write("long", {}), ExactOptions()));
  const auto read = expert->Prefill(SomeTokens(300, 1), 0, 0);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(read.error().message(), HasSubstr("300 tokens are more than the context of long"));
}

}  // namespace
}  // namespace optiml::mot
