#ifndef OPTIML_BASE_HUGE_PAGES_H_
#define OPTIML_BASE_HUGE_PAGES_H_

// Large arrays that are read here and there: in pages of 2 MiB the host finds their addresses
// sooner, and they are cleared sooner.

#include <cstddef>

namespace optiml {

// A hint for memory that nobody has touched yet. Only whole huge pages inside of it are meant, so
// that no more memory is taken than asked for. Where the system has none, nothing happens.
void PreferHugePages(void* begin, size_t bytes);

}  // namespace optiml

#endif  // OPTIML_BASE_HUGE_PAGES_H_
