#include "propose/model_proposer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "prompt/facts_text.h"
#include "prompt/fence.h"
#include "prompt/prompts.h"
#include "prompt/strict_json.h"
#include "rewrite/model_edits.h"

namespace optiml {
namespace {

constexpr size_t kMostWhyBytes = 400;
constexpr size_t kMostNameBytes = 120;
constexpr size_t kMostClaims = 6;
constexpr size_t kMostHunks = 20;
constexpr size_t kMostParameters = 8;
constexpr double kLeastPrior = 1e-3;

std::string CatalogueText(const std::vector<Edit>& edits) {
  std::string text;
  for (const Edit& edit : edits) {
    text += fmt::format("{}- {} (prior {:.2g}): {}", text.empty() ? "" : "\n", edit.Label(),
                        edit.prior, edit.summary);
  }
  return text.empty() ? "none" : text;
}

// Outcomes quote compilers and checkers, which quote sources.
std::string TriedText(const std::vector<TriedEdit>& tried) {
  std::string text;
  for (const TriedEdit& one : tried) {
    text += fmt::format("- {}: {}\n", one.edit->Label(), one.outcome);
  }
  return text.empty() ? "none" : Fenced("outcomes", text);
}

const std::vector<Bound>& Bounds() {
  static const std::vector<Bound> bounds = {Bound::kMemory, Bound::kCompute, Bound::kLatency,
                                            Bound::kOccupancy};
  return bounds;
}

Result<std::vector<MetricClaim>> ReadClaim(const nlohmann::json& array, const std::string& where,
                                           const std::optional<Profile>& profile) {
  std::vector<MetricClaim> claim;
  for (const nlohmann::json& each : array) {
    OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(each, where + ": each claim"));
    MetricClaim one;
    OPTIML_ASSIGN(one.metric, reader.Text("metric", kMostNameBytes));
    OPTIML_ASSIGN(const size_t direction, reader.OneOf("direction", {"down", "up"}));
    one.direction = direction == 0 ? Direction::kDown : Direction::kUp;
    OPTIML_TRY(reader.NothingElse());
    if (profile && !profile->Get(one.metric)) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}: there is no counter \"{}\"", where, one.metric));
    }
    claim.push_back(std::move(one));
  }
  return claim;
}

Result<Edit> ReadSketch(ObjectReader& reader, const std::vector<Edit>& catalogue) {
  Edit edit;
  OPTIML_ASSIGN(edit.rewrite, reader.Text("rewrite", kMostNameBytes));
  OPTIML_ASSIGN(const nlohmann::json* parameters, reader.Object("parameters"));
  if (parameters->size() > kMostParameters) {
    return Error(ErrorCode::kParse, reader.where() + ": it has too many parameters");
  }
  OPTIML_ASSIGN(ObjectReader values, ObjectReader::Of(*parameters, reader.where()));
  for (const auto& [key, value] : parameters->items()) {
    OPTIML_ASSIGN(edit.parameters[key],
                  values.Integer(key.c_str(), std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max()));
  }
  const Edit* same_name = nullptr;
  for (const Edit& known : catalogue) {
    if (known.Label() == edit.Label()) {
      return known;
    }
    same_name = same_name == nullptr && known.rewrite == edit.rewrite ? &known : same_name;
  }
  if (same_name == nullptr) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: there is no rewrite \"{}\" here", reader.where(), edit.rewrite));
  }
  edit.origin = same_name->origin;
  return edit;
}

Result<Edit> ReadHunks(ObjectReader& reader) {
  OPTIML_ASSIGN(const nlohmann::json* array, reader.Array("hunks", 1, kMostHunks));
  std::vector<rewrite::Hunk> hunks;
  for (size_t i = 0; i < array->size(); ++i) {
    OPTIML_ASSIGN(ObjectReader one,
                  ObjectReader::Of((*array)[i], fmt::format("{}: hunk {}", reader.where(), i + 1)));
    rewrite::Hunk hunk;
    OPTIML_ASSIGN(hunk.search, one.Text("search", rewrite::kMostSourceBytes));
    OPTIML_ASSIGN(hunk.replace, one.Text("replace", rewrite::kMostSourceBytes));
    OPTIML_TRY(one.NothingElse());
    hunks.push_back(std::move(hunk));
  }
  return rewrite::MakeHunksEdit(hunks);
}

