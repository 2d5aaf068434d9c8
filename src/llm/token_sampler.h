#ifndef OPTIML_MOT_TOKEN_SAMPLER_H_
#define OPTIML_MOT_TOKEN_SAMPLER_H_

// TokenSampler: the next token out of logits, by llama.cpp's samplers. Follows from its seed and
// what it was asked alone.

#include <llama.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace optiml::mot {

struct SamplingOptions {
  int max_tokens = 512;    // of one answer
  double temperature = 0;  // 0: the likeliest token
  double top_p = 0.95;     // the likeliest tokens of that much probability; 1: all
  int top_k = 40;          // of that many tokens; 0: all
  uint64_t seed = 0;       // candidate i uses seed + i
  std::string grammar;     // GBNF with a rule "root"; "": free text
};

class TokenSampler {
 public:
  // kInvalidArgument when the grammar cannot be read.
  static Result<TokenSampler> Make(const SamplingOptions& options, uint64_t seed,
                                   const llama_vocab* vocabulary);

  llama_token Next(std::span<const float> logits);

 private:
  struct Free {
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
  };
  std::unique_ptr<llama_sampler, Free> chain_;
  std::vector<llama_token_data> data_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_TOKEN_SAMPLER_H_
