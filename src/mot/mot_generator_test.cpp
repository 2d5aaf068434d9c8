#include "mot/mot_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mot/mot_chat_model.h"
#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

using ::testing::HasSubstr;

PromptViews Request(const std::string& text) {
  PromptViews views;
  views.messages = {{ChatRole::kUser, text}};
  views.parts = {{"ptx", "ld.global.f32"}, {"profile", "bound by memory"}};
  return views;
}

GenerateOptions Sampled(uint64_t seed, int width = 0) {
  GenerateOptions options;
  options.sampling.max_tokens = 12;
  options.sampling.temperature = 1;
  options.sampling.seed = seed;
  options.width = width;
  return options;
}

std::vector<std::string> Texts(const Generated& generated) {
  std::vector<std::string> texts;
  for (const Candidate& candidate : generated.candidates) {
    texts.push_back(candidate.text);
  }
  return texts;
}

class GeneratorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { place_ = new Workplace(ThreeModels()); }
  static void TearDownTestSuite() { delete place_; }

  GeneratorTest() : trained_(place_->bundle) { Train(trained_, 9); }

  std::unique_ptr<MotGenerator> Open(const Bundle& bundle, MotOptions options = {}) {
    options.pool.expert = ExactOptions();
    return Must(MotGenerator::Open(bundle, place_->files, options));
  }
  std::string WhyNot(const Bundle& bundle, MotOptions options) {
    options.pool.expert = ExactOptions();
    const auto opened = MotGenerator::Open(bundle, place_->files, options);
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().message();
  }

  static Workplace* place_;
  Bundle trained_;
};

Workplace* GeneratorTest::place_ = nullptr;

TEST_F(GeneratorTest, CandidateIOfNIsTheSingleRunWithItsSeedAtTheSameWidth) {
  auto generator = Open(trained_);
  const auto four = Must(generator->Generate(Request("softmax"), 4, Sampled(100, 4)));
  ASSERT_EQ(four.candidates.size(), 4U);
  for (uint64_t i = 0; i < 4; ++i) {
    const auto one = Must(generator->Generate(Request("softmax"), 1, Sampled(100 + i, 4)));
    EXPECT_EQ(Texts(one)[0], Texts(four)[i]) << i;
    EXPECT_TRUE(one.prompt_reused);
    EXPECT_EQ(one.candidates[0].tokens, four.candidates[i].tokens);
  }
  EXPECT_NE(Texts(four)[0], Texts(four)[1]);
  // A fresh generator gives the same as one with a history.
  EXPECT_EQ(Texts(Must(Open(trained_)->Generate(Request("softmax"), 4, Sampled(100, 4)))),
            Texts(four));
}

TEST_F(GeneratorTest, AnUntrainedBundleAndNoMixtureWriteWhatThePrimaryWrites) {
  MotOptions alone;
  alone.mixture = false;
  const auto plain = Must(Open(trained_, alone)->Generate(Request("scan"), 3, Sampled(1)));
  EXPECT_EQ(plain.view_tokens, 0);
  EXPECT_EQ(plain.candidates[0].tokens + (plain.candidates[0].cut ? 0 : 1) > 0, true);
  EXPECT_EQ(Texts(Must(Open(place_->bundle)->Generate(Request("scan"), 3, Sampled(1)))),
            Texts(plain));
  const auto mixed = Must(Open(trained_)->Generate(Request("scan"), 3, Sampled(1)));
  EXPECT_NE(Texts(mixed), Texts(plain));
  EXPECT_GT(mixed.view_tokens, 0);
}

TEST_F(GeneratorTest, CachedPromptsServeTheirOwnRouteAlone) {
  auto generator = Open(trained_);
  const auto first = Must(generator->Generate(Request("sort"), 2, Sampled(5)));
  EXPECT_FALSE(first.prompt_reused);
  EXPECT_TRUE(Must(generator->Generate(Request("sort"), 2, Sampled(6))).prompt_reused);
  // The same prompt for the primary; a peer's view is another one.
  PromptViews other = Request("sort");
  other.parts["profile"] = "bound by latency";
  const auto changed = Must(generator->Generate(other, 2, Sampled(5)));
  EXPECT_EQ(changed.prompt_tokens, first.prompt_tokens);
  EXPECT_FALSE(changed.prompt_reused);
  EXPECT_EQ(Texts(changed), Texts(Must(Open(trained_)->Generate(other, 2, Sampled(5)))));
  EXPECT_EQ(Texts(Must(generator->Generate(Request("sort"), 2, Sampled(5)))), Texts(first));
}

