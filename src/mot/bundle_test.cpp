#include "mot/bundle.h"

#include <fmt/format.h>
#include <gguf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

UntrainedExpert SomeExpert(const std::string& name, int layers, int64_t width) {
  UntrainedExpert expert;
  expert.name = name;
  expert.facts.file = name + ".gguf";
  expert.facts.architecture = "qwen2";
  expert.facts.layers = layers;
  expert.facts.width = width;
  expert.facts.weights = ContentHash::Of(name);
  expert.facts.vocabulary = ContentHash::Of("words");
  return expert;
}

Bundle SmallBundle() {
  UntrainedExpert peer = SomeExpert("peer", 12, 10);
  peer.can_be_primary = false;
  peer.view = {"ptx", "profile"};
  Bundle bundle = Must(MakeUntrainedBundle({SomeExpert("writer", 8, 6), peer}, [] {
    UntrainedOptions options = SmallOptions();
    options.top_k = 2;
    return options;
  }()));
  Train(bundle, 5);
  return bundle;
}

class BundleFile : public ::testing::Test {
 protected:
  std::string Bytes(const Bundle& bundle) {
    Must(SaveBundle(bundle, file_));
    return Must(ReadFile(file_));
  }
  // What loading says of a bundle that `change` spoiled.
  std::string Refusal(const std::function<void(gguf_context*)>& change) {
    Must(SaveBundle(SmallBundle(), file_));
    ggml_context* tensors = nullptr;
    gguf_init_params parameters{};
    parameters.ctx = &tensors;
    gguf_context* read = gguf_init_from_file(file_.c_str(), parameters);
    gguf_context* gguf = gguf_init_empty();  // what was read cannot be written again as it is
    gguf_set_kv(gguf, read);
    for (int64_t i = 0; i < gguf_get_n_tensors(read); ++i) {
      gguf_add_tensor(gguf, ggml_get_tensor(tensors, gguf_get_tensor_name(read, i)));
    }
    gguf_free(read);
    change(gguf);
    gguf_write_to_file(gguf, file_.c_str(), false);
    gguf_free(gguf);
    ggml_free(tensors);
    return Load();
  }
  std::string Load() {
    const auto loaded = LoadBundle(file_);
    EXPECT_FALSE(loaded);
    if (loaded) {
      return "";
    }
    EXPECT_EQ(loaded.error().code(), ErrorCode::kParse);
    EXPECT_THAT(loaded.error().message(), HasSubstr(file_.string() + ": "));
    EXPECT_EQ(loaded.error().message().find('\n'), std::string::npos);
    return loaded.error().message();
  }

  ModelFolder folder_;
  fs::path file_ = folder_.path() / "small.mot.gguf";
};

TEST_F(BundleFile, IsReadAsItWasWritten) {
  const Bundle bundle = SmallBundle();
  Must(SaveBundle(bundle, file_));
  const Bundle read = Must(LoadBundle(file_));
  EXPECT_EQ(HashOfBundle(read), HashOfBundle(bundle));
  EXPECT_EQ(read.ParameterCount(), bundle.ParameterCount());
  EXPECT_EQ(read.training, "random numbers of a test");
  ASSERT_EQ(read.experts.size(), 2U);
  EXPECT_EQ(read.experts[0].name, "writer");
  EXPECT_EQ(read.experts[0].file, "writer.gguf");
  EXPECT_THAT(read.experts[0].boundaries, ElementsAre(1, 3, 5));
  EXPECT_THAT(read.experts[1].boundaries, ElementsAre(2, 5, 8));
  EXPECT_THAT(read.experts[1].view, ElementsAre("ptx", "profile"));
  EXPECT_FALSE(read.experts[1].can_be_primary);
  EXPECT_EQ(read.experts[1].weights, ContentHash::Of("peer"));
  EXPECT_EQ(read.experts[1].vocabulary, ContentHash::Of("words"));
  EXPECT_EQ(read.router.encoder, "ngrams");
  EXPECT_EQ(read.router.top_k, 2);
  EXPECT_EQ(read.router.hidden, bundle.router.hidden);
  EXPECT_EQ(Bytes(read), Bytes(bundle));
  EXPECT_FALSE(fs::exists(file_.string() + ".part"));
}

