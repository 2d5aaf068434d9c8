#include "profile/model_diagnoser.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "prompt/facts_text.h"
#include "prompt/fence.h"
#include "prompt/prompts.h"
#include "prompt/strict_json.h"

namespace optiml {
namespace {

constexpr size_t kMostSentenceBytes = 600;
constexpr size_t kMostEvidence = 6;
constexpr size_t kMostLines = 20;

// "memory" ... in the order of the schema.
const std::vector<Bound>& Bounds() {
  static const std::vector<Bound> bounds = {Bound::kMemory, Bound::kCompute, Bound::kLatency,
                                            Bound::kOccupancy};
  return bounds;
}

int64_t CountLines(const std::string& source) {
  const auto breaks = std::count(source.begin(), source.end(), '\n');
  return breaks + (source.empty() || source.ends_with('\n') ? 0 : 1);
}

Result<void> ReadEvidence(const nlohmann::json& array, const Profile& profile,
                          Diagnosis& diagnosis) {
  for (size_t i = 0; i < array.size(); ++i) {
    OPTIML_ASSIGN(ObjectReader reader,
                  ObjectReader::Of(array[i], fmt::format("evidence {}", i + 1)));
    OPTIML_ASSIGN(const std::string id, reader.Text("metric", kMostSentenceBytes));
    OPTIML_ASSIGN(const std::string reading, reader.Text("reading", kMostSentenceBytes));
    OPTIML_TRY(reader.NothingElse());
    const auto metric = profile.metrics.find(id);
    if (metric == profile.metrics.end()) {
      return Error(ErrorCode::kParse,
                   fmt::format("evidence {}: there is no counter \"{}\"", i + 1, id.substr(0, 80)));
    }
    diagnosis.evidence.push_back(
        fmt::format("{} is {:.4g} {}: {}", id, metric->second.value, metric->second.unit, reading));
  }
  return {};
}

Result<void> ReadLines(const nlohmann::json& array, int64_t last, std::vector<int>& source_lines) {
  for (const nlohmann::json& line : array) {
    if (!line.is_number_integer() || line.get<int64_t>() < 1 || line.get<int64_t>() > last) {
      return Error(ErrorCode::kParse, fmt::format("lines: each must be from 1 to {}", last));
    }
    source_lines.push_back(static_cast<int>(line.get<int64_t>()));
  }
  return {};
}

}  // namespace

std::string DeviceText(const DeviceInfo& info) {
  std::string text = fmt::format("{}, {}", info.name, info.architecture);
  const auto add = [&](const auto& value, const char* what) {
    if (value > 0) {
      text += fmt::format("\n- {}: {}", what, value);
    }
  };
  add(info.multiprocessors, "multiprocessors");
  add(info.threads_per_multiprocessor, "threads of a multiprocessor");
  add(info.registers_per_multiprocessor, "registers of a multiprocessor");
  add(info.shared_bytes_per_multiprocessor, "bytes of shared memory of a multiprocessor");
  add(info.shared_bytes_per_block_limit, "bytes of shared memory of a block, at most");
  add(info.l2_bytes, "bytes of L2");
  add(info.dram_bytes_per_s, "bytes/s of device memory");
  add(info.fp32_flops_per_s, "fp32 operations/s");
  return text;
}

std::string DiagnosisJson(const PlacedDiagnosis& placed) {
  const Diagnosis& diagnosis = placed.diagnosis;
  nlohmann::ordered_json evidence = nlohmann::ordered_json::array();
  for (const std::string& sentence : diagnosis.evidence) {
    // Metrics have names with "__" and values behind " is ".
    const size_t is = sentence.find(" is ");
    const std::string first = sentence.substr(0, sentence.find(' '));
    const bool quotes = is == first.size() && first.find("__") != std::string::npos;
    evidence.push_back({{"metric", quotes ? first : ""}, {"reading", sentence}});
  }
  const nlohmann::ordered_json json = {{"bound", BoundName(diagnosis.bound)},
                                       {"evidence", evidence},
                                       {"cause", diagnosis.cause},
                                       {"lines", placed.source_lines},
                                       {"confidence", diagnosis.confidence_ratio}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<ChatMessage> DiagnoserPrompt(const std::string& source, const Evaluation& evaluation,
                                         const DeviceInfo& device) {
  const Diagnosis table = evaluation.diagnosis.value_or(Diagnosis());
  return RenderPrompt(Prompt::kDiagnoser, {{"device", DeviceText(device)},
                                           {"resources", ResourcesText(evaluation.resources)},
                                           {"time", TimesText(evaluation)},
                                           {"counters", CountersText(evaluation.profile)},
                                           {"limits", LimitsText(table)},
                                           {"table", DiagnosisJson({table, {}, ""})},
                                           {"source", Fenced("source", NumberedLines(source))}});
}

Result<PlacedDiagnosis> ReadModelDiagnosis(const std::string& reply, const std::string& source,
                                           const Evaluation& evaluation, const std::string& model) {
  OPTIML_ASSIGN(const nlohmann::json json, ParseReplyObject(reply));
  OPTIML_ASSIGN(ObjectReader reader, ObjectReader::Of(json, "the diagnosis"));
  PlacedDiagnosis placed;
  placed.maker = model;
  Diagnosis& diagnosis = placed.diagnosis;
  std::vector<std::string> names;
  for (const Bound bound : Bounds()) {
    names.push_back(BoundName(bound));
  }
  OPTIML_ASSIGN(const size_t bound, reader.OneOf("bound", names));
  diagnosis.bound = Bounds()[bound];
  OPTIML_ASSIGN(const nlohmann::json* evidence, reader.Array("evidence", 1, kMostEvidence));
  OPTIML_TRY(ReadEvidence(*evidence, evaluation.profile.value_or(Profile()), diagnosis));
  OPTIML_ASSIGN(diagnosis.cause, reader.Text("cause", kMostSentenceBytes));
  OPTIML_ASSIGN(const nlohmann::json* lines, reader.Array("lines", 0, kMostLines));
  OPTIML_TRY(ReadLines(*lines, CountLines(source), placed.source_lines));
  OPTIML_ASSIGN(diagnosis.confidence_ratio, reader.Number("confidence", 0, 1));
  OPTIML_TRY(reader.NothingElse());
  if (evaluation.diagnosis) {
    diagnosis.speed_of_light = evaluation.diagnosis->speed_of_light;
  }
  return placed;
}

}  // namespace optiml
