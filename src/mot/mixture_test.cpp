// What a mixture does to its primary, in bits: against the plain primary, and against an oracle
// that is made of llama.cpp's control vectors alone.
#include "mot/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

constexpr int kTokens = 30;

struct Scene {
  explicit Scene(const Bundle& bundle, const ExpertFiles& files, int micro_batch = 64)
      : pool([&] {
          ExpertOptions options = ExactOptions();
          options.micro_batch_tokens = micro_batch;
          return Must(ExpertPool::Open(bundle, files, {options, false}));
        }()),
        reader(*pool, size_t{1} << 20) {}

  Mixture Mix(const std::vector<MixturePeer>& peers, MixtureOptions options = {}) {
    if (options.boundaries.empty()) {
      options.boundaries = {0, 1, 2};
    }
    return Mixture(*pool, reader, 0, peers, options);
  }
  Expert& primary() { return pool->expert(0); }

  std::unique_ptr<ExpertPool> pool;
  PeerReader reader;
};

class MixtureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { place_ = new Workplace(ThreeModels()); }
  static void TearDownTestSuite() { delete place_; }

  MixtureTest() : trained_(place_->bundle) { Train(trained_, 9); }

  std::vector<float> Plain(int micro_batch, size_t chunk) {
    ExpertOptions options = ExactOptions();
    options.micro_batch_tokens = micro_batch;
    options.hook = false;
    return AllLogits(*Must(Expert::Open(place_->files.at("writer"), options)), tokens_, chunk);
  }
  // The primary's logits with both peers, read in pieces of `chunk`.
  std::vector<float> Mixed(const Bundle& bundle, int micro_batch, size_t chunk,
                           const std::vector<MixturePeer>& peers) {
    Scene scene(bundle, place_->files, micro_batch);
    Mixture mixture = scene.Mix(peers);
    Must(mixture.Bind(kTokens, 0));
    return AllLogits(scene.primary(), tokens_, chunk);
  }

  static Workplace* place_;
  Bundle trained_;
  std::vector<llama_token> tokens_ = SomeTokens(kTokens, 21);
  std::vector<MixturePeer> peers_ = {{1, SomeTokens(23, 22)}, {2, SomeTokens(17, 23)}};
};

Workplace* MixtureTest::place_ = nullptr;

TEST_F(MixtureTest, AnUntrainedBundleIsThePlainPrimaryBitForBit) {
  for (const int micro_batch : {8, 64}) {
    for (const size_t chunk : {size_t{64}, size_t{1}}) {
      EXPECT_TRUE(
          SameBits(Plain(micro_batch, chunk), Mixed(place_->bundle, micro_batch, chunk, peers_)))
          << micro_batch << " " << chunk;
    }
  }
  EXPECT_GT(GreatestDifference(Plain(64, 64), Mixed(trained_, 64, 64, peers_)), 0.05);
}

