#ifndef OPTIML_CLI_HELP_H_
#define OPTIML_CLI_HELP_H_

// How the program explains itself: help texts, shell completion and docs/cli.md, all from the CLI11
// declaration.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace optiml {

// The options' values where the declaration lists them (CLI::IsMember), else empty.
std::vector<std::string> ValueChoices(const CLI::Option& option);

// The whole help of an app or subcommand, `width` columns wide.
std::string HelpText(const CLI::App& app, int width = 100);

// docs/cli.md.
std::string CliDocument(const CLI::App& root);

// "bash", "zsh", "fish"; REQUIRES: one of these
std::string CompletionScript(const CLI::App& root, const std::string& shell);

// The names nearest to `word` by edit distance, for "did you mean"; empty when none is near.
std::string NearestName(const std::string& word, const std::vector<std::string>& names);

}  // namespace optiml

#endif  // OPTIML_CLI_HELP_H_
