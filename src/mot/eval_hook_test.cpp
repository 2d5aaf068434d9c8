#include "mot/eval_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

using ::testing::HasSubstr;

TEST(LayerOfNode, TakesThatNodeAloneAndNoCopyOrViewOfIt) {
  EXPECT_EQ(LayerOfNode("l_out-0"), 0);
  EXPECT_EQ(LayerOfNode("l_out-17"), 17);
  for (const char* other : {"l_out", "l_out-", "l_out-3 (view)", "CUDA0#l_out-3#0", "l_out--3",
                            "xl_out-3", "ffn_out-3", "l_out-3x", "l_out-99999999999"}) {
    EXPECT_EQ(LayerOfNode(other), std::nullopt) << other;
  }
}

// Adds to each row what `amount` says of its place.
EvalHook::Handler Adder(std::function<const std::vector<float>&(int64_t row)> amount,
                        std::shared_ptr<int64_t> row) {
  return [amount = std::move(amount), row](ggml_tensor& hidden) -> Result<void> {
    std::vector<float> rows(static_cast<size_t>(ggml_nelements(&hidden)));
    ggml_backend_tensor_get(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
    const auto width = static_cast<size_t>(hidden.ne[0]);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] += amount(*row + static_cast<int64_t>(i / width))[i % width];
    }
    *row += hidden.ne[1];
    ggml_backend_tensor_set(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
    return {};
  };
}

// A vector for `layer` as llama.cpp wants control vectors: of all layers from the first on.
void SetControlVector(Expert& expert, int layer, const std::vector<float>& vector) {
  const auto width = static_cast<size_t>(expert.facts().width);
  std::vector<float> all(width * static_cast<size_t>(expert.facts().layers - 1));
  std::copy(vector.begin(), vector.end(),
            all.begin() + static_cast<std::ptrdiff_t>(width * static_cast<size_t>(layer - 1)));
  ASSERT_EQ(llama_set_adapter_cvec(&expert.context(), all.data(), all.size(),
                                   static_cast<int32_t>(width), 1, expert.facts().layers),
            0);
}

class Architectures : public ::testing::TestWithParam<FixtureModel> {
 protected:
  std::unique_ptr<Expert> Open(int micro_batch = 64, bool hook = true) {
    ExpertOptions options = ExactOptions();
    options.micro_batch_tokens = micro_batch;
    options.hook = hook;
    return Must(Expert::Open(file_, options));
  }
  int layer() const { return GetParam().layers / 2; }

  ModelFolder folder_;
  fs::path file_ = folder_.Write("model", GetParam());
  std::vector<llama_token> tokens_ = SomeTokens(40, 7);
};

