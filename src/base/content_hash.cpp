#include "base/content_hash.h"

#include <openssl/sha.h>

#include <cstring>

namespace optiml {

ContentHash ContentHash::Of(std::string_view text) {
  return Of(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

ContentHash ContentHash::Of(std::span<const std::byte> bytes) {
  ContentHash hash;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.digest_.data());
  return hash;
}

std::string ContentHash::Hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const uint8_t byte : digest_) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

Result<ContentHash> ContentHash::Parse(std::string_view hex) {
  ContentHash hash;
  if (hex.size() != 64) {
    return Error(ErrorCode::kParse,
                 "a content hash has 64 hexadecimal digits, not " + std::to_string(hex.size()));
  }
  for (size_t i = 0; i < 64; ++i) {
    const char c = hex[i];
    int digit = -1;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else {
      return Error(ErrorCode::kParse,
                   std::string("a content hash has digits 0-9 and a-f, not '") + c + "'");
    }
    hash.digest_[i / 2] = static_cast<uint8_t>(hash.digest_[i / 2] << 4 | digit);
  }
  return hash;
}

ContentHasher& ContentHasher::Add(std::string_view field) {
  const uint64_t size = field.size();
  char prefix[8];
  std::memcpy(prefix, &size, 8);
  buffer_.append(prefix, 8).append(field);
  return *this;
}

ContentHash ContentHasher::Finish() const {
  return ContentHash::Of(buffer_);
}

}  // namespace optiml
