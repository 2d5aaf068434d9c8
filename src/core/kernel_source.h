#ifndef OPTIML_CORE_KERNEL_SOURCE_H_
#define OPTIML_CORE_KERNEL_SOURCE_H_

// KernelSource: a whole .cu text with its launcher's symbol. Immutable; two sources are the same if
// their hashes are.

#include <string>
#include <utility>

#include "base/content_hash.h"

namespace optiml {

class KernelSource {
 public:
  KernelSource() = default;
  // `path` is what messages call the file; it does not enter the hash.
  KernelSource(std::string text, std::string entry, std::string path)
      : text_(std::move(text)),
        entry_(std::move(entry)),
        path_(std::move(path)),
        hash_(ContentHasher().Add(text_).Add(entry_).Finish()) {}

  const std::string& text() const { return text_; }
  const std::string& entry() const { return entry_; }  // the launcher, a host function
  const std::string& path() const { return path_; }
  const ContentHash& hash() const { return hash_; }

 private:
  std::string text_;
  std::string entry_;
  std::string path_;
  ContentHash hash_;
};

}  // namespace optiml

#endif  // OPTIML_CORE_KERNEL_SOURCE_H_
