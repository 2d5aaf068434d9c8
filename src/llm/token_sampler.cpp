#include "llm/token_sampler.h"

#include <cmath>

#include "base/check.h"

namespace optiml {

Result<TokenSampler> TokenSampler::Make(const SamplingOptions& options,
                                        const llama_vocab* vocabulary) {
  TokenSampler made;
  made.chain_.reset(llama_sampler_chain_init(llama_sampler_chain_default_params()));
  const auto add = [&](llama_sampler* sampler) {
    llama_sampler_chain_add(made.chain_.get(), sampler);
  };
  if (!options.grammar.empty()) {
    made.grammar_.reset(llama_sampler_init_grammar(vocabulary, options.grammar.c_str(), "root"));
    if (made.grammar_ == nullptr) {
      return Error(ErrorCode::kInvalidArgument,
                   "llama.cpp does not take the grammar of the answer");
    }
  }
  if (options.temperature <= 0) {
    add(llama_sampler_init_greedy());
    return made;
  }
  if (options.top_k > 0) {
    add(llama_sampler_init_top_k(options.top_k));
  }
  if (options.top_p < 1) {
    add(llama_sampler_init_top_p(static_cast<float>(options.top_p), 1));
  }
  add(llama_sampler_init_temp(static_cast<float>(options.temperature)));
  // The seed's halves; LLAMA_DEFAULT_SEED would ask for a random one.
  const auto seed = static_cast<uint32_t>(options.seed ^ (options.seed >> 32));
  add(llama_sampler_init_dist(seed == LLAMA_DEFAULT_SEED ? 0 : seed));
  return made;
}

llama_token TokenSampler::Next(std::span<const float> logits) {
  llama_token_data chosen = Choose(logits, /*by_grammar=*/false);
  if (grammar_ != nullptr) {
    llama_token_data_array one{&chosen, 1, -1, false};
    llama_sampler_apply(grammar_.get(), &one);
    if (std::isinf(chosen.logit)) {
      chosen = Choose(logits, /*by_grammar=*/true);
    }
    if (std::isinf(chosen.logit)) {
      return LLAMA_TOKEN_NULL;
    }
    llama_sampler_accept(grammar_.get(), chosen.id);
  }
  llama_sampler_accept(chain_.get(), chosen.id);
  return chosen.id;
}

llama_token_data TokenSampler::Choose(std::span<const float> logits, bool by_grammar) {
  data_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    data_[i] = {static_cast<llama_token>(i), logits[i], 0.0F};
  }
  llama_token_data_array all{data_.data(), data_.size(), -1, false};
  if (by_grammar) {
    llama_sampler_apply(grammar_.get(), &all);
  }
  llama_sampler_apply(chain_.get(), &all);
  OPTIML_CHECK(all.selected >= 0, "the last sampler of the chain selects");
  return all.data[all.selected];
}

}  // namespace optiml
