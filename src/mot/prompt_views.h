#ifndef OPTIML_MOT_PROMPT_VIEWS_H_
#define OPTIML_MOT_PROMPT_VIEWS_H_

// PromptViews: everything that is known of a request, of which each expert reads its own view. A
// peer earns its place by reading what the primary does not (docs/mot.md).

#include <map>
#include <string>
#include <vector>

#include "llm/chat_model.h"
#include "mot/bundle.h"

namespace optiml::mot {

struct PromptViews {
  // The part "prompt": what the primary has to answer; the last message is the user's.
  std::vector<ChatMessage> messages;
  // The other parts by name (ViewParts()): "source", "ptx", "profile", "retrieved", "attempts".
  std::map<std::string, std::string> parts;
};

// The messages that a view of `parts` is; none when the request has none of them. Parts other than
// the prompt are appended to the last message (or are one), each below its name.
std::vector<ChatMessage> ViewMessages(const PromptViews& views,
                                      const std::vector<std::string>& parts);

// All that the request holds as one text, for encoders.
std::string WholeText(const PromptViews& views);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_PROMPT_VIEWS_H_