TEST_F(BundleFile, ThatIsTruncatedAnywhereIsRefused) {
  const std::string whole = Bytes(SmallBundle());
  for (size_t length = 0; length < whole.size(); length += 97) {
    const auto parsed = ParseBundle(std::string_view(whole).substr(0, length));
    ASSERT_FALSE(parsed) << length;
    EXPECT_THAT(parsed.error().message(),
                ::testing::AnyOf(HasSubstr("truncated"), HasSubstr("not a GGUF file")));
  }
  Must(WriteFileAtomically(file_, std::string_view(whole).substr(0, whole.size() - 64)));
  EXPECT_THAT(Load(), HasSubstr("truncated"));
}

TEST_F(BundleFile, OfAnotherKindOrVersionIsRefused) {
  Must(WriteFileAtomically(file_, "#include <cuda.h>"));
  EXPECT_THAT(Load(), EndsWith("not a GGUF file"));
  folder_.Write("model", FixtureModels()[0]);
  const auto model = LoadBundle(folder_.path() / "model.gguf");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message(), HasSubstr("its architecture is \"qwen2\", not optiml-mot"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.format", 2); }),
              EndsWith("unknown version 2 of the format (known: 1)"));
  EXPECT_EQ(LoadBundle(folder_.path() / "none").error().code(), ErrorCode::kNotFound);
}

TEST_F(BundleFile, WithBoundariesOutOfRangeIsRefused) {
  const auto boundaries = [](std::vector<uint32_t> layers) {
    return [layers](gguf_context* gguf) {
      gguf_set_arr_data(gguf, "mot.expert.0.boundaries", GGUF_TYPE_UINT32, layers.data(),
                        layers.size());
    };
  };
  EXPECT_THAT(Refusal(boundaries({0, 3, 5})),
              EndsWith("expert writer: boundary 0 (allowed: ascending, 1 to 6)"));
  EXPECT_THAT(Refusal(boundaries({1, 3, 7})), HasSubstr("boundary 7 (allowed"));
  EXPECT_THAT(Refusal(boundaries({1, 5, 3})), HasSubstr("boundary 3 (allowed"));
  EXPECT_THAT(Refusal(boundaries({1, 3, 4000000000U})), HasSubstr("boundary "));
  EXPECT_THAT(Refusal(boundaries({1, 3})), EndsWith("expert writer has 2 boundaries, not 3"));
}

TEST_F(BundleFile, WithNumbersThatAreNoneIsRefused) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Bundle bundle = SmallBundle();
    const std::string clean = Bytes(bundle);
    const float marker = 12345.678F;
    bundle.boundaries[1].up[0][7] = marker;
    std::string spoiled = Bytes(bundle);
    const std::string needle(reinterpret_cast<const char*>(&marker), sizeof(marker));
    const size_t at = spoiled.find(needle);
    ASSERT_NE(at, std::string::npos);
    spoiled.replace(at, sizeof(value), reinterpret_cast<const char*>(&value), sizeof(value));
    Must(WriteFileAtomically(file_, spoiled));
    EXPECT_THAT(Load(), EndsWith(fmt::format("boundary 2: up of writer holds {} at 7",
                                             std::isnan(value) ? "NaN" : "infinity")));
    EXPECT_TRUE(ParseBundle(clean));
  }
}

TEST_F(BundleFile, WhoseKeysOrSizesDoNotFitTogetherIsRefused) {
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_remove_key(gguf, "mot.heads"); }),
              EndsWith("key mot.heads is missing"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_str(gguf, "mot.heads", "two"); }),
              EndsWith("key mot.heads is not of type u32"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.heads", 3); }),
              EndsWith("3 heads do not divide a shared width of 16"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.shared_dim", 8); }),
              HasSubstr("tensor mot.q1.wq is not F32 [8, 8]"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_f32(gguf, "mot.norm_eps", 0); }),
              EndsWith("norm_eps is not a positive number"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.expert_count", 3); }),
              EndsWith("key mot.expert.2.name is missing"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.boundary_count", 4); }),
              HasSubstr("is missing"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) { gguf_set_val_u32(gguf, "mot.router.top_k", 5); }),
              EndsWith("top_k is 5 (allowed: 1 to 2)"));
  EXPECT_THAT(
      Refusal([](gguf_context* gguf) { gguf_set_val_str(gguf, "mot.router.encoder", "oracle"); }),
      HasSubstr("unknown encoder \"oracle\""));
  EXPECT_THAT(
      Refusal([](gguf_context* gguf) { gguf_set_val_str(gguf, "mot.peer_mode", "dynamic"); }),
      HasSubstr("unknown peer mode \"dynamic\" (known: static aligned attention)"));
  EXPECT_THAT(
      Refusal([](gguf_context* gguf) { gguf_set_val_str(gguf, "mot.expert.1.sha256", "abc"); }),
      EndsWith("key mot.expert.1.sha256 is not a sha256"));
  EXPECT_THAT(
      Refusal([](gguf_context* gguf) { gguf_set_val_str(gguf, "mot.expert.1.name", "writer"); }),
      EndsWith("two experts are called writer"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) {
                const char* view[] = {"sass"};
                gguf_set_arr_str(gguf, "mot.expert.1.view", view, 1);
              }),
              HasSubstr("unknown part \"sass\" of a view"));
  EXPECT_THAT(Refusal([](gguf_context* gguf) {
                gguf_set_val_str(gguf, "mot.expert.1.prompt_format", "morse");
              }),
              HasSubstr("unknown prompt format \"morse\""));
  EXPECT_THAT(Refusal([](gguf_context* gguf) {
                gguf_set_val_bool(gguf, "mot.expert.0.can_be_primary", false);
              }),
              HasSubstr("tensors, not"));
}

