#ifndef OPTIML_PROMPT_PLAIN_CODE_H_
#define OPTIML_PROMPT_PLAIN_CODE_H_

#include <string>
#include <string_view>

namespace optiml {

// CUDA text as a judge sees it: what is executed, without what only speaks. Comments become a
// space, strings become "" and characters '', lines of #error, #warning and #pragma (but for
// unroll) and groups of #if 0 are left out; line breaks stay. Names stay as they are. Text that is
// no C++ gives something without comments and strings as well.
std::string WithoutCommentsAndStrings(std::string_view text);

}  // namespace optiml

#endif  // OPTIML_PROMPT_PLAIN_CODE_H_
