// The roles of language models in a whole run: what they gain, and that they can spoil nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

#include "llm/scripted_chat_model.h"
#include "optimize/expansion.h"
#include "optimize/scripted_run.h"
#include "rewrite/model_edits.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// "fast" is ten times as fast, "a" saves a tenth.
Script FastIsGood() {
  Script script;
  script.time = [](const std::string& text) {
    return (Has(text, "fast")   ? 1e-4
            : Has(text, "slow") ? 2e-3
                                : 1e-3) *
           (Has(text, "a+") || text.ends_with("a") ? 0.9 : 1) * (Has(text, "b") ? 1.02 : 1);
  };
  return script;
}

Json Claiming(const char* kind) {
  return {{"kind", kind},
          {"why", "less work"},
          {"aims_at", "memory"},
          {"claim", {{{"metric", "work"}, {"direction", "down"}}}},
          {"prior", 0.5}};
}
Json Hunk(const std::string& search, const std::string& replace) {
  Json edit = Claiming("hunks");
  edit["hunks"] = {{{"search", search}, {"replace", replace}}};
  return edit;
}
Json Kernel(const std::string& source) {
  Json edit = Claiming("kernel");
  edit["source"] = source;
  return edit;
}
std::string Proposing(const std::vector<Json>& edits) {
  return Json{{"edits", edits}}.dump();
}

// The text between the fences of the last source of a prompt.
std::string SourceIn(const ChatRequest& request) {
  const std::string& text = request.messages[1].text;
  const size_t begin = text.find('\n', text.rfind("\n<<< source ") + 1) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}
bool IsRepair(const ChatRequest& request) {
  return request.messages.size() > 2;
}

using Answers = std::function<std::string(const ChatRequest&)>;
ScriptedChatModel Model(Answers answers) {
  return ScriptedChatModel([answers = std::move(answers)](const ChatRequest& request) {
    ChatReply reply;
    reply.text = answers(request);
    reply.tokens = {100, 0, 10, false};
    reply.dollars = 0.25;
    return Result<ChatReply>(std::move(reply));
  });
}

Result<RunRecord> RunWith(ChatModel* proposer, Script script = FastIsGood(),
                          ChatModel* judge = nullptr, ChatModel* diagnoser = nullptr) {
  ScriptedRun run(std::move(script));
  run.models[ModelRole::kProposer] = proposer;
  run.models[ModelRole::kJudge] = judge;
  run.models[ModelRole::kDiagnoser] = diagnoser;
  return run.Go();
}

std::string ChainText(const RunRecord& record) {
  std::string text;
  for (const ChainStep& step : record.result->chain) {
    text += step.edit.rewrite + ":" + EditMarkName(step.mark) + " ";
  }
  return text;
}

TEST(ModelRoles, AGoodProposalIsTheResult) {
  auto model = Model([](const ChatRequest& request) {
    return SourceIn(request) == "root" ? Proposing({Kernel("fast")}) : "nothing more";
  });
  const auto record = RunWith(&model);
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_TRUE(record->result->improved) << record->result->reason;
  // The rewrites of the new text followed.
  EXPECT_EQ(record->result->best_source, "fast+a");
  EXPECT_EQ(ChainText(*record), "kernel:KEEP a:KEEP ");
  EXPECT_EQ(record->nodes[1].edit.origin, EditOrigin::kModel);
  EXPECT_EQ(record->nodes[1].edit.text, "fast");
  ASSERT_FALSE(record->trials.empty());
  EXPECT_TRUE(record->trials[0].kept);
  EXPECT_EQ(record->trials[0].note.proposer, "scripted");
  EXPECT_EQ(record->trials[0].note.opinion->plausibility_ratio, 0.75);  // the mechanical judge
  EXPECT_EQ(record->expansions[0].notes.back().proposer, "scripted");
  // Its evaluation is its own, not another node's.
  EXPECT_FALSE(record->nodes[1].evaluation.from_store);
  EXPECT_EQ(record->nodes[1].variant, VariantId(1));
  // Neither replay nor the tree needs a model.
  EXPECT_TRUE(ReplaySearch(*record));
}