// Probes each boundary in turn and lets control vectors do what the interaction would.
std::vector<float> Oracle(Scene& scene, const std::vector<llama_token>& tokens) {
  Expert& primary = scene.primary();
  const Bundle& bundle = scene.pool->bundle();
  const auto width = static_cast<size_t>(primary.facts().width);
  std::map<int, std::vector<float>> seen;
  primary.hook().Clear();
  for (const int layer : bundle.experts[0].boundaries) {
    primary.hook().Watch(layer, [&seen, layer](ggml_tensor& hidden) -> Result<void> {
      seen[layer].resize(static_cast<size_t>(ggml_nelements(&hidden)));
      ggml_backend_tensor_get(&hidden, seen[layer].data(), 0, ggml_nbytes(&hidden));
      return {};
    });
  }
  std::vector<float> all;
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::vector<float> vectors(width * static_cast<size_t>(primary.facts().layers - 1));
    for (size_t q = 0; q <= scene.pool->boundary_count(); ++q) {
      llama_set_adapter_cvec(&primary.context(), vectors.data(), vectors.size(),
                             static_cast<int32_t>(width), 1, primary.facts().layers);
      primary.CutSequence(0, static_cast<llama_pos>(i));
      Must(primary.Prefill(std::span(tokens).subspan(i, 1), static_cast<llama_pos>(i), 0));
      if (q < scene.pool->boundary_count()) {
        const int layer = bundle.experts[0].boundaries[q];
        const auto update = Must(Must(scene.pool->Layer(0, q))->Update(seen[layer]));
        std::copy(
            update.begin(), update.end(),
            vectors.begin() + static_cast<std::ptrdiff_t>(width * static_cast<size_t>(layer - 1)));
      }
    }
    const auto logits = primary.Logits(-1);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

TEST_F(MixtureTest, IsTheOracleOfControlVectors) {
  Scene scene(trained_, place_->files);
  Must(scene.Mix(peers_).Bind(kTokens, 0));  // its latents stay at the boundaries
  const std::vector<float> oracle = Oracle(scene, tokens_);
  EXPECT_TRUE(SameBits(oracle, Mixed(trained_, 64, 1, peers_)));
  EXPECT_LT(GreatestDifference(oracle, Mixed(trained_, 64, 64, peers_)), 1e-5);
  EXPECT_LT(GreatestDifference(oracle, Mixed(trained_, 8, 64, peers_)), 1e-5);
  EXPECT_GT(GreatestDifference(oracle, Plain(64, 1)), 0.05);
}

TEST_F(MixtureTest, APromptInPiecesIsThePromptAtOnce) {
  const std::vector<float> once = Mixed(trained_, 64, 64, peers_);
  for (const size_t chunk : {size_t{1}, size_t{7}, size_t{16}}) {
    EXPECT_LT(GreatestDifference(once, Mixed(trained_, 64, chunk, peers_)), 1e-5) << chunk;
  }
}

TEST_F(MixtureTest, TheAnswerDoesNotReachThePeersAndTheirPromptReachesTheAnswer) {
  Scene scene(trained_, place_->files);
  Mixture mixture = scene.Mix(peers_);
  Must(mixture.Bind(kTokens, 0));
  const auto latents = Must(scene.reader.Read(1, peers_[0].view));
  const std::vector<float> before = AllLogits(scene.primary(), tokens_, 64);
  std::vector<llama_token> other_answer = tokens_;
  other_answer.back() += 1;
  scene.primary().Forget();
  const std::vector<float> after = AllLogits(scene.primary(), other_answer, 64);
  EXPECT_EQ(scene.reader.cache().entries(), 2U);
  EXPECT_EQ(Must(scene.reader.Read(1, peers_[0].view)), latents);
  // Causal: all but the last token's logits stay.
  const size_t vocabulary = before.size() / kTokens;
  EXPECT_TRUE(std::equal(before.begin(), before.end() - static_cast<std::ptrdiff_t>(vocabulary),
                         after.begin()));
  std::vector<MixturePeer> other = peers_;
  other[0].view[3] += 1;
  EXPECT_GT(GreatestDifference(before, Mixed(trained_, 64, 64, other)), 1e-4);
}

// The bundle as if it had been made without expert `gone`.
Bundle Without(Bundle bundle, size_t gone) {
  const auto drop = [&](auto& list) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(gone));
  };
  for (BoundaryWeights& weights : bundle.boundaries) {
    drop(weights.in);
    drop(weights.kind);
    drop(weights.down);
    drop(weights.up);
  }
  drop(bundle.router.output_bias);
  bundle.router.output.resize(bundle.router.output_bias.size() *
                              static_cast<size_t>(bundle.router.hidden_width));
  bundle.router.top_k =
      std::min<int>(bundle.router.top_k, static_cast<int>(bundle.experts.size()) - 1);
  drop(bundle.experts);
  return bundle;
}

TEST_F(MixtureTest, APeerThatIsLeftOutIsABundleWithoutIt) {
  const Bundle smaller = Without(trained_, 1);
  ExpertFiles files = place_->files;
  files.erase("star");
  Scene scene(smaller, files);
  Mixture mixture = scene.Mix({{1, peers_[1].view}});
  Must(mixture.Bind(kTokens, 0));
  const std::vector<float> without = AllLogits(scene.primary(), tokens_, 64);
  EXPECT_TRUE(SameBits(without, Mixed(trained_, 64, 64, {peers_[1]})));
  EXPECT_FALSE(SameBits(without, Mixed(trained_, 64, 64, peers_)));
  EXPECT_TRUE(SameBits(Plain(64, 64), Mixed(trained_, 64, 64, {})));
}

TEST_F(MixtureTest, BoundariesThatAreLeftOutDoNothing) {
  const auto with = [&](std::vector<size_t> boundaries) {
    Scene scene(trained_, place_->files);
    MixtureOptions options;
    options.boundaries = std::move(boundaries);
    Mixture mixture = scene.Mix(peers_, options);
    Must(mixture.Bind(kTokens, 0));
    return AllLogits(scene.primary(), tokens_, 64);
  };
  Bundle first_only = trained_;
  for (const size_t q : {size_t{1}, size_t{2}}) {
    std::fill(first_only.boundaries[q].up[0].begin(), first_only.boundaries[q].up[0].end(), 0.0F);
  }
  EXPECT_TRUE(SameBits(with({0}), Mixed(first_only, 64, 64, peers_)));
  EXPECT_FALSE(SameBits(with({0}), with({0, 2})));
}

