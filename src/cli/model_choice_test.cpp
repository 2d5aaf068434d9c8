#include "cli/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.h"
#include "cli/fake_toolbox.h"
#include "cli/open_model.h"

namespace optiml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModelChoice, OneModelServesAllRolesWithoutOneOfTheirOwn) {
  CommandLine line;
  ModelChoice choice;
  choice.spec = "big";
  choice.for_role = {"judge=small"};
  const auto opened = OpenModels(choice, true, line.env, line.tools);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_THAT(line.tools.model_specs, testing::UnorderedElementsAre("big", "small"));
  EXPECT_EQ(opened->roles[ModelRole::kDiagnoser], opened->roles[ModelRole::kProposer]);
  EXPECT_NE(opened->roles[ModelRole::kJudge], opened->roles[ModelRole::kProposer]);
}

TEST(ModelChoice, ARoleMayHaveNone) {
  CommandLine line;
  ModelChoice choice;
  choice.spec = "big";
  choice.for_role = {"diagnoser=none"};
  const auto opened = OpenModels(choice, false, line.env, line.tools);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->roles[ModelRole::kDiagnoser], nullptr);
  EXPECT_EQ(opened->roles[ModelRole::kJudge], nullptr);  // --no-judge
  EXPECT_NE(opened->roles[ModelRole::kProposer], nullptr);
  EXPECT_TRUE(OpenModels({}, true, line.env, line.tools)->owned.empty());
}

TEST(ModelChoice, WrongFlagsAreNamed) {
  CommandLine line;
  for (const char* text : {"poet=big", "judge", "judge=", "=big"}) {
    ModelChoice choice;
    choice.for_role = {text};
    const auto opened = OpenModels(choice, true, line.env, line.tools);
    ASSERT_FALSE(opened) << text;
    EXPECT_EQ(opened.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(opened.error().message(), HasSubstr("--model-for"));
  }
  ModelChoice choice;
  choice.spec = "down";
  EXPECT_EQ(OpenModels(choice, true, line.env, line.tools).error().code(), ErrorCode::kUnavailable);
}

TEST(ModelChoice, ReadsBudgets) {
  EXPECT_FALSE(ParseModelBudget("")->tokens);
  EXPECT_EQ(ParseModelBudget("tokens=200000")->tokens, 200000);
  const auto both = ParseModelBudget("dollars=2.5,tokens=7");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->tokens, 7);
  EXPECT_EQ(both->dollars, 2.5);
  for (const char* text : {"5", "tokens=0", "tokens=1.5", "dollars=nan", "euros=1", "tokens=7x"}) {
    ASSERT_FALSE(ParseModelBudget(text)) << text;
    EXPECT_THAT(ParseModelBudget(text).error().message(), HasSubstr("--model-budget"));
  }
}

TEST(ModelChoice, IsKeptWithTheRun) {
  CommandLine line;
  ModelChoice choice;
  choice.spec = "script:replies.jsonl";
  choice.for_role = {"judge=a", "proposer=b"};
  choice.budget = "tokens=7";
  const auto values = FormatModelChoice(choice, line.env);
  EXPECT_EQ(values.at("model"), "script:" + line.env.Resolve("replies.jsonl").string());
  const ModelChoice back = ParseModelChoice(values);
  EXPECT_EQ(back.spec, values.at("model"));
  EXPECT_THAT(back.for_role, ElementsAre("judge=a", "proposer=b"));
  EXPECT_EQ(back.budget, "tokens=7");
  EXPECT_TRUE(FormatModelChoice({}, line.env).empty());
  EXPECT_FALSE(ParseModelChoice({}).any());
}

TEST(ScriptedModel, AnswersLineByLine) {
  const auto folder = TemporaryDirectory::Create("script");
  ASSERT_TRUE(folder);
  const fs::path file = folder->path() / "replies.jsonl";
  const CliEnv env;
  ASSERT_TRUE(WriteFileAtomically(file, "{\"a\": 1}\n\n\"prose\\nof two lines\"\n"));
  const auto model = OpenModelByName("script:" + file.string(), env, nullptr);
  ASSERT_TRUE(model) << model.error().message();
  ChatRequest request;
  request.messages = {{ChatRole::kUser, "?"}};
  EXPECT_EQ((*model)->Complete(request)->text, "{\"a\": 1}");
  EXPECT_EQ((*model)->Complete(request)->text, "prose\nof two lines");
  EXPECT_EQ((*model)->Complete(request).error().code(), ErrorCode::kUnavailable);
  ASSERT_TRUE(WriteFileAtomically(file, "{}\nprose\n"));
  EXPECT_THAT(OpenModelByName("script:" + file.string(), env, nullptr).error().message(),
              HasSubstr("replies.jsonl:2"));
  EXPECT_FALSE(OpenModelByName("script:/no/such", env, nullptr));
}

TEST(OptimizeCommand, OpensItsModelsBeforeAnythingElse) {
  CommandLine line;
  EXPECT_EQ(line.Run({"optimize", "copy", "--model", "down"}), 3);
  EXPECT_THAT(line.err.str(), HasSubstr("no route to the endpoint"));
  EXPECT_EQ(line.Run({"optimize", "copy", "--model-budget", "much"}), 2);
  EXPECT_THAT(line.err.str(), HasSubstr("--model-budget"));
}

TEST(ResumeCommand, GoesOnWithoutAModelThatIsGone) {
  CommandLine line;
  ModelRoles roles;
  line.tools.session = [&](const SessionParts& parts, const SessionOptions&,
                           const RunRecord& record) -> Result<RunRecord> {
    roles = parts.models;
    if (record.nodes.empty()) {
      OPTIML_TRY(parts.store->AppendNode(sample::UnfinishedRun().nodes[0]));
    }
    OPTIML_TRY(parts.store->SetState(RunState::kInterrupted, ""));
    return Error(ErrorCode::kInterrupted, "interrupted");
  };
  line.Run({"optimize", "copy", "--model", "big"});
  EXPECT_NE(roles[ModelRole::kProposer], nullptr);
  line.Run({"resume", "last"});
  EXPECT_NE(roles[ModelRole::kProposer], nullptr);
  line.tools.models_down = true;
  line.Run({"resume", "last"});
  EXPECT_EQ(roles[ModelRole::kProposer], nullptr);
  EXPECT_THAT(line.err.str(), HasSubstr("note: the run goes on without language models: no route"));
}

TEST(OptimizeCommand, HandsModelsToTheSessionAndRecordsThem) {
  CommandLine line;
  ModelRoles roles;
  ModelBudget budget;
  std::map<std::string, std::string> recorded;
  const auto finish = line.tools.session;
  line.tools.session = [&](const SessionParts& parts, const SessionOptions& options,
                           const RunRecord& record) {
    roles = parts.models;
    budget = parts.model_budget;
    recorded = record.options;
    return finish(parts, options, record);
  };
  line.Run({"optimize", "copy", "--model", "big", "--model-for", "judge=small", "--model-budget",
            "tokens=9", "--model-share", "0.25"});
  for (const ModelRole role : kModelRoles) {
    EXPECT_NE(roles[role], nullptr) << line.err.str();
  }
  EXPECT_EQ(budget.tokens, 9);
  EXPECT_EQ(recorded["model"], "big");
  EXPECT_EQ(recorded["model-for"], "judge=small");
  EXPECT_EQ(recorded["model-budget"], "tokens=9");
  EXPECT_EQ(recorded["model-share"], "0.25");
}

}  // namespace
}  // namespace optiml
