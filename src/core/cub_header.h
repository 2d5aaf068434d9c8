#ifndef OPTIML_CORE_CUB_HEADER_H_
#define OPTIML_CORE_CUB_HEADER_H_

// All of CUB in one header: many files include it and do not use it, and its content takes seconds.
// The front end and the builder must agree on what such a text gets in its place, or they would read
// two programs.

#include <string_view>

namespace optiml {

inline constexpr const char kCubHeader[] = "cub/cub.cuh";

// What texts get of it that do not use it: some rely on what it includes.
inline constexpr const char kUnusedCub[] =
    "#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n"
    "#include <cstdio>\n#include <limits>\n#include <type_traits>\n";

inline bool UsesCub(std::string_view text) {
  return text.find("cub::") != std::string_view::npos ||
         text.find("namespace cub") != std::string_view::npos;
}

}  // namespace optiml

#endif  // OPTIML_CORE_CUB_HEADER_H_