TEST(ModelRoles, ASketchOfTheCatalogueIsTakenFirst) {
  auto model = Model([](const ChatRequest& request) {
    Json edit = Claiming("sketch");
    edit["rewrite"] = "a";
    edit["parameters"] = Json::object();
    return SourceIn(request) == "root" ? Proposing({edit}) : "nothing more";
  });
  const auto record = RunWith(&model);
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->nodes[1].edit.Label(), "a");
  EXPECT_EQ(record->nodes[1].edit.origin, EditOrigin::kRewrite);
  EXPECT_EQ(record->expansions[0].edits.size(), 3U);  // it is one of them
  EXPECT_EQ(record->expansions[0].notes.back().proposer, "scripted");
  EXPECT_TRUE(ReplaySearch(*record));
}

TEST(ModelRoles, AHunkThatNeedsAnEarlierEditKeepsIt) {
  Script script = FastIsGood();
  auto model = Model([](const ChatRequest& request) {
    return SourceIn(request) == "a" ? Proposing({Hunk("a", "fast")}) : Proposing({Kernel("slow")});
  });
  const auto record = RunWith(&model, script);
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_TRUE(Has(record->result->best_source, "fast"));
  // Without the edit before it the anchor is not there: a value, not an error.
  ASSERT_GE(record->result->chain.size(), 2U);
  EXPECT_EQ(record->result->chain[0].edit.rewrite, "a");
  EXPECT_THAT(record->result->chain[0].note, HasSubstr("is not in the source"));
}

// What a model may send that is of no use, and the sources that fail.
TEST(ModelRoles, NonsenseLeavesTheTreeAsItIsWithout) {
  Script script = FastIsGood();
  script.rejected = {"wrong", "root!", "a!"};
  script.same_ptx = {{"twin", "root"}};
  const auto without = RunWith(nullptr, script);
  ASSERT_TRUE(without);
  const std::map<std::string, Answers> nonsense = {
      {"prose", [](const ChatRequest&) { return "Sure, here is a faster kernel!"; }},
      {"tools", [](const ChatRequest&) { return R"({"tool":"bash","input":"rm -rf /"})"; }},
      {"wrong", [](const ChatRequest&) { return Proposing({Kernel("wrong")}); }},
      {"slow", [](const ChatRequest&) { return Proposing({Kernel("slow")}); }},
      {"twin", [](const ChatRequest&) { return Proposing({Kernel("twin")}); }},
      {"missing", [](const ChatRequest&) { return Proposing({Hunk("nowhere", "x")}); }},
      {"same", [](const ChatRequest&) { return Proposing({Hunk("root", "root")}); }},
      {"wrong one after the other",
       [n = 0](const ChatRequest& request) mutable {
         return Proposing({Hunk(SourceIn(request), SourceIn(request) + "!"),
                           Kernel("slow" + std::to_string(++n))});
       }},
  };
  for (const auto& [name, answers] : nonsense) {
    auto model = Model(answers);
    const auto with = RunWith(&model, script, &model, &model);
    ASSERT_TRUE(with) << name << ": " << with.error().message();
    EXPECT_EQ(TreeText(*with), TreeText(*without)) << name;
    EXPECT_EQ(with->result->best_source, without->result->best_source) << name;
    EXPECT_GT(model.requests().size(), 0U);
    for (const TrialRecord& trial : with->trials) {
      EXPECT_FALSE(trial.kept) << name;
    }
    EXPECT_TRUE(ReplaySearch(*with)) << name;
  }
}