Result<Edit> ReadEdit(const nlohmann::json& json, const std::string& where,
                      const ProposerInput& input) {
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, where));
  OPTIML_ASSIGN(const size_t kind, reader.OneOf("kind", {"sketch", "hunks", "kernel"}));
  Edit edit;
  if (kind == 0) {
    OPTIML_ASSIGN(edit, ReadSketch(reader, input.catalogue));
  } else if (kind == 1) {
    OPTIML_ASSIGN(edit, ReadHunks(reader));
  } else {
    OPTIML_ASSIGN(std::string source, reader.Text("source", rewrite::kMostSourceBytes));
    edit = rewrite::MakeKernelEdit(std::move(source));
  }
  OPTIML_ASSIGN(const std::string why, reader.Text("why", kMostWhyBytes));
  OPTIML_ASSIGN(const nlohmann::json* claims, reader.Array("claim", 1, kMostClaims));
  OPTIML_ASSIGN(std::vector<MetricClaim> claim,
                ReadClaim(*claims, where, input.evaluation->profile));
  std::vector<std::string> names;
  for (const Bound bound : Bounds()) {
    names.push_back(BoundName(bound));
  }
  OPTIML_ASSIGN(const size_t bound, reader.OneOf("aims_at", names));
  OPTIML_ASSIGN(edit.prior, reader.Number("prior", kLeastPrior, 1));
  OPTIML_TRY(reader.NothingElse());
  if (edit.summary.empty()) {  // not of the catalogue, which speaks for itself
    edit.summary = why;
    edit.claim = std::move(claim);
    edit.aims_at = Bounds()[bound];
  }
  return edit;
}

}  // namespace

std::vector<ChatMessage> ProposerPrompt(const ProposerInput& input) {
  OPTIML_CHECK(input.evaluation != nullptr, "edits are proposed for an evaluated variant");
  const Evaluation& evaluation = *input.evaluation;
  return RenderPrompt(Prompt::kProposer,
                      {{"device", input.device},
                       {"intent", input.intent.empty() ? "what the source computes"
                                                       : Fenced("intent", input.intent)},
                       {"entry", input.entry},
                       {"diagnosis", DiagnosisText(input.diagnosis)},
                       {"resources", ResourcesText(evaluation.resources)},
                       {"time", TimesText(evaluation)},
                       {"counters", CountersText(evaluation.profile)},
                       {"chain", TriedText(input.chain)},
                       {"failed", TriedText(input.failed)},
                       {"catalogue", CatalogueText(input.catalogue)},
                       {"source", Fenced("source", input.source)},
                       {"most", std::to_string(input.most)}});
}

Result<std::vector<Proposal>> ReadProposals(const std::string& reply, const ProposerInput& input,
                                            const std::string& model) {
  OPTIML_ASSIGN(const nlohmann::json json, ParseReplyObject(reply));
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, "the answer"));
  OPTIML_ASSIGN(const nlohmann::json* array,
                reader.Array("edits", 1, static_cast<size_t>(input.most)));
  OPTIML_TRY(reader.NothingElse());
  std::vector<Proposal> proposals;
  std::set<std::string> labels;
  for (size_t i = 0; i < array->size(); ++i) {
    OPTIML_ASSIGN(Edit edit, ReadEdit((*array)[i], fmt::format("edit {}", i + 1), input));
    if (labels.insert(edit.Label()).second) {
      proposals.push_back({std::move(edit), {model, {}}});
    }
  }
  return proposals;
}

}  // namespace optiml
