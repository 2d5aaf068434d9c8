#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace optiml {

void PreferHugePages(void* begin, size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto at = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = (at + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (at + bytes) / kHugePage * kHugePage;
  if (first < end) {
    // Fails where the kernel was built without them: then they stay small.
    (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  }
}

}  // namespace optiml
