#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "cli/fake_toolbox.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

TEST(CliDocument, IsTheFileInDocs) {
  CommandLine line;
  ASSERT_EQ(line.Run({"docs", "cli"}), kExitDone);
  const fs::path file = fs::path(OPTIML_SOURCE_DIR) / "docs/cli.md";
  if (std::getenv("OPTIML_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(file, line.out.str()));
  }
  const auto text = ReadFile(file);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, line.out.str()) << "`optiml docs cli > docs/cli.md` rewrites it";
}

TEST(NearestName, FindsTyposAndLeavesOtherWordsAlone) {
  EXPECT_EQ(NearestName("optimise", {"optimize", "init"}), "optimize");
  EXPECT_EQ(NearestName("ini", {"optimize", "init"}), "init");
  EXPECT_EQ(NearestName("frobnicate", {"optimize", "init"}), "");
}

// What bash offers for a line that ends in the word to complete.
std::string Complete(const std::string& script, const std::vector<std::string>& words) {
  std::string command = script + "\nCOMP_WORDS=(";
  for (const std::string& word : words) {
    command += "'" + word + "' ";
  }
  command += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) +
             "\n_optiml\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  ProcessRequest request;
  request.argv = {"bash", "--norc", "-c", command};
  const auto outcome = RunProcess(request);
  EXPECT_TRUE(outcome && outcome->succeeded()) << (outcome ? outcome->standard_error : "no bash");
  EXPECT_EQ(outcome->standard_error, "");
  return outcome->standard_output;
}

TEST(Completion, BashOffersCommandsOptionsAndValues) {
  CommandLine line;
  ASSERT_EQ(line.Run({"completion", "bash"}), kExitDone);
  const std::string script = line.out.str();
  EXPECT_EQ(Complete(script, {"optiml", "op"}), "optimize\n");
  EXPECT_EQ(Complete(script, {"optiml", "optimize", "--cand"}), "--candidates\n");
  EXPECT_EQ(Complete(script, {"optiml", "optimize", "--search", "m"}), "mcts\n");
  EXPECT_EQ(Complete(script, {"optiml", "completion", "z"}), "zsh\n");
  EXPECT_EQ(Complete(script, {"optiml", "report", "--form"}), "--format\n");
  EXPECT_EQ(Complete(script, {"optiml", "optimize", "/etc/hostna"}), "/etc/hostname\n");
}

TEST(Completion, ZshAndFishNameEveryCommandAndOption) {
  CommandLine line;
  ASSERT_EQ(line.Run({"completion", "zsh"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("#compdef optiml"));
  EXPECT_THAT(line.out.str(), HasSubstr("'*--search[how to search]:value:(mcts greedy random)'"));
  ASSERT_EQ(line.Run({"completion", "fish"}), kExitDone);
  EXPECT_THAT(line.out.str(), HasSubstr("-a optimize -d"));
  EXPECT_THAT(line.out.str(), HasSubstr("-s o -l out"));
  EXPECT_THAT(line.out.str(), HasSubstr("-x -a 'mcts greedy random'"));
}

TEST(Completion, ScriptsAreValidInTheShellsThatAreHere) {
  CommandLine line;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (!FindProgram(shell)) {
      continue;
    }
    ASSERT_EQ(line.Run({"completion", shell}), kExitDone);
    ProcessRequest request;
    request.argv = {shell, shell == "fish" ? "--no-execute" : "-n"};
    request.standard_input = line.out.str();
    const auto outcome = RunProcess(request);
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->succeeded()) << shell << ": " << outcome->standard_error;
  }
}

}  // namespace
}  // namespace optiml
