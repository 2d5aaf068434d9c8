#ifndef OPTIML_PROMPT_FENCE_H_
#define OPTIML_PROMPT_FENCE_H_

#include <string>
#include <string_view>

namespace optiml {

// A text inside a prompt as material:
//
//   <<< source 3f2a9c0187d1c2b4
//   __global__ void ...
//   3f2a9c0187d1c2b4 source >>>
//
// The number is a hash of the text that does not occur in it, so that no text can end its own
// fence. The same text gives the same fence. `what` is one word of ours.
std::string Fenced(std::string_view what, std::string_view text);

// A short text inside a prompt as data: a JSON string, with its quotes, in ASCII.
std::string Quoted(std::string_view text);

// Each line with its number before it: "  12| x += 1;".
std::string NumberedLines(std::string_view text);

}  // namespace optiml

#endif  // OPTIML_PROMPT_FENCE_H_
