#ifndef OPTIML_MOT_MIXTURE_H_
#define OPTIML_MOT_MIXTURE_H_

// Mixture: a primary with its peers' latents bound to its boundaries, for one prompt. The primary
// then runs as any model does; its rows are changed on the way.
//
// The places of rows are counted from the end of the prompt: the last prompt token is at -1, the
// first token of the answer at 0. A peer's rows are counted from the end of its view likewise.

#include <cstddef>
#include <memory>
#include <vector>

#include "mot/peer_reader.h"

namespace optiml::mot {

struct MixturePeer {
  size_t expert = 0;
  std::vector<llama_token> view;  // not empty
};

struct MixtureOptions {
  PeerMode mode = PeerMode::kStatic;
  std::vector<size_t> boundaries;  // that interact, ascending; none: the plain primary
};

class Mixture {
 public:
  // `pool` and `reader` must outlive it. REQUIRES: boundaries and experts of the bundle
  Mixture(ExpertPool& pool, PeerReader& reader, size_t primary, std::vector<MixturePeer> peers,
          MixtureOptions options);
  // The primary is a plain model again.
  ~Mixture();
  Mixture(const Mixture&) = delete;  // the primary's hook knows its address
  Mixture& operator=(const Mixture&) = delete;

  // Says everything that the primary's cached prompt depends on.
  ContentHash Key(const std::vector<llama_token>& prompt) const;

  // Lets the peers read their views and binds the primary's boundaries, for a prompt of
  // `prompt_tokens` and answers of up to `answer_tokens`. Fails with kInvalidArgument when an
  // answer-time mode meets a peer with another vocabulary.
  Result<void> Bind(int64_t prompt_tokens, int64_t answer_tokens);
  // After the prompt was read or found in the cache; again before each further answer to it.
  Result<void> BeginAnswer();
  // Before the primary reads `token`, the answer's token `place`.
  Result<void> BeforeToken(llama_token token, int64_t place);
  bool answers_one_at_a_time() const { return options_.mode != PeerMode::kStatic; }

 private:
  std::vector<size_t> ActiveBoundaries() const;
  Result<void> ShowViews();
  Result<void> Interact(size_t boundary, InteractionLayer& layer, ggml_tensor& hidden);
  Visibility AlignedRows(int64_t first_row, int64_t rows) const;

  ExpertPool& pool_;
  PeerReader& reader_;
  size_t primary_;
  std::vector<MixturePeer> peers_;
  MixtureOptions options_;
  std::vector<std::shared_ptr<const PeerLatents>> read_;  // by peer
  std::vector<int64_t> rows_seen_;                        // by boundary, of the prompt
  bool reads_prompt_ = false;
  int64_t prompt_tokens_ = 0;
  int64_t answer_tokens_ = 0;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_MIXTURE_H_
