#ifndef OPTIML_FRONTEND_CLANG_PRELUDE_PCH_H_
#define OPTIML_FRONTEND_CLANG_PRELUDE_PCH_H_

// The prelude, parsed once in this process and kept as a precompiled header in memory: a file then
// costs what it says itself, 1 to 3 ms instead of 15. Threads: safe; the first caller makes it.

#include <string>
#include <vector>

namespace optiml::frontend {

// The precompiled prelude for these compiler arguments, which must be the same in every call; with
// the half and bfloat16 headers behind it when asked. Empty when Clang could not make it: the
// prelude is then included as text.
const std::string& PrecompiledPrelude(const std::vector<std::string>& arguments, bool with_half);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_CLANG_PRELUDE_PCH_H_