TEST(ModelRoles, TrialsThatFailHaveAShareOfTheirOwn) {
  auto model = Model([n = 0](const ChatRequest&) mutable {
    ++n;
    return Proposing(
        {Kernel("slow" + std::to_string(2 * n)), Kernel("slow" + std::to_string(2 * n + 1))});
  });
  ScriptedRun run(FastIsGood());
  run.models[ModelRole::kProposer] = &model;
  run.options.budget.candidates = 12;
  run.options.model_share = 0.25;
  const auto record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->trials.size(), 3U);
  EXPECT_EQ(record->nodes.size(), 13U);
  EXPECT_EQ(model.requests().size(), 2U);  // and is not asked any more

  run.options.model_share = 0;
  const auto none = run.Go();
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->trials.empty());
}

TEST(FailingTrials, AreAShareWithinBounds) {
  EXPECT_EQ(FailingTrials(0.5, 40), 20);
  EXPECT_EQ(FailingTrials(0.01, 4), 2);
  EXPECT_EQ(FailingTrials(0, 40), 0);
  EXPECT_EQ(FailingTrials(std::numeric_limits<double>::infinity(), 40), 1'000'000);
}

TEST(ModelRoles, ARejectionIsRepairedOnceWithItsMessage) {
  Script script = FastIsGood();
  script.rejected = {"wrong"};
  std::vector<std::string> repairs;
  auto model = Model([&](const ChatRequest& request) {
    if (IsRepair(request)) {
      repairs.push_back(request.messages.back().text);
      return Proposing({Kernel("fast")});
    }
    return SourceIn(request) == "root" ? Proposing({Kernel("wrong")}) : "nothing more";
  });
  const auto record = RunWith(&model, script);
  ASSERT_TRUE(record);
  ASSERT_FALSE(repairs.empty());
  EXPECT_THAT(repairs[0], HasSubstr("Edit 1 was rejected at L1: y[0] is 1, expected 2"));
  EXPECT_TRUE(Has(record->result->best_source, "fast"));
  EXPECT_FALSE(record->trials[0].kept);
  EXPECT_TRUE(record->trials[1].kept);
}

TEST(ModelRoles, AProposerSeesWhatFailedBefore) {
  Script script = FastIsGood();
  script.rejected = {"wrong"};
  auto model = Model([](const ChatRequest& request) {
    return Proposing({Kernel(SourceIn(request) == "root" ? "wrong" : "slow")});
  });
  ASSERT_TRUE(RunWith(&model, script));
  const auto later =
      std::find_if(model.requests().begin(), model.requests().end(),
                   [](const ChatRequest& request) { return SourceIn(request) == "a"; });
  ASSERT_NE(later, model.requests().end());
  EXPECT_THAT(later->messages[1].text, HasSubstr("rejected at L1: y[0] is 1, expected 2"));
  EXPECT_THAT(later->messages[1].text, HasSubstr("- a: accepted, 1.11 times as fast"));
}

TEST(ModelRoles, ARunGoesOnWithoutAModelThatIsGone) {
  const auto without = RunWith(nullptr);
  ScriptedChatModel model([](const ChatRequest&) -> Result<ChatReply> {
    return Error(ErrorCode::kUnavailable, "no route to the endpoint");
  });
  ScriptedRun run(FastIsGood());
  for (const ModelRole role : kModelRoles) {
    run.models[role] = &model;
  }
  const auto record = run.Go();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->state, RunState::kFinished);
  EXPECT_EQ(TreeText(*record), TreeText(*without));
  EXPECT_EQ(model.requests().size(), 1U);
  int said = 0;
  for (const Progress& progress : run.progress) {
    said += Has(progress.last, "goes on with the mechanical proposer") ? 1 : 0;
  }
  EXPECT_EQ(said, 1);
}

TEST(ModelRoles, TheBudgetEndsTheModelsAndNotTheRun) {
  auto model = Model([](const ChatRequest&) { return Proposing({Kernel("slow")}); });
  ScriptedRun run(FastIsGood());
  run.models[ModelRole::kProposer] = &model;
  run.model_budget.dollars = 0.5;
  const auto record = run.Go();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->state, RunState::kFinished);
  EXPECT_EQ(model.requests().size(), 2U);
  ASSERT_FALSE(run.progress.back().models.empty());
  EXPECT_EQ(run.progress.back().models[0].calls, 2);
  EXPECT_EQ(run.progress.back().models[0].dollars, 0.5);
}