TEST_F(GeneratorTest, EachExpertReadsItsView) {
  const auto tokens = [&](const PromptViews& views, MotOptions options) {
    return Must(Open(trained_, options)->Generate(views, 1, Sampled(1))).view_tokens;
  };
  MotOptions two;
  two.top_k = 2;
  PromptViews without = Request("x");
  without.parts.clear();
  // "star" reads prompt and PTX; "lama" the profile, and has nothing to read without one.
  EXPECT_EQ(tokens(without, {}), tokens(without, two));
  MotOptions other;
  other.views = {{"star", {"profile"}}, {"lama", {}}};
  EXPECT_LT(tokens(Request("x"), other), tokens(Request("x"), {}));
}

TEST_F(GeneratorTest, AnswerTimePeersReadOnAndTheAnswersAreRepeatable) {
  Bundle bundle = trained_;
  for (const PeerMode mode : {PeerMode::kAligned, PeerMode::kAttention}) {
    MotOptions options;
    options.mode = mode;
    auto generator = Open(bundle, options);
    const auto two = Must(generator->Generate(Request("gemm"), 2, Sampled(7)));
    EXPECT_EQ(Texts(Must(generator->Generate(Request("gemm"), 2, Sampled(7)))), Texts(two));
    EXPECT_EQ(Texts(Must(generator->Generate(Request("gemm"), 1, Sampled(8))))[0], Texts(two)[1]);
    EXPECT_NE(Texts(two), Texts(Must(Open(bundle)->Generate(Request("gemm"), 2, Sampled(7)))));
  }
}

TEST_F(GeneratorTest, TheSmallestExpertsRowsRouteWithoutAnotherModel) {
  UntrainedOptions options = SmallOptions();
  options.encoder = "hidden-mean";
  Workplace place(ThreeModels(), options);
  Rng rng(3);
  FillRandom(place.bundle.router.output, 2, rng);
  MotOptions opened;
  opened.pool.expert = ExactOptions();
  auto generator = Must(MotGenerator::Open(place.bundle, place.files, opened));
  const Route route = Must(generator->RouteOf(Request("softmax")));
  EXPECT_EQ(route.scores.size(), 3U);
  EXPECT_EQ(Must(generator->RouteOf(Request("softmax"))).scores, route.scores);
  EXPECT_NE(Must(generator->RouteOf(Request("histogram"))).scores, route.scores);
  EXPECT_FALSE(Must(generator->Generate(Request("softmax"), 1, Sampled(1))).candidates.empty());
}

TEST_F(GeneratorTest, OptionsThatTheBundleCannotFollowAreRefused) {
  MotOptions options;
  options.primary = "star";
  EXPECT_EQ(WhyNot(trained_, options), "expert star cannot be the primary");
  options.primary = "nobody";
  EXPECT_EQ(WhyNot(trained_, options),
            "the bundle has no expert \"nobody\" (it has: writer star lama)");
  options = {};
  options.depths = {1, 4};
  EXPECT_EQ(WhyNot(trained_, options), "no boundary 4 (1 to 3)");
  options = {};
  options.top_k = 4;
  EXPECT_EQ(WhyNot(trained_, options), "4 experts cannot take part (1 to 3)");
  options = {};
  options.views = {{"lama", {"sass"}}};
  EXPECT_THAT(WhyNot(trained_, options), HasSubstr("unknown part \"sass\""));
  Bundle bert = trained_;
  bert.router.encoder = "bert";
  EXPECT_EQ(WhyNot(bert, {}), "the bundle's router needs its encoder's file");
}

