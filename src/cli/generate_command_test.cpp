#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/fake_toolbox.h"
#include "cli/generate_model.h"
#include "cli/intent.h"
#include "llm/scripted_chat_model.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// As `generate` without its battery, which needs a compiler.
std::vector<std::string> Generate(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"generate"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.emplace_back("--skip-battery");
  return all;
}

TEST(Generate, WritesTheTaskOfASentence) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"row-wise softmax of a 64 x 32 matrix", "-o", "s", "--yes"})),
            kExitDone);
  EXPECT_EQ(line.out.str(),
            "operator  softmax:kind=softmax\n"
            "computes  the softmax of each row of a matrix\n"
            "dtype     f32\n"
            "sizes     rows = 64, cols = 32\n"
            "wrote s: task.toml, kernel.cu, reference.cpp\n"
            "reference: operator library: softmax:kind=softmax\n"
            "next\n  optiml optimize s\n");
  EXPECT_THAT(line.Read("s/task.toml"), HasSubstr("timed   = [ { rows = 64, cols = 32 } ]"));
  EXPECT_THAT(line.Read("s/task.toml"),
              HasSubstr("reference = \"operator library: softmax:kind=softmax\""));
  EXPECT_TRUE(line.Exists("s/kernel.cu"));
  EXPECT_TRUE(line.Exists("s/reference.cpp"));
}

TEST(Generate, WithoutATerminalItSaysTheCommandAndWritesNothing) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s"})), kExitBadUse);
  EXPECT_THAT(line.out.str(),
              HasSubstr("to take it, run\n  optiml generate -o s 'row-wise softmax' --yes\n"));
  EXPECT_FALSE(line.Exists("s"));
}

TEST(Generate, ATerminalIsAsked) {
  for (const auto& [answer, status] :
       {std::pair("y\n", kExitDone), {"n\n", kExitBadUse}, {"", kExitBadUse}}) {
    CommandLine line;
    std::istringstream in(answer);
    line.env.in = &in;
    line.env.in_is_terminal = true;
    EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s"})), status) << answer;
    EXPECT_THAT(line.out.str(), HasSubstr("take it? [y/N] "));
    EXPECT_EQ(line.Exists("s/task.toml"), status == kExitDone);
  }
}

TEST(Generate, WhatIsNotClearIsNotTakenByYes) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"softmax of A times B", "-o", "s", "--yes"})), kExitBadUse);
  EXPECT_THAT(line.out.str(), HasSubstr("softmax does not know: times"));
  EXPECT_THAT(line.out.str(), HasSubstr("--operator softmax:kind=softmax"));
  EXPECT_FALSE(line.Exists("s"));
  EXPECT_EQ(line.Run(Generate({"an activation of an array", "--yes"})), kExitBadUse);
  EXPECT_THAT(line.out.str(), HasSubstr("does not say which activation (relu, leaky_relu"));
}

TEST(Generate, ATerminalChoosesAmongCandidates) {
  CommandLine line;
  std::istringstream in("1\n");
  line.env.in = &in;
  line.env.in_is_terminal = true;
  EXPECT_EQ(line.Run(Generate({"softmax of A times B", "-o", "s"})), kExitDone);
  EXPECT_TRUE(line.Exists("s/task.toml"));
  std::istringstream none("none\n");
  line.env.in = &none;
  EXPECT_EQ(line.Run(Generate({"softmax of A times B", "-o", "t"})), kExitBadUse);
  EXPECT_FALSE(line.Exists("t"));
}

TEST(Generate, AnUnknownSentenceGetsAClearAnswer) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"Cholesky factorization of a matrix", "--yes"})), kExitBadUse);
  EXPECT_THAT(line.out.str(),
              HasSubstr("no operator matches \"Cholesky factorization of a matrix\"; closest: "));
  EXPECT_THAT(line.out.str(), HasSubstr("what to do: "));
  EXPECT_EQ(line.Run({"generate"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("TEXT is required"));
}

TEST(Generate, AnOperatorAndItsSizesMayBeNamed) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"whatever", "--operator", "activation:op=gelu,dtype=f16", "--sizes",
                               "n=100", "-o", "g"})),
            kExitDone);
  EXPECT_THAT(line.Read("g/task.toml"), HasSubstr("timed   = [ { n = 100 } ]"));
  EXPECT_EQ(line.Run(Generate({"whatever", "--operator", "gelu"})), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("--operator: no operator \"gelu\""));
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "--yes", "--sizes", "bins=3", "-o", "h"})),
            kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("softmax has no size \"bins\""));
}

TEST(Generate, AFolderWithFilesIsLeftAlone) {
  CommandLine line;
  line.Write("s/mine.txt", "mine");
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes"})), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("is there already and not empty"));
  EXPECT_EQ(line.FilesIn("s"), 1u);
}

TEST(Generate, ATaskThatFailsItsBatteryIsNotLeftBehind) {
  CommandLine line;  // whose references do not compile
  EXPECT_EQ(line.Run({"generate", "relu on a float array", "-o", "s", "--yes"}), kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("the task was not written: "));
  EXPECT_THAT(line.err.str(), HasSubstr("reference.cpp:4"));
  EXPECT_FALSE(line.Exists("s"));
}