std::string Rating(const ChatRequest& request, const std::string& favourite) {
  const std::string& text = request.messages[1].text;
  Json ratings = Json::array();
  const size_t begin = text.find("The edits:\n");
  if (begin == std::string::npos) {
    return R"({"verdict": "unclear", "reason": "not asked here"})";
  }
  const size_t end = text.find("\n\nRate each");
  std::string rest = text.substr(begin, end - begin);
  for (int i = 1; Has(rest, "\n" + std::to_string(i) + ". "); ++i) {
    const bool good = Has(rest, "\n" + std::to_string(i) + ". " + favourite);
    ratings.push_back({{"edit", i}, {"plausibility", good ? 1 : 0}, {"reason", "by name"}});
  }
  return Json{{"ratings", ratings}}.dump();
}

TEST(ModelRoles, OpinionsMoveThePriors) {
  auto judge = Model([](const ChatRequest& request) { return Rating(request, "c:"); });
  const auto record = RunWith(nullptr, FastIsGood(), &judge);
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(record->nodes[1].edit.rewrite, "c");
  EXPECT_EQ(record->expansions[0].notes[2].opinion->reason, "by name");
  EXPECT_EQ(record->expansions[0].edits[2].prior, 4);
  EXPECT_EQ(record->expansions[0].edits[0].prior, 0.25);
  EXPECT_TRUE(ReplaySearch(*record));
}

TEST(ModelRoles, AnImplausibleProposalIsNotTried) {
  auto proposer = Model([](const ChatRequest&) { return Proposing({Kernel("fast")}); });
  auto judge = Model([](const ChatRequest& request) { return Rating(request, "nothing"); });
  const auto record = RunWith(&proposer, FastIsGood(), &judge);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->trials.empty());
}

TEST(ModelRoles, AVerdictCountsWhereTheCountersAreUnclear) {
  auto judge = Model([](const ChatRequest& request) -> std::string {
    return Has(request.json_schema, "verdict")
               ? R"({"verdict": "supported", "reason": "as promised"})"
               : Rating(request, "nothing");
  });
  const auto record = RunWith(nullptr, FastIsGood(), &judge);
  ASSERT_TRUE(record);
  int judged = 0;
  for (const NodeRecord& node : record->nodes) {
    // "b" and "c" hardly move the counter that they claim; "a" does by itself.
    if (node.id > 0 && node.edit.rewrite == "a" && node.parent == 0) {
      EXPECT_FALSE(node.judgement);
    }
    if (node.judgement) {
      ++judged;
      EXPECT_EQ(node.reward.parts.back().reason, "as promised");
      EXPECT_EQ(node.reward.parts.back().value, 1);
    }
  }
  EXPECT_GT(judged, 0);
  EXPECT_TRUE(ReplaySearch(*record));
  // A changed verdict is noticed by a replay.
  RunRecord changed = *record;
  for (NodeRecord& node : changed.nodes) {
    if (node.judgement) {
      node.judgement->value = -1;
    }
  }
  EXPECT_FALSE(ReplaySearch(changed));
}

TEST(ModelRoles, WithoutAJudgeNoneIsAsked) {
  auto judge = Model([](const ChatRequest&) { return "never"; });
  ScriptedRun run(FastIsGood());
  run.models[ModelRole::kJudge] = &judge;
  run.options.judge = false;
  ASSERT_TRUE(run.Go());
  EXPECT_TRUE(judge.requests().empty());
}

