#ifndef OPTIML_PROMPT_CODE_REPLY_H_
#define OPTIML_PROMPT_CODE_REPLY_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace optiml {

// The code that a model's reply consists of: the text of its only ``` block, or the whole reply
// when it has none. What stands outside of the block is lost. Fails (kParse) on several blocks, on
// one that does not end, and on an empty one, with a message that may be shown to the model.
Result<std::string> CodeOfReply(std::string_view reply);

}  // namespace optiml

#endif  // OPTIML_PROMPT_CODE_REPLY_H_
