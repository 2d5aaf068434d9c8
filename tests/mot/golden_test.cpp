// The interaction and the router against numbers that another implementation made (golden.py), on a
// bundle that it wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "mot/interaction_layer.h"
#include "mot/interaction_reference.h"
#include "mot/router.h"

namespace optiml::mot {
namespace {

template <typename T>
void ExpectClose(const std::vector<T>& actual, const std::vector<double>& expected, double bound) {
  ASSERT_EQ(actual.size(), expected.size());
  double greatest = 0;
  for (const double value : expected) {
    greatest = std::max(greatest, std::abs(value));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], bound * greatest) << i;
  }
}

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = fs::path(OPTIML_SOURCE_DIR) / "tests/mot";
    auto bundle = LoadBundle(folder / "golden.mot.gguf");
    ASSERT_TRUE(bundle) << bundle.error().message();
    bundle_ = *std::move(bundle);
    const auto text = ReadFile(folder / "golden.json");
    ASSERT_TRUE(text);
    json_ = nlohmann::json::parse(*text);
  }
  template <typename T>
  std::vector<T> Numbers(size_t boundary, const char* key) {
    return json_["boundaries"][boundary][key].get<std::vector<T>>();
  }

  Bundle bundle_;
  nlohmann::json json_;
};

TEST_F(Golden, TheReferenceGivesTheSameInDouble) {
  for (size_t q = 0; q < 3; ++q) {
    const ReferenceLatents latents = ReferencePeer(bundle_, q, 1, Numbers<float>(q, "peer"));
    ExpectClose(latents.keys, Numbers<double>(q, "keys"), 1e-12);
    ExpectClose(latents.values, Numbers<double>(q, "values"), 1e-12);
    ExpectClose(ReferenceUpdate(bundle_, q, 0, latents, Numbers<float>(q, "primary")),
                Numbers<double>(q, "update"), 1e-12);
  }
}

TEST_F(Golden, TheGraphsGiveTheSameInSinglePrecision) {
  const auto cpu = DeviceBackend::For(CpuDevice(), 1);
  ASSERT_TRUE(cpu);
  for (size_t q = 0; q < 3; ++q) {
    const std::vector<float> peer = Numbers<float>(q, "peer");
    const GgmlContext context = MakeGgmlContext(1);
    ggml_tensor* rows = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, 7, 5);
    const GgmlBuffer buffer(ggml_backend_alloc_ctx_tensors(context.get(), (*cpu)->get()));
    ggml_backend_tensor_set(rows, peer.data(), 0, ggml_nbytes(rows));
    const auto projection = PeerProjection::Make(bundle_, q, 1, *cpu);
    ASSERT_TRUE(projection);
    const auto latents = (*projection)->Project(*rows);
    ASSERT_TRUE(latents);
    ExpectClose(latents->keys, Numbers<double>(q, "keys"), 1e-5);
    ExpectClose(latents->values, Numbers<double>(q, "values"), 1e-5);
    const auto layer = InteractionLayer::Make(bundle_, q, 0, *cpu);
    ASSERT_TRUE(layer);
    ASSERT_TRUE((*layer)->SetLatents(*latents));
    const auto update = (*layer)->Update(Numbers<float>(q, "primary"));
    ASSERT_TRUE(update);
    ExpectClose(*update, Numbers<double>(q, "update"), 1e-5);
  }
}

TEST_F(Golden, TheRouterGivesTheSame) {
  const auto code = json_["code"].get<std::vector<float>>();
  ExpectClose(RouterScores(bundle_, code), json_["scores"].get<std::vector<double>>(), 1e-12);
}

}  // namespace
}  // namespace optiml::mot
