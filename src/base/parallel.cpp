#include "base/parallel.h"

#include <cstring>

namespace optiml {

void CopyBytes(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr int64_t kCopied = int64_t{16} << 20;
  ForEachPiece(
      static_cast<int64_t>(bytes),
      [&](int64_t, int64_t begin, int64_t end) {
        std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
      },
      kCopied);
}

}  // namespace optiml
