#ifndef OPTIML_LLM_TOKEN_SAMPLER_H_
#define OPTIML_LLM_TOKEN_SAMPLER_H_

// TokenSampler: the next token out of logits, by llama.cpp's samplers. Follows from its seed and
// what it was asked alone.

#include <llama.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace optiml {

struct SamplingOptions {
  int max_tokens = 512;    // of one answer
  double temperature = 0;  // 0: the likeliest token
  double top_p = 0.95;     // the likeliest tokens of that much probability; 1: all
  int top_k = 40;          // of that many tokens; 0: all
  uint64_t seed = 0;
  std::string grammar;  // GBNF with a rule "root"; "": free text
};

class TokenSampler {
 public:
  // kInvalidArgument when the grammar cannot be read. The vocabulary must outlive the sampler.
  static Result<TokenSampler> Make(const SamplingOptions& options, const llama_vocab* vocabulary);

  // LLAMA_TOKEN_NULL when no token of the vocabulary fits the grammar. With a grammar the likeliest
  // way is tried first: a token that is chosen without it and fits; only when it does not fit the
  // grammar is asked about the whole vocabulary.
  llama_token Next(std::span<const float> logits);

 private:
  struct Free {
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
  };
  using Pointer = std::unique_ptr<llama_sampler, Free>;

  llama_token_data Choose(std::span<const float> logits, bool by_grammar);

  Pointer chain_;
  Pointer grammar_;  // null: free text
  std::vector<llama_token_data> data_;
};

}  // namespace optiml

#endif  // OPTIML_LLM_TOKEN_SAMPLER_H_