TEST_F(GeneratorTest, ExpertsThatAreMissingOrOthersAreRefused) {
  MotOptions options;
  options.pool.expert = ExactOptions();
  const auto why = [&](const ExpertFiles& files) {
    const auto opened = MotGenerator::Open(trained_, files, options);
    EXPECT_FALSE(opened);
    return opened ? "" : opened.error().message();
  };
  ExpertFiles files = place_->files;
  files.erase("star");
  EXPECT_EQ(why(files), "expert star is missing: no file is named for it");
  files["star"] = place_->folder.path() / "gone.gguf";
  EXPECT_THAT(why(files), HasSubstr("expert star: "));
  FixtureModel other = FixtureModels()[2];
  other.seed = 77;
  files["star"] = place_->folder.Write("other-weights", other);
  EXPECT_THAT(why(files), HasSubstr("is not the bundle's expert star: other weights"));
  other.extra_tokens = 3;
  files["star"] = place_->folder.Write("other-words", other);
  EXPECT_THAT(why(files), HasSubstr("another vocabulary"));
  files["star"] = place_->files.at("lama");
  EXPECT_THAT(why(files), HasSubstr("llama, 10 layers of 32, where the bundle has starcoder2"));
  files = place_->files;
  files["stranger"] = files["star"];
  EXPECT_THAT(why(files), HasSubstr("no expert \"stranger\""));
}

TEST_F(GeneratorTest, AGrammarBindsTheText) {
  auto generator = Open(trained_);
  GenerateOptions options = Sampled(3);
  options.sampling.grammar = "root ::= \"yes\" | \"no\"";
  for (const std::string& text : Texts(Must(generator->Generate(Request("?"), 3, options)))) {
    EXPECT_THAT(text, ::testing::AnyOf("yes", "no"));
  }
  options.sampling.grammar = "root ::= (";
  const auto refused = generator->Generate(Request("?"), 1, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("does not take the grammar"));
  EXPECT_TRUE(generator->Generate(Request("?"), 1, Sampled(3)));
}

TEST_F(GeneratorTest, LimitsEndARequestAndTheNextOneWorks) {
  auto generator = Open(trained_);
  const std::atomic<bool> stop = true;
  GenerateOptions options = Sampled(3);
  options.stop = &stop;
  EXPECT_EQ(generator->Generate(Request("a"), 1, options).error().code(), ErrorCode::kInterrupted);
  GenerateOptions late = Sampled(3);
  late.sampling.max_tokens = 200;
  late.time_limit = std::chrono::milliseconds(1);
  const auto timed_out = generator->Generate(Request("another prompt"), 1, late);
  ASSERT_FALSE(timed_out);
  EXPECT_EQ(timed_out.error().code(), ErrorCode::kTimeout);
  const auto fresh = Must(generator->Generate(Request("a"), 1, Sampled(3)));
  EXPECT_EQ(Texts(fresh), Texts(Must(Open(trained_)->Generate(Request("a"), 1, Sampled(3)))));
  const auto long_prompt = generator->Generate(Request(std::string(400, 'x')), 1, Sampled(3));
  ASSERT_FALSE(long_prompt);
  EXPECT_EQ(long_prompt.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GeneratorTest, IsAChatModel) {
  int asked = 0;
  MotChatModel model(Open(trained_), [&](const ChatRequest&) {
    ++asked;
    return std::map<std::string, std::string>{{"ptx", "st.global"}};
  });
  EXPECT_EQ(model.name(), "mot:writer+star+lama");
  ChatRequest request;
  request.messages = {{ChatRole::kUser, "Hello"}};
  request.max_tokens = 5;
  request.temperature = 1;
  const auto reply = Must(model.Complete(request));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(reply.tokens.completion <= 5 && reply.tokens.prompt > 5, true);
  EXPECT_EQ(Must(model.Complete(request)).text, reply.text);
  EXPECT_GT(Must(model.Complete(request)).tokens.cached_prompt, 0);
  request.messages.clear();
  EXPECT_EQ(model.Complete(request).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(GeneratorTest, AsAChatModelItFollowsTheSchema) {
  MotChatModel model(Open(trained_));
  ChatRequest request;
  request.messages = {{ChatRole::kUser, "Hello"}};
  request.max_tokens = 40;
  request.temperature = 1;
  request.json_schema =
      R"({"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"]})";
  for (request.seed = 1; request.seed < 4; ++request.seed) {
    EXPECT_THAT(Must(model.Complete(request)).text,
                ::testing::ContainsRegex("^\\{\\s*\"a\"\\s*:\\s*(true|false)\\s*\\}$"));
  }
  request.json_schema = "no schema";
  EXPECT_EQ(model.Complete(request).error().code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace optiml::mot
