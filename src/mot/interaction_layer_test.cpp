#include "mot/interaction_layer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "mot/interaction_reference.h"
#include "mot/mot_test_support.h"

namespace optiml::mot {
namespace {

struct Shape {
  int64_t shared = 16;
  int heads = 2;
  int64_t primary = 24;
  std::vector<int64_t> peers = {20};
};

Bundle RandomBundle(const Shape& shape, Rng& rng) {
  Bundle bundle;
  bundle.shared_width = shape.shared;
  bundle.heads = shape.heads;
  std::vector<int64_t> widths = {shape.primary};
  widths.insert(widths.end(), shape.peers.begin(), shape.peers.end());
  BoundaryWeights weights;
  const auto random = [&](int64_t outputs, int64_t inputs) {
    std::vector<float> values(static_cast<size_t>(outputs * inputs));
    FillRandom(values, 1 / std::sqrt(static_cast<double>(inputs)), rng);
    return values;
  };
  const int64_t s = shape.shared;
  for (const int64_t width : widths) {
    BundleExpert expert;
    expert.name = fmt::format("e{}", bundle.experts.size());
    expert.width = width;
    bundle.experts.push_back(expert);
    weights.in.push_back(random(s, width));
    weights.kind.push_back(random(s, 1));
    weights.down.push_back(random(s, width));
    weights.up.push_back(random(width, s));
  }
  weights.query = random(s, s);
  weights.key = random(s, s);
  weights.value = random(s, s);
  weights.output = random(s, s);
  weights.null_key = random(1, s);
  bundle.boundaries.push_back(weights);
  return bundle;
}

std::vector<float> RandomRows(int64_t rows, int64_t width, Rng& rng) {
  std::vector<float> values(static_cast<size_t>(rows * width));
  FillRandom(values, 3, rng);
  return values;
}

// Rows in a tensor of the CPU's.
struct Rows {
  Rows(const std::vector<float>& values, int64_t width, const DeviceBackend& backend)
      : context(MakeGgmlContext(1)),
        tensor(ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, width,
                                  static_cast<int64_t>(values.size()) / width)),
        buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend.get())) {
    ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
  }
  std::vector<float> Read() const {
    std::vector<float> values(static_cast<size_t>(ggml_nelements(tensor)));
    ggml_backend_tensor_get(tensor, values.data(), 0, ggml_nbytes(tensor));
    return values;
  }
  GgmlContext context;
  ggml_tensor* tensor;
  GgmlBuffer buffer;
};

// The greatest difference over the greatest reference number.
double RelativeError(const std::vector<double>& expected, const std::vector<float>& actual) {
  EXPECT_EQ(expected.size(), actual.size());
  double greatest = 0;
  double difference = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    greatest = std::max(greatest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(expected[i] - static_cast<double>(actual[i])));
  }
  return greatest == 0 ? difference : difference / greatest;
}

std::shared_ptr<DeviceBackend> Cpu() {
  return Must(DeviceBackend::For(CpuDevice(), 1));
}

// Both sides of a boundary against the reference: `peer_rows` rows of each peer, `rows` of the
// primary.
void Compare(const Shape& shape, int64_t peer_rows, int64_t rows, uint64_t seed) {
  SCOPED_TRACE(fmt::format("shared {} heads {} width {} peers {} rows {} of {} seed {}",
                           shape.shared, shape.heads, shape.primary, shape.peers.size(), rows,
                           peer_rows, seed));
  Rng rng(seed);
  const Bundle bundle = RandomBundle(shape, rng);
  const auto cpu = Cpu();
  Latents latents;
  ReferenceLatents reference;
  for (size_t m = 1; m < bundle.experts.size(); ++m) {
    const int64_t width = bundle.experts[m].width;
    const std::vector<float> read = RandomRows(peer_rows, width, rng);
    const ReferenceLatents expected = ReferencePeer(bundle, 0, m, read);
    const Rows hidden(read, width, *cpu);
    const Latents projected =
        Must(Must(PeerProjection::Make(bundle, 0, m, cpu))->Project(*hidden.tensor));
    EXPECT_EQ(projected.rows, peer_rows);
    EXPECT_LT(RelativeError(expected.keys, projected.keys), 1e-5);
    EXPECT_LT(RelativeError(expected.values, projected.values), 1e-5);
    latents.Append(projected);
    reference.rows += expected.rows;
    reference.keys.insert(reference.keys.end(), expected.keys.begin(), expected.keys.end());
    reference.values.insert(reference.values.end(), expected.values.begin(), expected.values.end());
  }
  const auto layer = Must(InteractionLayer::Make(bundle, 0, 0, cpu));
  Must(layer->SetLatents(latents));
  const std::vector<float> before = RandomRows(rows, shape.primary, rng);
  const std::vector<double> expected = ReferenceUpdate(bundle, 0, 0, reference, before);
  EXPECT_LT(RelativeError(expected, Must(layer->Update(before))), 1e-5);

  const Rows hidden(before, shape.primary, *cpu);
  Must(layer->Apply(*hidden.tensor));
  std::vector<double> sum = expected;
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] += static_cast<double>(before[i]);
  }
  EXPECT_LT(RelativeError(sum, hidden.Read()), 1e-5);
  // The graph that is kept gives the same again.
  const std::vector<float> first = hidden.Read();
  ggml_backend_tensor_set(hidden.tensor, before.data(), 0, ggml_nbytes(hidden.tensor));
  Must(layer->Apply(*hidden.tensor));
  EXPECT_TRUE(SameBits(first, hidden.Read()));
}