// Peers of the primary's vocabulary, that read the answer as it comes.
class AnswerTime : public MixtureTest, public ::testing::WithParamInterface<PeerMode> {
 protected:
  // Logits of the answer's tokens after a prompt, with a peer whose view has the same tokens.
  std::vector<float> Answer(const std::vector<llama_token>& view,
                            const std::vector<llama_token>& prompt,
                            const std::vector<llama_token>& answer) {
    Scene scene(trained_, place_->files);
    MixtureOptions options;
    options.mode = GetParam();
    Mixture mixture = scene.Mix({{2, view}}, options);
    const auto length = static_cast<int64_t>(prompt.size());
    Must(mixture.Bind(length, static_cast<int64_t>(answer.size())));
    std::vector<float> all = AllLogits(scene.primary(), prompt, 64);
    Must(mixture.BeginAnswer());
    for (size_t i = 0; i < answer.size(); ++i) {
      Must(mixture.BeforeToken(answer[i], static_cast<int64_t>(i)));
      Must(scene.primary().Prefill(std::span(answer).subspan(i, 1),
                                   static_cast<llama_pos>(prompt.size() + i), 0));
      const auto logits = scene.primary().Logits(-1);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  }
};

TEST_P(AnswerTime, ATokenReadAsAnswerIsATokenReadAsPromptWhereTheModeSaysSo) {
  const std::vector<llama_token> prompt(tokens_.begin(), tokens_.begin() + 20);
  const std::vector<llama_token> answer(tokens_.begin() + 20, tokens_.end());
  const std::vector<float> grown = Answer(prompt, prompt, answer);
  const std::vector<float> at_once = Answer(tokens_, tokens_, {});
  const size_t vocabulary = at_once.size() / kTokens;
  const std::vector<float> grown_answer(
      grown.begin() + static_cast<std::ptrdiff_t>(20 * vocabulary), grown.end());
  const std::vector<float> whole_answer(
      at_once.begin() + static_cast<std::ptrdiff_t>(20 * vocabulary), at_once.end());
  if (GetParam() == PeerMode::kAligned) {
    // Row by row in both: the same thing twice.
    EXPECT_LT(GreatestDifference(grown_answer, whole_answer), 1e-5);
  } else {
    // A static view would have shown the whole answer to each of its rows.
    EXPECT_GT(GreatestDifference(grown_answer, whole_answer), 1e-4);
  }
  // Causal: another last token changes no logits but its own.
  std::vector<llama_token> other = answer;
  other.back() += 1;
  const std::vector<float> changed = Answer(prompt, prompt, other);
  EXPECT_TRUE(std::equal(grown.begin(), grown.end() - static_cast<std::ptrdiff_t>(vocabulary),
                         changed.begin()));
  EXPECT_FALSE(SameBits(grown, changed));
}

INSTANTIATE_TEST_SUITE_P(Modes, AnswerTime,
                         ::testing::Values(PeerMode::kAligned, PeerMode::kAttention),
                         [](const auto& each) { return PeerModeName(each.param); });

TEST_F(MixtureTest, AnswerTimePeersNeedThePrimarysVocabulary) {
  std::vector<NamedModel> models = ThreeModels();
  models[2].model.extra_tokens = 5;
  const Workplace place(models);
  Scene scene(place.bundle, place.files);
  MixtureOptions options;
  options.mode = PeerMode::kAttention;
  const auto bound = scene.Mix({{2, SomeTokens(5, 1)}}, options).Bind(kTokens, 1);
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message(), ::testing::HasSubstr("lama has another one"));
}

TEST_F(MixtureTest, TheKeyOfAPromptSaysEverythingThatItsCacheDependsOn) {
  Scene scene(trained_, place_->files);
  const ContentHash key = scene.Mix(peers_).Key(tokens_);
  EXPECT_EQ(scene.Mix(peers_).Key(tokens_), key);
  std::vector<MixturePeer> other_view = peers_;
  other_view[1].view.push_back(5);
  EXPECT_NE(scene.Mix(other_view).Key(tokens_), key);
  EXPECT_NE(scene.Mix({peers_[0]}).Key(tokens_), key);
  EXPECT_NE(scene.Mix(peers_).Key(SomeTokens(kTokens, 1)), key);
  MixtureOptions options;
  options.boundaries = {0, 1};
  EXPECT_NE(scene.Mix(peers_, options).Key(tokens_), key);
  options.boundaries = {0, 1, 2};
  options.mode = PeerMode::kAligned;
  EXPECT_NE(scene.Mix(peers_, options).Key(tokens_), key);
  EXPECT_NE(Scene(place_->bundle, place_->files).Mix(peers_).Key(tokens_), key);
}

}  // namespace
}  // namespace optiml::mot