TEST(BoundariesOf, AreThePapersAndNeverTheFirstOrTheLastLayer) {
  EXPECT_THAT(Must(BoundariesOf(28, 4)), ElementsAre(6, 13, 20));
  EXPECT_THAT(Must(BoundariesOf(24, 4)), ElementsAre(5, 11, 17));
  EXPECT_THAT(Must(BoundariesOf(30, 4)), ElementsAre(7, 15, 23));
  EXPECT_THAT(Must(BoundariesOf(9, 4)), ElementsAre(1, 3, 5));
  EXPECT_EQ(BoundariesOf(6, 4).error().message(), "6 layers are too few for 4 stacks");
  EXPECT_FALSE(BoundariesOf(24, 1));
  for (int layers = 3; layers < 100; ++layers) {
    for (int stacks = 2; stacks < 9; ++stacks) {
      if (const auto found = BoundariesOf(layers, stacks)) {
        EXPECT_GE(found->front(), 1);
        EXPECT_LE(found->back(), layers - 2);
      }
    }
  }
}

TEST(MatchExpert, SaysWhatIsAnother) {
  const BundleExpert expert = SmallBundle().experts[0];
  ExpertFacts facts = SomeExpert("writer", 8, 6).facts;
  EXPECT_TRUE(MatchExpert(expert, facts, false));
  facts.weights = ContentHash::Of("another file");
  const auto other = MatchExpert(expert, facts, false);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(),
              HasSubstr("writer.gguf is not the bundle's expert writer: other weights"));
  EXPECT_TRUE(MatchExpert(expert, facts, true));
  facts.vocabulary = ContentHash::Of("other words");
  EXPECT_THAT(MatchExpert(expert, facts, true).error().message(), EndsWith("another vocabulary"));
  facts.layers = 9;
  EXPECT_THAT(MatchExpert(expert, facts, true).error().message(),
              EndsWith("qwen2, 9 layers of 6, where the bundle has qwen2, 8 layers of 6"));
}

TEST(MakeUntrainedBundle, HasUpMatricesOfZeroAndARouterWithoutAnOpinion) {
  const Bundle bundle =
      Must(MakeUntrainedBundle({SomeExpert("a", 8, 6), SomeExpert("b", 8, 7)}, {}));
  EXPECT_EQ(bundle.training, "untrained");
  EXPECT_EQ(bundle.router.encoder, "hidden-mean");
  EXPECT_EQ(bundle.router.code_width, 6);
  for (const BoundaryWeights& weights : bundle.boundaries) {
    for (const auto& up : weights.up) {
      EXPECT_THAT(up, ::testing::Each(0.0F));
    }
  }
  EXPECT_THAT(bundle.router.output, ::testing::Each(0.0F));
  EXPECT_FALSE(MakeUntrainedBundle({}, {}));
  EXPECT_EQ(MakeUntrainedBundle({SomeExpert("a b", 8, 6)}, {}).error().message(),
            "\"a b\" is no name of an expert (letters, digits, . _ -)");
  EXPECT_FALSE(MakeUntrainedBundle({SomeExpert("a", 8, 6), SomeExpert("a", 8, 6)}, {}));
}

}  // namespace
}  // namespace optiml::mot
