#include "score/model_judge.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "prompt/facts_text.h"
#include "prompt/fence.h"
#include "prompt/plain_code.h"
#include "prompt/prompts.h"
#include "prompt/strict_json.h"
#include "rewrite/model_edits.h"

namespace optiml {
namespace {

constexpr size_t kMostReasonBytes = 600;

// The code of a model's edit; catalogue edits say what they do.
std::string EditText(const Edit& edit, const KernelSource& source) {
  if (edit.origin != EditOrigin::kModel) {
    return fmt::format("{}: {}; claims {}", edit.Label(), edit.summary, ClaimText(edit.claim));
  }
  const rewrite::ApplyOutcome made = rewrite::ApplyModelEdit(source, edit);
  const auto* result = std::get_if<KernelSource>(&made);
  const std::string code = result == nullptr ? "" : WithoutCommentsAndStrings(result->text());
  return fmt::format("a new source; claims {}\n{}", ClaimText(edit.claim), Fenced("source", code));
}

}  // namespace

std::vector<ChatMessage> OpinionPrompt(const OpinionInput& input) {
  const KernelSource source(input.source, "", "");
  std::string edits;
  for (size_t i = 0; i < input.edits.size(); ++i) {
    edits += fmt::format("{}{}. {}", i == 0 ? "" : "\n", i + 1, EditText(input.edits[i], source));
  }
  return RenderPrompt(Prompt::kJudgeBefore,
                      {{"device", input.device},
                       {"diagnosis", DiagnosisText(input.diagnosis)},
                       {"counters", CountersText(input.evaluation->profile)},
                       {"source", Fenced("source", WithoutCommentsAndStrings(input.source))},
                       {"edits", edits},
                       {"count", std::to_string(input.edits.size())}});
}

Result<std::vector<Opinion>> ReadOpinions(const std::string& reply, size_t count,
                                          const std::string& model) {
  OPTIML_ASSIGN(const nlohmann::json json, ParseReplyObject(reply));
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, "the answer"));
  OPTIML_ASSIGN(const nlohmann::json* array, reader.Array("ratings", count, count));
  OPTIML_TRY(reader.NothingElse());
  std::vector<std::optional<Opinion>> rated(count);
  for (size_t i = 0; i < count; ++i) {
    OPTIML_ASSIGN(ObjectReader one, ObjectReader::Of((*array)[i], fmt::format("rating {}", i + 1)));
    OPTIML_ASSIGN(const int64_t number, one.Integer("edit", 1, static_cast<int64_t>(count)));
    std::optional<Opinion>& opinion = rated[static_cast<size_t>(number - 1)];
    if (opinion) {
      return Error(ErrorCode::kParse, fmt::format("edit {} is rated twice", number));
    }
    opinion.emplace();
    OPTIML_ASSIGN(opinion->plausibility_ratio, one.Number("plausibility", 0, 1));
    OPTIML_ASSIGN(opinion->reason, one.Text("reason", kMostReasonBytes));
    OPTIML_TRY(one.NothingElse());
    opinion->maker = model;
  }
  std::vector<Opinion> opinions;
  for (std::optional<Opinion>& opinion : rated) {
    opinions.push_back(*std::move(opinion));
  }
  return opinions;
}

std::vector<ChatMessage> VerdictPrompt(const VerdictInput& input) {
  OPTIML_CHECK(input.before->profile && input.after->profile, "both sides were profiled");
  const Edit& edit = *input.edit;
  return RenderPrompt(
      Prompt::kJudgeAfter,
      {{"diagnosis", DiagnosisText(input.diagnosis)},
       {"edit", edit.origin == EditOrigin::kModel
                    ? "a new source"
                    : fmt::format("{}: {}", edit.Label(), edit.summary)},
       {"claim", ClaimText(edit.claim)},
       {"counters", CounterChangesText(*input.before->profile, *input.after->profile)},
       {"before", Fenced("source", WithoutCommentsAndStrings(input.source_before))},
       {"after", Fenced("source", WithoutCommentsAndStrings(input.source_after))}});
}

Result<Judgement> ReadVerdict(const std::string& reply, const std::string& model) {
  OPTIML_ASSIGN(const nlohmann::json json, ParseReplyObject(reply));
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, "the answer"));
  OPTIML_ASSIGN(const size_t verdict, reader.OneOf("verdict", {"supported", "refuted", "unclear"}));
  constexpr Verdict kVerdicts[] = {Verdict::kSupported, Verdict::kRefuted, Verdict::kUnclear};
  constexpr double kValues[] = {1, -1, 0};
  Judgement judgement;
  judgement.verdict = kVerdicts[verdict];
  judgement.value = kValues[verdict];
  OPTIML_ASSIGN(judgement.reason, reader.Text("reason", kMostReasonBytes));
  OPTIML_TRY(reader.NothingElse());
  judgement.maker = model;
  return judgement;
}

}  // namespace optiml
