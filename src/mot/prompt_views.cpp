#include "mot/prompt_views.h"

#include <algorithm>

namespace optiml::mot {
namespace {

// How a part is headed in the text.
std::string Heading(const std::string& part) {
  static const std::map<std::string, std::string> headings = {
      {"source", "Kernel source"},      {"ptx", "PTX"},
      {"profile", "Profiler report"},   {"retrieved", "Similar kernels and what helped them"},
      {"attempts", "Earlier attempts"},
  };
  const auto found = headings.find(part);
  return "## " + (found == headings.end() ? part : found->second) + "\n";
}

}  // namespace

std::vector<ChatMessage> ViewMessages(const PromptViews& views,
                                      const std::vector<std::string>& parts) {
  std::vector<ChatMessage> messages;
  std::string rest;
  for (const std::string& part : ViewParts()) {
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      continue;
    }
    if (part == "prompt") {
      messages = views.messages;
    } else if (const auto found = views.parts.find(part);
               found != views.parts.end() && !found->second.empty()) {
      rest += (rest.empty() ? "" : "\n\n") + Heading(part) + found->second;
    }
  }
  if (!rest.empty() && messages.empty()) {
    messages.push_back({ChatRole::kUser, rest});
  } else if (!rest.empty()) {
    messages.back().text += "\n\n" + rest;
  }
  return messages;
}

std::string WholeText(const PromptViews& views) {
  std::string text;
  for (const ChatMessage& message : ViewMessages(views, ViewParts())) {
    text += (text.empty() ? "" : "\n\n") + message.text;
  }
  return text;
}

}  // namespace optiml::mot
