#ifndef OPTIML_BUILD_BUILD_CACHE_H_
#define OPTIML_BUILD_BUILD_CACHE_H_

// BuildCache: build outcomes by key, in memory and, if a folder is given, on disk.
//
// One file an entry, "<key>.build", written atomically and closed by a checksum: an entry that is
// truncated, altered or of another format version counts as absent and is written again. A cache
// that cannot be written (full disk, read-only folder) is no failure: the build goes on without it.
// Failures are kept like successes. Thread safe.

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/content_hash.h"
#include "core/artifact.h"

namespace optiml {

class BuildCache {
 public:
  // `folder` is made on the first write; empty: memory only.
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // With from_cache set and build_time 0.
  std::optional<BuildOutcome> Find(const ContentHash& key);
  void Insert(const ContentHash& key, const BuildOutcome& outcome);

  // Where an entry lies on disk.
  std::filesystem::path PathOf(const ContentHash& key) const;

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<ContentHash, BuildOutcome> entries_;
  size_t bytes_ = 0;  // of PTX, cubins and logs in entries_
};

// The bytes of an entry, and back; nothing for bytes that are not an intact entry.
std::string FormatBuildOutcome(const BuildOutcome& outcome);
std::optional<BuildOutcome> ParseBuildOutcome(std::string_view bytes);

}  // namespace optiml

#endif  // OPTIML_BUILD_BUILD_CACHE_H_
