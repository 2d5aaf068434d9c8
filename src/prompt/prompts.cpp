#include "prompt/prompts.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/check.h"
#include "base/content_hash.h"

namespace optiml {
namespace {

struct PromptFiles {
  Prompt prompt;
  const char* name;
  const char* schema;  // "": as ReplySchema says
};
constexpr std::array<PromptFiles, kPromptCount> kPrompts = {
    {{Prompt::kDiagnoser, "diagnoser", "diagnosis.schema.json"},
     {Prompt::kProposer, "proposer", "proposals.schema.json"},
     {Prompt::kJudgeBefore, "judge_before", "opinions.schema.json"},
     {Prompt::kJudgeAfter, "judge_after", "verdict.schema.json"},
     {Prompt::kRepair, "repair", ""},
     {Prompt::kChooseOperator, "choose_operator", "operator_choice.schema.json"},
     {Prompt::kDescribeTask, "describe_task", "task_interface.schema.json"},
     {Prompt::kWriteReference, "write_reference", ""},
     {Prompt::kWriteKernel, "write_kernel", ""},
     {Prompt::kRepairKernel, "repair_kernel", ""}}};

const PromptFiles& FilesOf(Prompt prompt) {
  for (const PromptFiles& files : kPrompts) {
    if (files.prompt == prompt) {
      return files;
    }
  }
  OPTIML_CHECK(false, "every prompt has files");
}

std::string_view TextOf(std::string_view name) {
  for (const EmbeddedText& file : EmbeddedPrompts()) {
    if (file.name == name) {
      return file.text;
    }
  }
  OPTIML_CHECK(false, "the files of prompts/ are compiled in");
}

std::string Heading(ChatRole role) {
  return fmt::format("=== {} ===\n", ChatRoleName(role));
}

// Each {{hole}} replaced; what was put in is not looked at again.
std::string Fill(std::string_view text, const std::map<std::string, std::string>& values,
                 std::set<std::string>& used) {
  std::string out;
  while (true) {
    const size_t begin = text.find("{{");
    if (begin == std::string_view::npos) {
      return out.append(text);
    }
    const size_t end = text.find("}}", begin);
    OPTIML_CHECK(end != std::string_view::npos, "a template's hole has an end");
    const std::string hole(text.substr(begin + 2, end - begin - 2));
    const auto value = values.find(hole);
    OPTIML_CHECK(value != values.end(), "a template's hole has a value");
    used.insert(hole);
    out.append(text.substr(0, begin)).append(value->second);
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string ModelRoleName(ModelRole role) {
  switch (role) {
    case ModelRole::kDiagnoser:
      return "diagnoser";
    case ModelRole::kProposer:
      return "proposer";
    case ModelRole::kJudge:
      return "judge";
  }
  return "";
}

std::optional<ModelRole> ParseModelRole(std::string_view name) {
  for (const ModelRole role : kModelRoles) {
    if (ModelRoleName(role) == name) {
      return role;
    }
  }
  return std::nullopt;
}

std::string PromptVersion(Prompt prompt) {
  constexpr size_t kDigits = 8;
  const PromptFiles& files = FilesOf(prompt);
  ContentHasher hasher;
  hasher.Add(TextOf(std::string(files.name) + ".md"));
  hasher.Add(ReplySchema(prompt));
  return fmt::format("{} {}", files.name, hasher.Finish().Hex().substr(0, kDigits));
}

std::string_view ReplySchema(Prompt prompt) {
  const std::string_view name = FilesOf(prompt).schema;
  return name.empty() ? name : TextOf(name);
}

std::vector<ChatMessage> RenderPrompt(Prompt prompt,
                                      const std::map<std::string, std::string>& values) {
  std::string_view text = TextOf(std::string(FilesOf(prompt).name) + ".md");
  std::vector<ChatMessage> messages;
  std::set<std::string> used;
  const std::string user = Heading(ChatRole::kUser);
  const size_t split = text.find(user);
  OPTIML_CHECK(split != std::string_view::npos, "a template has a part for the user");
  if (const std::string system = Heading(ChatRole::kSystem); text.starts_with(system)) {
    messages.push_back(
        {ChatRole::kSystem, Fill(text.substr(system.size(), split - system.size()), values, used)});
  }
  messages.push_back({ChatRole::kUser, Fill(text.substr(split + user.size()), values, used)});
  OPTIML_CHECK(used.size() == values.size(), "every value has a hole");
  return messages;
}

std::string FormatMessages(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages) {
    text += Heading(message.role) + message.text;
    if (!text.ends_with('\n')) {
      text += '\n';
    }
  }
  return text;
}

}  // namespace optiml
