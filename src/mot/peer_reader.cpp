#include "mot/peer_reader.h"

#include <array>

namespace optiml::mot {

ContentHash PeerReader::KeyOf(size_t expert, const std::vector<llama_token>& view) const {
  return ContentHasher()
      .Add(pool_.bundle_hash().Hex())
      .Add(pool_.expert(expert).facts().weights.Hex())
      .Add(std::to_string(expert))
      .Add({reinterpret_cast<const char*>(view.data()), view.size() * sizeof(llama_token)})
      .Finish();
}

Result<void> PeerReader::Watch(size_t expert, std::vector<Latents>& latents,
                               std::vector<double>* sums) {
  const std::vector<int>& layers = pool_.bundle().experts[expert].boundaries;
  EvalHook& hook = pool_.expert(expert).hook();
  hook.Clear();
  latents.assign(layers.size(), {});
  for (size_t q = 0; q < layers.size(); ++q) {
    OPTIML_ASSIGN(const PeerProjection* projection, pool_.Projection(expert, q));
    std::vector<double>* last = q + 1 == layers.size() ? sums : nullptr;
    hook.Watch(layers[q], [&latents, q, projection, last](ggml_tensor& hidden) -> Result<void> {
      OPTIML_ASSIGN(const Latents more, projection->Project(hidden));
      latents[q].Append(more);
      if (last != nullptr) {
        std::vector<float> rows(static_cast<size_t>(ggml_nelements(&hidden)));
        ggml_backend_tensor_get(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
        for (size_t i = 0; i < rows.size(); ++i) {
          (*last)[i % last->size()] += static_cast<double>(rows[i]);
        }
      }
      return {};
    });
  }
  return {};
}

Result<std::shared_ptr<const PeerLatents>> PeerReader::Read(size_t expert,
                                                            const std::vector<llama_token>& view,
                                                            bool keep_context) {
  const ContentHash key = KeyOf(expert, view);
  if (!keep_context) {
    if (auto found = cache_.Find(key)) {
      return found;
    }
  }
  Expert& model = pool_.expert(expert);
  auto read = std::make_shared<PeerLatents>();
  std::vector<double> sums(static_cast<size_t>(model.facts().width));
  OPTIML_TRY(Watch(expert, read->boundaries, &sums));
  model.Forget();
  pool_.prompt_key(expert) = ContentHash();
  const auto done = model.Prefill(view, 0, 0);
  model.hook().Clear();
  if (!done) {
    return done.error();
  }
  for (const double sum : sums) {
    read->mean.push_back(static_cast<float>(sum / static_cast<double>(view.size())));
  }
  cache_.Insert(key, read);
  return std::shared_ptr<const PeerLatents>(std::move(read));
}

Result<std::vector<Latents>> PeerReader::ReadOn(size_t expert, llama_token token,
                                                llama_pos position) {
  std::vector<Latents> latents;
  OPTIML_TRY(Watch(expert, latents, nullptr));
  Expert& model = pool_.expert(expert);
  const std::array<TokenRow, 1> row = {TokenRow{token, position, 0, false}};
  const auto done = model.Decode(row);
  model.hook().Clear();
  if (!done) {
    return done.error();
  }
  return latents;
}

}  // namespace optiml::mot
