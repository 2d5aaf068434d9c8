#include "mot/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mot/device_backend.h"

namespace optiml::mot {
namespace {

constexpr int kTokens = 8;

Error Unusable(const Expert& expert, const std::string& what) {
  return Error(ErrorCode::kUnavailable,
               fmt::format("{}: {} (llama.cpp {}); no mixture is possible with it",
                           expert.facts().file, what, llama_version()));
}

// The logits of a few tokens under the hook as it stands.
Result<std::vector<float>> Run(Expert& expert) {
  expert.Forget();
  std::vector<llama_token> tokens;
  for (int i = 0; i < kTokens; ++i) {
    tokens.push_back(static_cast<llama_token>((i * 7919 + 3) % expert.facts().vocabulary_size));
  }
  OPTIML_TRY(expert.Prefill(tokens, 0, 0));
  const std::span<const float> logits = expert.Logits(-1);
  return std::vector<float>(logits.begin(), logits.end());
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Adds `amount` to every row that leaves `layer` and writes them back.
Result<std::vector<float>> RunMoved(Expert& expert, int layer, float amount) {
  expert.hook().Clear();
  expert.hook().Watch(layer, [amount](ggml_tensor& hidden) -> Result<void> {
    std::vector<float> rows(static_cast<size_t>(ggml_nelements(&hidden)));
    ggml_backend_tensor_get(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
    for (size_t i = 0; i < rows.size() && amount != 0; ++i) {
      rows[i] += i % 2 == 0 ? amount : -amount;
    }
    ggml_backend_tensor_set(&hidden, rows.data(), 0, ggml_nbytes(&hidden));
    return {};
  });
  return Run(expert);
}

Result<std::vector<ggml_backend_dev_t>> Check(Expert& expert, const std::vector<int>& layers) {
  expert.hook().Clear();
  OPTIML_ASSIGN(const std::vector<float> plain, Run(expert));
  std::vector<ggml_backend_dev_t> devices(layers.size(), nullptr);
  for (size_t i = 0; i < layers.size(); ++i) {
    expert.hook().Watch(layers[i], [&devices, i](ggml_tensor& hidden) -> Result<void> {
      devices[i] = DeviceOf(hidden);
      return {};
    });
  }
  OPTIML_ASSIGN(const std::vector<float> observed, Run(expert));
  if (!SameBits(plain, observed)) {
    return Unusable(expert, "observing its layers changes its logits");
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    OPTIML_ASSIGN(const std::vector<float> written, RunMoved(expert, layers[i], 0));
    if (!SameBits(plain, written)) {
      return Unusable(expert, fmt::format("writing layer {} back changes its logits", layers[i]));
    }
    OPTIML_ASSIGN(const std::vector<float> moved, RunMoved(expert, layers[i], 0.5F));
    if (SameBits(plain, moved) || devices[i] == nullptr) {
      return Unusable(expert, fmt::format("writing layer {} changes nothing", layers[i]));
    }
  }
  return devices;
}

}  // namespace

Result<std::vector<ggml_backend_dev_t>> SelfCheck(Expert& expert, const std::vector<int>& layers) {
  auto devices = Check(expert, layers);
  expert.hook().Clear();
  expert.Forget();
  return devices;
}

}  // namespace optiml::mot