TEST_P(Architectures, ObservingAndWritingBackChangeNoBit) {
  for (const int micro_batch : {8, 64}) {
    const std::vector<float> plain = AllLogits(*Open(micro_batch, false), tokens_, 64);
    int64_t seen = 0;
    for (const bool writes : {false, true}) {
      auto expert = Open(micro_batch);
      for (int layer = 0; layer + 1 < GetParam().layers; ++layer) {
        expert->hook().Watch(layer, [&](ggml_tensor& hidden) -> Result<void> {
          std::vector<float> rows(static_cast<size_t>(ggml_nelements(&hidden)));
          ggml_backend_tensor_get(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
          if (writes) {
            ggml_backend_tensor_set(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
          }
          seen += hidden.ne[1];
          return {};
        });
      }
      EXPECT_TRUE(SameBits(plain, AllLogits(*expert, tokens_, 64))) << micro_batch << writes;
    }
    EXPECT_EQ(seen, int64_t{2} * 40 * (GetParam().layers - 1));
  }
}

TEST_P(Architectures, AddingAConstantIsAControlVectorBitForBit) {
  Rng rng(3);
  std::vector<float> vector(static_cast<size_t>(GetParam().width));
  FillRandom(vector, 0.5, rng);
  for (const int micro_batch : {8, 64}) {
    auto oracle = Open(micro_batch, false);
    SetControlVector(*oracle, layer(), vector);
    auto expert = Open(micro_batch);
    expert->hook().Watch(layer(),
                         Adder([&](int64_t) -> const std::vector<float>& { return vector; },
                               std::make_shared<int64_t>(0)));
    const std::vector<float> expected = AllLogits(*oracle, tokens_, 64);
    EXPECT_TRUE(SameBits(expected, AllLogits(*expert, tokens_, 64))) << micro_batch;
    EXPECT_GT(GreatestDifference(expected, AllLogits(*Open(), tokens_, 64)), 0.01);
  }
}

TEST_P(Architectures, AddingPerTokenIsAControlVectorPerTokenBitForBit) {
  Rng rng(4);
  std::vector<std::vector<float>> vectors(tokens_.size());
  for (auto& vector : vectors) {
    vector.resize(static_cast<size_t>(GetParam().width));
    FillRandom(vector, 0.5, rng);
  }
  auto oracle = Open(64, false);
  std::vector<float> expected;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    SetControlVector(*oracle, layer(), vectors[i]);
    Must(oracle->Prefill(std::span(tokens_).subspan(i, 1), static_cast<llama_pos>(i), 0));
    const auto logits = oracle->Logits(-1);
    expected.insert(expected.end(), logits.begin(), logits.end());
  }
  const auto at = [&](int64_t row) -> const std::vector<float>& {
    return vectors[static_cast<size_t>(row)];
  };
  auto one_by_one = Open();
  one_by_one->hook().Watch(layer(), Adder(at, std::make_shared<int64_t>(0)));
  EXPECT_TRUE(SameBits(expected, AllLogits(*one_by_one, tokens_, 1)));
  // Rows keep their order within a prompt; another batch width may round otherwise (GELU, which is
  // a table of half precision on a CPU, most of all).
  const std::string& kind = GetParam().architecture;
  const double bound = kind == "starcoder2" || kind == "gemma3" ? 5e-3 : 1e-5;
  for (const int micro_batch : {8, 64}) {
    auto at_once = Open(micro_batch);
    at_once->hook().Watch(layer(), Adder(at, std::make_shared<int64_t>(0)));
    EXPECT_LT(GreatestDifference(expected, AllLogits(*at_once, tokens_, 64)), bound);
  }
}

TEST_P(Architectures, AnErrorInAHandlerComesOutAfterDecodeAndTheNextRequestWorks) {
  auto expert = Open();
  const std::vector<float> plain = AllLogits(*expert, tokens_, 64);
  expert->Forget();
  int calls = 0;
  expert->hook().Watch(layer(), [&](ggml_tensor&) -> Result<void> {
    ++calls;
    return Error(ErrorCode::kUnavailable, "the handler had enough");
  });
  expert->hook().Watch(layer() - 1, [](ggml_tensor&) -> Result<void> { return {}; });
  const auto failed = expert->Prefill(tokens_, 0, 0);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(failed.error().message(), HasSubstr("the handler had enough"));
  EXPECT_EQ(calls, 1);
  expert->Forget();
  expert->hook().Watch(layer(), [](ggml_tensor&) -> Result<void> { throw std::bad_alloc(); });
  const auto thrown = expert->Prefill(tokens_, 0, 0);
  ASSERT_FALSE(thrown);
  EXPECT_THAT(thrown.error().message(), HasSubstr("bad_alloc"));
  expert->hook().Clear();
  expert->Forget();
  EXPECT_TRUE(SameBits(plain, AllLogits(*expert, tokens_, 64)));
}

TEST_P(Architectures, ALayerThatGivesFewerRowsThanTokensIsAnError) {
  auto expert = Open();
  // The last layer keeps only the rows whose logits are asked for.
  expert->hook().Watch(GetParam().layers - 1, [](ggml_tensor&) -> Result<void> { return {}; });
  const auto pruned = expert->Prefill(tokens_, 0, 0);
  ASSERT_FALSE(pruned);
  EXPECT_THAT(pruned.error().message(), HasSubstr("gave 1 rows for 40 tokens"));
  expert->hook().Clear();
  expert->Forget();
  expert->hook().Watch(GetParam().layers, [](ggml_tensor&) -> Result<void> { return {}; });
  const auto absent = expert->Prefill(tokens_, 0, 0);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message(), HasSubstr("gave 0 rows"));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Architectures, ::testing::ValuesIn(FixtureModels()),
                         [](const auto& each) { return each.param.architecture; });

TEST(EvalHook, ANodeOfAnotherShapeOrTypeIsAnError) {
  const GgmlContext context = MakeGgmlContext(4);
  const auto End = [&](ggml_type type, int64_t width, int64_t planes) {
    EvalHook hook(32);
    hook.Watch(3, [](ggml_tensor&) -> Result<void> { return {}; });
    hook.Begin(2);
    ggml_tensor* node = ggml_new_tensor_3d(context.get(), type, width, 2, planes);
    ggml_set_name(node, "l_out-3");
    EXPECT_TRUE(EvalHook::Callback(node, true, &hook));
    EXPECT_TRUE(EvalHook::Callback(node, false, &hook));
    const auto end = hook.End();
    return end ? std::string() : end.error().message();
  };
  EXPECT_EQ(End(GGML_TYPE_F32, 32, 1), "");
  EXPECT_THAT(End(GGML_TYPE_F16, 32, 1), HasSubstr("l_out-3 is f16"));
  EXPECT_THAT(End(GGML_TYPE_F32, 31, 1), HasSubstr("[31, 2, 1, 1], not F32 [32, rows]"));
  EXPECT_THAT(End(GGML_TYPE_F32, 32, 2), HasSubstr("[32, 2, 2, 1]"));
}

}  // namespace
}  // namespace optiml::mot
