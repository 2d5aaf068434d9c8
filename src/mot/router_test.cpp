#include "mot/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "mot/latent_cache.h"
#include "mot/mot_test_support.h"
#include "mot/prompt_encoder.h"
#include "mot/prompt_views.h"

namespace optiml::mot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bundle Experts(const std::vector<bool>& can_be_primary) {
  Bundle bundle;
  for (const bool can : can_be_primary) {
    bundle.experts.emplace_back().can_be_primary = can;
  }
  return bundle;
}

TEST(ChooseRoute, TakesTheBestAndThePrimaryAmongThem) {
  const Bundle bundle = Experts({true, true, false, true});
  const Route best = ChooseRoute(bundle, {0.1, 0.2, 0.4, 0.3}, 3, std::nullopt);
  EXPECT_EQ(best.primary, 3U);
  EXPECT_THAT(best.peers, ElementsAre(2, 1));
  const Route forced = ChooseRoute(bundle, {0.1, 0.2, 0.4, 0.3}, 2, 0);
  EXPECT_EQ(forced.primary, 0U);
  EXPECT_THAT(forced.peers, ElementsAre(2));
  const Route alone = ChooseRoute(bundle, {0.1, 0.2, 0.4, 0.3}, 1, std::nullopt);
  EXPECT_EQ(alone.primary, 3U);  // the best one cannot write
  EXPECT_THAT(alone.peers, IsEmpty());
  EXPECT_EQ(ChooseRoute(bundle, {0.25, 0.25, 0.25, 0.25}, 2, std::nullopt).primary, 0U);
}

TEST(RouterScores, AreTheSoftmaxOfTheNetwork) {
  Bundle bundle = Experts({true, true});
  bundle.router.code_width = 2;
  bundle.router.hidden_width = 1;
  bundle.router.hidden = {1, 0};
  bundle.router.hidden_bias = {1};
  bundle.router.output = {2, 0};
  bundle.router.output_bias = {0, 1};
  // RMSNorm(3, 4) begins with 3 / sqrt(12.5) = 0.8485281; silu(1.8485281) = 1.5970436.
  const std::vector<double> scores = RouterScores(bundle, {3, 4});
  EXPECT_NEAR(scores[0], 1 / (1 + std::exp(1 - 2 * 1.5970436)), 1e-5);
  EXPECT_NEAR(scores[0] + scores[1], 1, 1e-12);
}

TEST(NgramEncoder, TellsTextsApartAndKeepsTheLengthOne) {
  const auto encoder = MakeNgramEncoder(64);
  const auto code = Must(encoder->Encode("__global__ void f()"));
  EXPECT_EQ(code.size(), 64U);
  EXPECT_NEAR(std::inner_product(code.begin(), code.end(), code.begin(), 0.0), 1, 1e-5);
  EXPECT_EQ(code, Must(encoder->Encode("__global__ void f()")));
  EXPECT_NE(code, Must(encoder->Encode("__global__ void g()")));
  EXPECT_EQ(Must(encoder->Encode("")), std::vector<float>(64));
}

TEST(BertEncoder, EmbedsAWholeTextAndRefusesAModelThatIsNone) {
  const ModelFolder folder;
  FixtureModel model;
  model.architecture = "bert";
  model.layers = 2;
  const fs::path file = folder.Write("bert", model);
  auto opened = OpenBertEncoder(file, 1);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(opened->model, Must(HashFile(file)));
  EXPECT_EQ(opened->encoder->width(), 32);
  const auto code = Must(opened->encoder->Encode("a kernel"));
  EXPECT_NEAR(std::inner_product(code.begin(), code.end(), code.begin(), 0.0), 1, 1e-5);
  EXPECT_EQ(code, Must(opened->encoder->Encode("a kernel")));
  EXPECT_NE(code, Must(opened->encoder->Encode("another one")));
  EXPECT_THAT(OpenBertEncoder(folder.Write("qwen2", {}), 1).error().message(),
              HasSubstr("it gives no embedding of a whole text"));
  EXPECT_EQ(OpenBertEncoder(folder.path() / "none.gguf", 1).error().code(), ErrorCode::kNotFound);
}

TEST(ViewMessages, HoldThePartsThatAnExpertReads) {
  PromptViews views;
  views.messages = {{ChatRole::kSystem, "Be brief."}, {ChatRole::kUser, "Make it faster."}};
  views.parts = {{"ptx", "ld.global"}, {"profile", "bound by memory"}, {"attempts", ""}};
  EXPECT_EQ(ViewMessages(views, {"prompt"}), views.messages);
  const auto both = ViewMessages(views, {"profile", "prompt", "ptx", "attempts", "source"});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].text,
            "Make it faster.\n\n## PTX\nld.global\n\n## Profiler report\nbound by memory");
  EXPECT_THAT(ViewMessages(views, {"ptx"}),
              ElementsAre(ChatMessage{ChatRole::kUser, "## PTX\nld.global"}));
  EXPECT_THAT(ViewMessages(views, {"source", "attempts"}), IsEmpty());
  EXPECT_THAT(WholeText(views), HasSubstr("bound by memory"));
}

std::shared_ptr<PeerLatents> OfBytes(size_t bytes) {
  auto latents = std::make_shared<PeerLatents>();
  latents->mean.resize(bytes / sizeof(float));
  return latents;
}

TEST(LatentCache, DropsTheLeastRecentlyUsedByBytes) {
  LatentCache cache(400);
  const auto key = [](const char* name) { return ContentHash::Of(name); };
  const auto a = OfBytes(160);
  cache.Insert(key("a"), a);
  cache.Insert(key("b"), OfBytes(160));
  EXPECT_EQ(cache.bytes(), 320U);
  EXPECT_EQ(cache.Find(key("a")), a);
  cache.Insert(key("c"), OfBytes(200));
  EXPECT_EQ(cache.Find(key("b")), nullptr);
  EXPECT_EQ(cache.Find(key("a")), a);
  EXPECT_EQ(cache.bytes(), 360U);
  cache.Insert(key("a"), OfBytes(40));
  EXPECT_EQ(cache.bytes(), 240U);
  cache.Insert(key("huge"), OfBytes(404));
  EXPECT_EQ(cache.Find(key("huge")), nullptr);
  EXPECT_EQ(cache.entries(), 2U);
  EXPECT_EQ(a->bytes(), 160U);
}

}  // namespace
}  // namespace optiml::mot
