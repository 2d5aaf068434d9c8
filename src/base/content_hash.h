#ifndef OPTIML_BASE_CONTENT_HASH_H_
#define OPTIML_BASE_CONTENT_HASH_H_

// ContentHash: SHA-256 of some bytes. Equal hashes are taken to mean equal contents (sources, PTX,
// cubins, stored blobs), also for candidates written by an adversary, which is why it is a
// cryptographic hash.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace optiml {

class ContentHash {
 public:
  ContentHash() = default;  // all zero: the hash of nothing that was ever hashed
  static ContentHash Of(std::string_view text);
  static ContentHash Of(std::span<const std::byte> bytes);

  // 64 lower-case hexadecimal digits. Parse refuses any other form.
  std::string Hex() const;
  static Result<ContentHash> Parse(std::string_view hex);

  bool is_zero() const { return *this == ContentHash(); }
  friend auto operator<=>(const ContentHash&, const ContentHash&) = default;

 private:
  std::array<uint8_t, 32> digest_{};
};

// Builds one hash over several fields; each field is length-prefixed, so that ("ab","c") and
// ("a","bc") differ.
class ContentHasher {
 public:
  ContentHasher& Add(std::string_view field);
  ContentHash Finish() const;

 private:
  std::string buffer_;
};

}  // namespace optiml

#endif  // OPTIML_BASE_CONTENT_HASH_H_
