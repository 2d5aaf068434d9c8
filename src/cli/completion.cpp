// Shell completion: static scripts that know every command, option and listed value. Paths are left
// to the shell.
#include <fmt/format.h>

#include "base/check.h"
#include "cli/help.h"

namespace optiml {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

std::string Join(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : between) + part;
  }
  return text;
}

// For single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::vector<const CLI::Option*> Flags(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->get_positional() && !option->get_group().empty();
  });
}

std::string PositionalWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      for (const std::string& choice : ValueChoices(*option)) {
        words.push_back(choice);
      }
    }
  }
  return Join(words, " ");
}

std::string Bash(const CLI::App& root) {
  std::vector<std::string> commands;
  std::string options;
  std::string values;
  for (const CLI::App* sub : Commands(root)) {
    commands.push_back(sub->get_name());
    std::vector<std::string> names;
    for (const CLI::Option* option : Flags(*sub)) {
      for (const std::string& name : Names(*option)) {
        names.push_back(name);
      }
      const std::vector<std::string> choices = ValueChoices(*option);
      if (!choices.empty()) {
        values += fmt::format("    {}:{}) words='{}' ;;\n", sub->get_name(),
                              Join(Names(*option), fmt::format("|{}:", sub->get_name()).c_str()),
                              Join(choices, " "));
      } else if (option->get_type_size() != 0) {
        values += fmt::format("    {}:{}) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n",
                              sub->get_name(),
                              Join(Names(*option), fmt::format("|{}:", sub->get_name()).c_str()));
      }
    }
    options += fmt::format("      {}) words='{}'; more='{}' ;;\n", sub->get_name(),
                           Join(names, " "), PositionalWords(*sub));
  }
  std::vector<std::string> own;
  for (const CLI::Option* option : Flags(root)) {
    for (const std::string& name : Names(*option)) {
      own.push_back(name);
    }
  }
  return fmt::format(R"sh(# bash completion of optiml: eval "$(optiml completion bash)"
_optiml() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="${{COMP_WORDS[1]}}" words='' more=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0} {1}' -- "$current"))
    return
  fi
  case "$command:$previous" in
{2}  esac
  if [ -z "$words" ]; then
    case "$command" in
{3}    esac
    case "$current" in
      -*) ;;
      *) words="$more" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in
    -*) ;;
    *) [ -n "$words" ] || COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _optiml optiml
)sh",
                     Join(commands, " "), Join(own, " "), values, options);
}

std::string Zsh(const CLI::App& root) {
  std::string commands;
  std::string cases;
  // Brackets and colons mean something to _arguments and _describe.
  const auto described = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ':') {
        out += '\\';
      }
      out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out;
  };
  for (const CLI::App* sub : Commands(root)) {
    commands += fmt::format("    '{}:{}'\n", sub->get_name(), described(sub->get_description()));
    cases += fmt::format("    {}) _arguments", sub->get_name());
    for (const CLI::Option* option : Flags(*sub)) {
      for (const std::string& name : Names(*option)) {
        cases += fmt::format(" \\\n      '*{}[{}]", name, described(option->get_description()));
        const std::vector<std::string> choices = ValueChoices(*option);
        if (!choices.empty()) {
          cases += fmt::format(":value:({})", Join(choices, " "));
        } else if (option->get_type_size() != 0) {
          cases += ":value:_files";
        }
        cases += "'";
      }
    }
    const std::string words = PositionalWords(*sub);
    cases += words.empty() ? " \\\n      '*:path:_files' ;;\n"
                           : fmt::format(" \\\n      '*:value:({})' ;;\n", words);
  }
  return fmt::format(R"sh(#compdef optiml
# zsh completion of optiml: optiml completion zsh > a folder of $fpath as _optiml
_optiml() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "$funcstack[1]" = _optiml ]; then _optiml "$@"; else compdef _optiml optiml; fi
)sh",
                     commands, cases);
}

std::string Fish(const CLI::App& root) {
  std::string out =
      "# fish completion of optiml: optiml completion fish | source\n"
      "complete -c optiml -n __fish_use_subcommand -f\n";
  for (const CLI::App* sub : Commands(root)) {
    out += fmt::format("complete -c optiml -n __fish_use_subcommand -a {} -d '{}'\n",
                       sub->get_name(), Quoted(sub->get_description()));
    for (const CLI::Option* option : Flags(*sub)) {
      out += fmt::format("complete -c optiml -n '__fish_seen_subcommand_from {}'", sub->get_name());
      for (const std::string& name : option->get_snames()) {
        out += " -s " + name;
      }
      for (const std::string& name : option->get_lnames()) {
        out += " -l " + name;
      }
      out += fmt::format(" -d '{}'", Quoted(option->get_description()));
      const std::vector<std::string> choices = ValueChoices(*option);
      if (!choices.empty()) {
        out += fmt::format(" -x -a '{}'", Join(choices, " "));
      } else if (option->get_type_size() != 0) {
        out += " -r";
      }
      out += "\n";
    }
    const std::string words = PositionalWords(*sub);
    if (!words.empty()) {
      out += fmt::format("complete -c optiml -n '__fish_seen_subcommand_from {}' -f -a '{}'\n",
                         sub->get_name(), words);
    }
  }
  return out;
}

}  // namespace

std::string CompletionScript(const CLI::App& root, const std::string& shell) {
  if (shell == "bash") {
    return Bash(root);
  }
  if (shell == "zsh") {
    return Zsh(root);
  }
  OPTIML_CHECK(shell == "fish", "the shells are checked by the option");
  return Fish(root);
}

}  // namespace optiml