TEST(ModelRoles, ADiagnosisIsKeptWithItsExpansion) {
  auto diagnoser = Model([](const ChatRequest&) {
    return R"({"bound":"compute","evidence":[{"metric":"work","reading":"much"}],)"
           R"("cause":"too much work","lines":[1],"confidence":0.9})";
  });
  auto proposer = Model([](const ChatRequest&) { return "no"; });
  const auto record = RunWith(&proposer, FastIsGood(), nullptr, &diagnoser);
  ASSERT_TRUE(record) << record.error().message();
  ASSERT_TRUE(record->expansions[0].diagnosis);
  EXPECT_EQ(record->expansions[0].diagnosis->diagnosis.bound, Bound::kCompute);
  EXPECT_THAT(record->expansions[0].diagnosis->source_lines, testing::ElementsAre(1));
  EXPECT_EQ(record->nodes[0].evaluation.diagnosis->bound, Bound::kMemory);  // the table's
  EXPECT_THAT(proposer.requests()[0].messages[1].text, HasSubstr("too much work"));
  EXPECT_TRUE(ReplaySearch(*record));
}

// A process may die after any write; the next one reaches the same tree and pays for nothing twice.
TEST(ModelRoles, AKilledRunGoesOnToTheSameTree) {
  Script script = FastIsGood();
  script.rejected = {"wrong"};
  const auto answers = [](const ChatRequest& request) -> std::string {
    if (Has(request.json_schema, "ratings")) {
      return Rating(request, "a new source");
    }
    if (Has(request.json_schema, "verdict")) {
      return R"({"verdict": "refuted", "reason": "no"})";
    }
    if (Has(request.json_schema, "evidence")) {
      return R"({"bound":"memory","evidence":[{"metric":"work","reading":"much"}],)"
             R"("cause":"work","lines":[],"confidence":0.5})";
    }
    const std::string source = SourceIn(request);
    if (IsRepair(request)) {
      return Proposing({Kernel("fast")});
    }
    return source == "root" ? Proposing({Kernel("wrong")}) : Proposing({Kernel(source + " slow")});
  };
  ScriptedRun run(script);
  run.options.budget.candidates = 6;
  auto model = Model(answers);
  for (const ModelRole role : kModelRoles) {
    run.models[role] = &model;
  }
  MemoryStore whole(run.Header());
  const auto expected = run.Go(whole);
  ASSERT_TRUE(expected) << expected.error().message();
  ASSERT_FALSE(expected->trials.empty());
  for (int k = 0; k < whole.writes; ++k) {
    auto same = Model(answers);
    for (const ModelRole role : kModelRoles) {
      run.models[role] = &same;
    }
    MemoryStore store(run.Header());
    store.fail_at = k;
    ASSERT_FALSE(run.Go(store));
    store.fail_at = -1;
    const auto resumed = run.Go(store);
    ASSERT_TRUE(resumed) << k << ": " << resumed.error().message();
    EXPECT_EQ(TreeText(*resumed), TreeText(*expected)) << k;
    EXPECT_EQ(resumed->trials.size(), expected->trials.size()) << k;
    EXPECT_EQ(resumed->exchanges.size(), expected->exchanges.size()) << k;
    // At most the answer that the killed process could not write any more.
    EXPECT_LE(same.requests().size(), model.requests().size() + 1) << k;
    EXPECT_TRUE(ReplaySearch(*resumed)) << k;
  }
}

// Text of a kernel is material, and a model's answer is nothing but edits.
TEST(ModelRoles, AReplyCannotChangeTheTask) {
  const auto without = RunWith(nullptr);
  const std::string edit = Proposing({Kernel("slow")});
  for (const char* key : {"tolerance", "task", "reference", "options"}) {
    Json answer = Json::parse(edit);
    answer[key] = {{"relative", 1e9}};
    auto model = Model([&](const ChatRequest&) { return answer.dump(); });
    const auto with = RunWith(&model);
    ASSERT_TRUE(with);
    EXPECT_EQ(TreeText(*with), TreeText(*without));
    EXPECT_TRUE(with->trials.empty());
    EXPECT_EQ(with->options, without->options);
    EXPECT_THAT(with->exchanges[0].outcome, HasSubstr("is not asked for"));
  }
}

}  // namespace
}  // namespace optiml
