#ifndef OPTIML_MOT_LATENT_CACHE_H_
#define OPTIML_MOT_LATENT_CACHE_H_

// LatentCache: what peers have made of the views that they have read. The key says everything that
// it depends on: bundle, expert, tokens. Bounded by bytes; the least recently used goes first.

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/content_hash.h"
#include "mot/latents.h"

namespace optiml::mot {

struct PeerLatents {
  std::vector<Latents> boundaries;
  std::vector<float> mean;  // over its rows at the last boundary: a code for the router

  size_t bytes() const;
};

class LatentCache {
 public:
  explicit LatentCache(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Null when it is not there. What was handed out stays valid after it left the cache.
  std::shared_ptr<const PeerLatents> Find(const ContentHash& key);
  // Kept unless it alone is larger than the cache.
  void Insert(const ContentHash& key, std::shared_ptr<const PeerLatents> latents);

  size_t bytes() const { return bytes_; }
  size_t entries() const { return entries_.size(); }

 private:
  struct Entry {
    ContentHash key;
    std::shared_ptr<const PeerLatents> latents;
  };
  void Erase(std::list<Entry>::iterator entry);

  size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::map<ContentHash, std::list<Entry>::iterator> by_key_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_LATENT_CACHE_H_
