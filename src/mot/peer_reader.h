#ifndef OPTIML_MOT_PEER_READER_H_
#define OPTIML_MOT_PEER_READER_H_

// PeerReader: peers read their views, once, and what their boundaries give is projected and kept.
// With answer-time modes they read on, token by token, with the primary.

#include <cstddef>
#include <memory>
#include <vector>

#include "mot/expert_pool.h"
#include "mot/latent_cache.h"

namespace optiml::mot {

class PeerReader {
 public:
  PeerReader(ExpertPool& pool, size_t cache_bytes) : pool_(pool), cache_(cache_bytes) {}

  // What `expert` makes of a view. From the cache, unless `keep_context`: then the expert's
  // sequence 0 holds the view afterwards.
  Result<std::shared_ptr<const PeerLatents>> Read(size_t expert,
                                                  const std::vector<llama_token>& view,
                                                  bool keep_context = false);
  // One more token at `position` of its sequence 0: one row a boundary.
  Result<std::vector<Latents>> ReadOn(size_t expert, llama_token token, llama_pos position);

  const LatentCache& cache() const { return cache_; }
  ContentHash KeyOf(size_t expert, const std::vector<llama_token>& view) const;

 private:
  // Lets the expert's boundaries write into `latents`, and its last one into `sums`.
  Result<void> Watch(size_t expert, std::vector<Latents>& latents, std::vector<double>* sums);

  ExpertPool& pool_;
  LatentCache cache_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_PEER_READER_H_