TEST(InteractionLayer, IsTheReferenceOverRandomShapes) {
  Rng rng(11);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Shape shape;
    shape.heads = static_cast<int>(1 + rng.NextBelow(4));
    shape.shared = shape.heads * static_cast<int64_t>(1 + rng.NextBelow(32));
    shape.primary = static_cast<int64_t>(1 + rng.NextBelow(96));
    shape.peers.assign(1 + rng.NextBelow(3), 0);
    for (int64_t& width : shape.peers) {
      width = static_cast<int64_t>(1 + rng.NextBelow(96));
    }
    Compare(shape, static_cast<int64_t>(1 + rng.NextBelow(70)),
            static_cast<int64_t>(1 + rng.NextBelow(70)), seed);
  }
}

TEST(InteractionLayer, IsTheReferenceForOneRowOneKeyAndTheUsualWidths) {
  Compare({}, 1, 1, 1);
  Compare({}, 1, 33, 2);
  Compare({}, 33, 1, 3);
  Compare({256, 8, 896, {1536}}, 40, 5, 4);
}

TEST(InteractionLayer, WithoutPeersNothingChanges) {
  Rng rng(5);
  const Bundle bundle = RandomBundle({}, rng);
  const auto cpu = Cpu();
  const auto layer = Must(InteractionLayer::Make(bundle, 0, 0, cpu));
  const std::vector<float> before = RandomRows(3, 24, rng);
  for (const bool set : {false, true}) {
    if (set) {
      Must(layer->SetLatents({}));
    }
    const Rows hidden(before, 24, *cpu);
    Must(layer->Apply(*hidden.tensor));
    EXPECT_TRUE(SameBits(before, hidden.Read()));
  }
}

TEST(InteractionLayer, AppendedLatentsCountAsIfTheyHadBeenThere) {
  Rng rng(6);
  const Bundle bundle = RandomBundle({}, rng);
  const auto cpu = Cpu();
  const auto projection = Must(PeerProjection::Make(bundle, 0, 1, cpu));
  const auto project = [&](int64_t rows) {
    const Rows hidden(RandomRows(rows, 20, rng), 20, *cpu);
    return Must(projection->Project(*hidden.tensor));
  };
  const Latents first = project(5);
  const Latents second = project(2);
  Latents all = first;
  all.Append(second);
  const std::vector<float> rows = RandomRows(4, 24, rng);
  const auto whole = Must(InteractionLayer::Make(bundle, 0, 0, cpu));
  Must(whole->SetLatents(all));
  const auto grown = Must(InteractionLayer::Make(bundle, 0, 0, cpu));
  Must(grown->SetLatents(first, 2));
  const std::vector<float> fewer = Must(grown->Update(rows));
  grown->AppendLatents(second);
  EXPECT_EQ(grown->latent_rows(), 7);
  EXPECT_TRUE(SameBits(Must(whole->Update(rows)), Must(grown->Update(rows))));
  EXPECT_FALSE(SameBits(fewer, Must(grown->Update(rows))));
}

TEST(InteractionLayer, InvisibleLatentsCountAsIfTheyWereNotThere) {
  Rng rng(7);
  const Bundle bundle = RandomBundle({}, rng);
  const auto cpu = Cpu();
  const std::vector<float> read = RandomRows(6, 20, rng);
  const Rows hidden(read, 20, *cpu);
  const Latents latents =
      Must(Must(PeerProjection::Make(bundle, 0, 1, cpu))->Project(*hidden.tensor));
  const ReferenceLatents reference = ReferencePeer(bundle, 0, 1, read);
  const auto layer = Must(InteractionLayer::Make(bundle, 0, 0, cpu));
  Must(layer->SetLatents(latents));
  const std::vector<float> rows = RandomRows(3, 24, rng);
  Visibility visible(3 * 6);
  visible[0 * 6 + 2] = visible[0 * 6 + 5] = visible[1 * 6 + 0] = 1;  // the last row sees none
  const std::vector<float> update = Must(layer->Update(rows, visible));
  EXPECT_LT(RelativeError(ReferenceUpdate(bundle, 0, 0, reference, rows, visible), update), 1e-5);
  for (size_t i = 2 * 24; i < update.size(); ++i) {
    EXPECT_EQ(update[i], 0.0F);
  }
}

}  // namespace
}  // namespace optiml::mot
