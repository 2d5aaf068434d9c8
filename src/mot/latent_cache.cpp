#include "mot/latent_cache.h"

#include <iterator>
#include <utility>

namespace optiml::mot {

size_t PeerLatents::bytes() const {
  size_t numbers = mean.size();
  for (const Latents& latents : boundaries) {
    numbers += latents.keys.size() + latents.values.size();
  }
  return numbers * sizeof(float);
}

std::shared_ptr<const PeerLatents> LatentCache::Find(const ContentHash& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->latents;
}

void LatentCache::Insert(const ContentHash& key, std::shared_ptr<const PeerLatents> latents) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    Erase(found->second);
  }
  if (latents->bytes() > most_bytes_) {
    return;
  }
  bytes_ += latents->bytes();
  entries_.push_front({key, std::move(latents)});
  by_key_[key] = entries_.begin();
  while (bytes_ > most_bytes_) {
    Erase(std::prev(entries_.end()));
  }
}

void LatentCache::Erase(std::list<Entry>::iterator entry) {
  bytes_ -= entry->latents->bytes();
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace optiml::mot
