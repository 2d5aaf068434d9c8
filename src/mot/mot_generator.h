#ifndef OPTIML_MOT_MOT_GENERATOR_H_
#define OPTIML_MOT_MOT_GENERATOR_H_

// MotGenerator: text from a mixture of thoughts. A router picks experts for a request; the peers
// among them read their views once; the primary writes n candidates that share its prompt.
//
//   auto generator = MotGenerator::Open(bundle, files, {});
//   auto candidates = (*generator)->Generate(views, 4, sampling);
//
// Threads: used by one thread at a time.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llm/token_sampler.h"
#include "mot/expert_pool.h"
#include "mot/mixture.h"
#include "mot/peer_reader.h"
#include "mot/prompt_encoder.h"
#include "mot/prompt_views.h"
#include "mot/router.h"

namespace optiml::mot {

struct MotOptions {
  PoolOptions pool;
  bool mixture = true;           // false: the primary alone, for comparisons (--no-mot)
  int top_k = 0;                 // experts that take part; 0: as many as the bundle says
  std::string primary;           // "": the router chooses
  std::vector<int> depths;       // boundaries that interact, from 1; empty: all of them
  std::optional<PeerMode> mode;  // absent: the bundle's
  std::map<std::string, std::vector<std::string>> views;  // by expert; absent: the bundle's
  std::filesystem::path encoder;                          // of a "bert" router
  size_t latent_cache_bytes = size_t{256} << 20;
};

struct GenerateOptions {
  SamplingOptions sampling;  // candidate i uses seed + i
  // Rows of a decoding step; 0: one a candidate. The last bits of a row depend on their number, so
  // a candidate repeats alone only at the same width.
  int width = 0;
  std::chrono::milliseconds time_limit{0};  // 0: none; over: kTimeout
  const std::atomic<bool>* stop = nullptr;  // set: kInterrupted. Borrowed; may be null
};

struct Candidate {
  std::string text;
  bool cut = false;  // at max_tokens or the end of the context
  int64_t tokens = 0;
};

struct Generated {
  Route route;
  int64_t prompt_tokens = 0;  // of the primary
  int64_t view_tokens = 0;    // of its peers
  bool prompt_reused = false;
  std::vector<Candidate> candidates;
};

class MotGenerator {
 public:
  // Fails as ExpertPool::Open does, and with kInvalidArgument for options that the bundle cannot
  // follow.
  static Result<std::unique_ptr<MotGenerator>> Open(Bundle bundle, const ExpertFiles& files,
                                                    const MotOptions& options);

  Result<Route> RouteOf(const PromptViews& views);
  // REQUIRES: n >= 1, views.messages is not empty
  Result<Generated> Generate(const PromptViews& views, int n, const GenerateOptions& options);

  ExpertPool& pool() { return *pool_; }
  const PeerReader& reader() const { return reader_; }

 private:
  MotGenerator(std::unique_ptr<ExpertPool> pool, const MotOptions& options);
  Result<void> CheckOptions();
  const std::vector<std::string>& ViewOf(size_t expert) const;
  // The tokens that the expert reads; none when the request has no part of its view.
  Result<std::vector<llama_token>> Tokens(size_t expert, const PromptViews& views);
  Result<std::vector<float>> Encode(const PromptViews& views);
  Result<std::vector<MixturePeer>> Peers(const Route& route, const PromptViews& views);
  // Brings the primary to the end of the prompt; true when it was there.
  Result<bool> ReadPrompt(Mixture& mixture, Expert& primary, size_t index,
                          const std::vector<llama_token>& prompt);

  std::unique_ptr<ExpertPool> pool_;
  MotOptions options_;
  PeerReader reader_;
  std::optional<size_t> primary_;
  MixtureOptions mixture_options_;
  std::unique_ptr<PromptEncoder> encoder_;  // null: "hidden-mean"
  std::vector<float> prompt_logits_;        // of the prompt that the primary holds
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_MOT_GENERATOR_H_
