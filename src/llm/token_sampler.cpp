#include "mot/token_sampler.h"

#include "base/check.h"
#include "mot/llama_runtime.h"

namespace optiml::mot {

Result<TokenSampler> TokenSampler::Make(const SamplingOptions& options, uint64_t seed,
                                        const llama_vocab* vocabulary) {
  TokenSampler made;
  made.chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  const auto add = [&](llama_sampler* sampler) {
    llama_sampler_chain_add(made.chain_.get(), sampler);
  };
  if (!options.grammar.empty()) {
    const LlamaLog log;
    llama_sampler* grammar =
        llama_sampler_init_grammar(vocabulary, options.grammar.c_str(), "root");
    if (grammar == nullptr) {
      return Error(ErrorCode::kInvalidArgument, "the grammar cannot be read: " + log.Reason(""));
    }
    add(grammar);
  }
  if (options.temperature <= 0) {
    add(llama_sampler_init_greedy());
  } else {
    add(llama_sampler_init_top_k(options.top_k));
    add(llama_sampler_init_top_p(static_cast<float>(options.top_p), 1));
    add(llama_sampler_init_temp(static_cast<float>(options.temperature)));
    // 0xFFFFFFFF would mean a random seed.
    add(llama_sampler_init_dist(static_cast<uint32_t>(seed % LLAMA_DEFAULT_SEED)));
  }
  return made;
}

llama_token TokenSampler::Next(std::span<const float> logits) {
  data_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    data_[i] = {static_cast<llama_token>(i), logits[i], 0.0F};
  }
  llama_token_data_array candidates = {data_.data(), data_.size(), -1, false};
  llama_sampler_apply(chain_.get(), &candidates);
  OPTIML_CHECK(candidates.selected >= 0, "the last sampler of the chain selects");
  const llama_token token = candidates.data[candidates.selected].id;
  llama_sampler_accept(chain_.get(), token);
  return token;
}

}  // namespace optiml::mot