TEST(Generate, JsonSaysWhatWasFoundAndWhereTheReferenceCameFrom) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes", "--json"})), kExitDone);
  const auto json = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(json["match"], "clear");
  EXPECT_EQ(json["operator"], "softmax:kind=softmax");
  EXPECT_EQ(json["reference"], "operator library: softmax:kind=softmax");
  EXPECT_EQ(json["task"], line.Path("s").string());
  EXPECT_EQ(line.Run(Generate({"softmax of A times B", "--json"})), kExitBadUse);
  const auto question = nlohmann::json::parse(line.out.str());
  EXPECT_EQ(question["match"], "question");
  EXPECT_EQ(question["candidates"][0]["unexplained"][0], "times");
  EXPECT_FALSE(question.contains("task"));
}

TEST(Generate, TheListIsTheTableInDocs) {
  CommandLine line;
  ASSERT_EQ(line.Run({"generate", "--list"}), kExitDone);
  const fs::path file = fs::path(OPTIML_SOURCE_DIR) / "docs/intents.md";
  auto text = ReadFile(file);
  ASSERT_TRUE(text) << text.error().message();
  const size_t table = text->find("| operator |");
  if (std::getenv("OPTIML_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(file, text->substr(0, table) + line.out.str()));
    text = ReadFile(file);
  }
  ASSERT_NE(text->find("| operator |"), std::string::npos);
  EXPECT_EQ(text->substr(text->find("| operator |")), line.out.str());
}

IntentOutcome Ask(CommandLine& line, const std::string& text, std::deque<std::string> replies) {
  ScriptedChatModel model(std::move(replies));
  IntentOptions options;
  options.text = text;
  options.yes = true;
  auto outcome = ResolveIntent(options, "optiml generate", line.env, line.env.out, &model);
  EXPECT_TRUE(outcome) << outcome.error().message();
  return outcome ? *std::move(outcome) : IntentOutcome();
}

TEST(Intent, AModelsProposalIsShownAndNotTakenByYes) {
  CommandLine line;
  const IntentOutcome outcome = Ask(line, "something about scores",
                                    {R"({"operator":"softmax","choices":{"kind":"log_softmax"},)"
                                     R"("covers_all":true,"left_out":"a tap"})"});
  EXPECT_FALSE(outcome.task);
  EXPECT_THAT(line.out.str(), HasSubstr("scripted proposes an operator; it leaves out: a tap"));
  EXPECT_THAT(line.out.str(), HasSubstr("--operator softmax:kind=log_softmax"));
}

TEST(Intent, AModelIsNotAskedWhereOneOperatorIsClear) {
  CommandLine line;
  EXPECT_TRUE(Ask(line, "row-wise softmax", {}).task);
}

TEST(Generate, SamplesNeedAModelAndLeaveNothingBehindWithoutOne) {
  CommandLine line;
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes", "--samples", "2"})),
            kExitBadUse);
  EXPECT_THAT(line.err.str(), HasSubstr("--samples: no language model (--model SPEC)"));
  EXPECT_FALSE(line.Exists("s"));
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes", "--model", "down"})),
            kExitEnvironment);
  EXPECT_FALSE(line.Exists("s"));
}

TEST(Generate, AModelsSamplesAreJudgedAndTheTasksOwnKernelStaysWithoutAGoodOne) {
  CommandLine line;
  line.Write("replies.jsonl", "\"no kernel\"\n\"none again\"\n");
  EXPECT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes", "--json", "--samples", "1",
                               "--model", "script:" + line.Path("replies.jsonl").string()})),
            kExitDone)
      << line.err.str();
  const auto json = nlohmann::json::parse(line.out.str());
  ASSERT_EQ(json["samples"].size(), 1u);
  EXPECT_EQ(json["samples"][0]["accepted"], false);
  EXPECT_FALSE(line.Exists("s/naive.cu"));
}

TEST(SampleIntoTask, WithoutAnAcceptedKernelTheTasksOwnStays) {
  CommandLine line;
  ASSERT_EQ(line.Run(Generate({"row-wise softmax", "-o", "s", "--yes"})), kExitDone);
  const std::string own = line.Read("s/kernel.cu");
  ScriptedChatModel model({"no kernel"});
  TaskOptions task;
  task.path = line.Path("s").string();
  const auto rows = SampleIntoTask(model, task, true, 1, line.env, line.tools);
  ASSERT_TRUE(rows) << rows.error().message();
  EXPECT_FALSE((*rows)[0]["accepted"]);
  EXPECT_EQ(line.Read("s/kernel.cu"), own);
  EXPECT_FALSE(line.Exists("s/naive.cu"));
  ScriptedChatModel again({"no kernel"});
  EXPECT_FALSE(SampleIntoTask(again, task, false, 1, line.env, line.tools));
}

TEST(OptimizeIntent, WritesTheTaskBesideTheRun) {
  CommandLine line;
  // The fake toolbox has no references: the run ends after the task was written.
  EXPECT_NE(line.Run({"optimize", "--intent", "row-wise softmax", "--yes", "-o", "r"}), kExitDone);
  EXPECT_TRUE(line.Exists("r-task/task.toml"));
  EXPECT_THAT(line.out.str(), HasSubstr("task      r-task"));
  EXPECT_EQ(line.Run({"optimize", "--intent", "row-wise softmax", "-o", "q"}), kExitBadUse);
  EXPECT_THAT(line.out.str(), HasSubstr("optiml optimize --intent 'row-wise softmax' --yes"));
  EXPECT_FALSE(line.Exists("q-task"));
  EXPECT_EQ(line.Run({"optimize", "copy", "--intent", "row-wise softmax"}), kExitBadUse);
}

}  // namespace
}  // namespace optiml
