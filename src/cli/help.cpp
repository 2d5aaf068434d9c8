#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

namespace optiml {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kLeftColumn = 28;  // names; descriptions begin here

std::string Join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : std::string(between)) + part;
  }
  return text;
}

// Words of `text` in lines of at most `width`, each after the first indented.
std::string Wrap(const std::string& text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (column > indent && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += text.substr(begin, length);
    column += length;
    begin = end + 1;
  }
  return out;
}

// "FILE" or "mcts|greedy|random".
std::string Metavariable(const CLI::Option& option) {
  if (option.get_type_size() == 0) {
    return "";
  }
  const std::vector<std::string> choices = ValueChoices(option);
  if (!choices.empty()) {
    return Join(choices, "|");
  }
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

// "-o, --out DIR", or "PATH" of a positional.
std::string LeftText(const CLI::Option& option) {
  if (option.get_positional()) {
    return Metavariable(option);
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  std::string text = Join(names, ", ");
  const std::string value = Metavariable(option);
  return value.empty() ? text : text + " " + value;
}

std::string RightText(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_items_expected_max() > 1) {
    text += "; may be given several times";
  }
  if (!option.get_default_str().empty() && option.get_type_size() != 0) {
    text += " (default: " + option.get_default_str() + ")";
  }
  return text;
}

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// Groups in the order of declaration, each with its options.
std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> Groups(const CLI::App& app) {
  std::vector<std::pair<std::string, std::vector<const CLI::Option*>>> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) {
      continue;
    }
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& each) { return each.first == option->get_group(); });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {option->get_group(), {}});
    }
    group->second.push_back(option);
  }
  return groups;
}

std::vector<const CLI::App*> VisibleCommands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::string Entry(const std::string& left, const std::string& right, size_t width) {
  std::string line = std::string(kIndent, ' ') + left;
  if (line.size() + 2 > kLeftColumn) {
    line += "\n" + std::string(kLeftColumn, ' ');
  } else {
    line += std::string(kLeftColumn - line.size(), ' ');
  }
  return line + Wrap(right, kLeftColumn, width) + "\n";
}

std::string FullName(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : FullName(*app.get_parent()) + " " + app.get_name();
}

}  // namespace

std::vector<std::string> ValueChoices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find(":{");
  if (open == std::string::npos || type.back() != '}') {
    return {};
  }
  std::vector<std::string> choices;
  size_t begin = open + 2;
  while (begin < type.size()) {
    const size_t end = type.find_first_of(",}", begin);
    choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

std::string HelpText(const CLI::App& app, int width) {
  const auto columns = static_cast<size_t>(std::clamp(width, 60, 110));
  const std::string name = FullName(app);
  std::string out = fmt::format("{} - {}\n\nusage: {}", name,
                                Wrap(app.get_description(), name.size() + 3, columns), name);
  const std::vector<const CLI::App*> commands = VisibleCommands(app);
  for (const CLI::Option* option : Positionals(app)) {
    const std::string text = Metavariable(*option);
    out += option->get_required() ? " " + text : " [" + text + "]";
  }
  out += commands.empty() ? " [options]\n" : " COMMAND [options]\n";
  if (!Positionals(app).empty()) {
    out += "\n";
    for (const CLI::Option* option : Positionals(app)) {
      out += Entry(LeftText(*option), RightText(*option), columns);
    }
  }
  if (!commands.empty()) {
    out += "\nCommands\n";
    for (const CLI::App* sub : commands) {
      out += Entry(sub->get_name(), sub->get_description(), columns);
    }
  }
  for (const auto& [group, options] : Groups(app)) {
    out += "\n" + group + "\n";
    for (const CLI::Option* option : options) {
      out += Entry(LeftText(*option), RightText(*option), columns);
    }
  }
  if (!app.get_footer().empty()) {
    out += "\n" + app.get_footer() + "\n";
  }
  return out;
}

std::string CliDocument(const CLI::App& root) {
  std::string out =
      "# The command line\n\n"
      "This file is printed by `optiml docs cli`; a test compares the two.\n\n"
      "```\n" +
      HelpText(root) + "```\n";
  for (const CLI::App* sub : VisibleCommands(root)) {
    out += fmt::format("\n## optiml {}\n\n```\n{}```\n", sub->get_name(), HelpText(*sub));
  }
  return out;
}

std::string NearestName(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;  // a third of the word may be wrong
  for (const std::string& name : names) {
    std::vector<size_t> row(name.size() + 1);
    for (size_t j = 0; j <= name.size(); ++j) {
      row[j] = j;
    }
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= name.size(); ++j) {
        const size_t replaced = diagonal + (word[i - 1] == name[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    if (row.back() < least) {
      least = row.back();
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace optiml
