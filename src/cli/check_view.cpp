#include "cli/check_view.h"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "cli/stages.h"
#include "report/report_model.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

// Of the picture on a terminal.
constexpr int64_t kMapRows = 16;
constexpr int64_t kMapColumns = 32;

std::string Line(const char* name, const std::string& value) {
  return fmt::format("  {:<20} {}\n", name, value);
}

std::string ElementText(const Mismatch& mismatch) {
  std::string place;
  for (const int64_t coordinate : mismatch.coordinates) {
    place += fmt::format("{}{}", place.empty() ? "" : ", ", coordinate);
  }
  return fmt::format(
      "{}[{}] (index {}): expected {:.9g}, got {}", mismatch.argument, place, mismatch.index,
      mismatch.expected,
      mismatch.unwritten ? "nothing (never written)" : fmt::format("{:.9g}", mismatch.got));
}

// "0.5 absolute, 2 relative, 1.5e+06 times what is allowed"; empty where no error is a number.
std::string WorstError(const VerifyReport& verify) {
  if (!(verify.max_absolute_error > 0)) {
    return "";
  }
  std::string text = fmt::format("{:.6g} absolute", verify.max_absolute_error);
  if (verify.max_relative_error > 0) {
    text += fmt::format(", {:.6g} relative", verify.max_relative_error);
  }
  if (verify.max_budget_ratio > 0 && std::isfinite(verify.max_budget_ratio)) {
    text += fmt::format(", {:.3g} times what is allowed", verify.max_budget_ratio);
  }
  return text;
}

std::string MapText(const ErrorMap& full) {
  const ErrorMap map = Coarser(full, kMapRows, kMapColumns);
  std::string text = fmt::format("  {}\n", DescribeLayout(map));
  for (int64_t row = 0; row < map.cell_rows; ++row) {
    text += fmt::format("    |{}|\n", map.cells.substr(static_cast<size_t>(row * map.cell_columns),
                                                       static_cast<size_t>(map.cell_columns)));
  }
  for (const char cell : MapKinds(map)) {
    text += fmt::format("    {}  {}\n", cell, MapCellMeaning(cell, map.is_exact));
  }
  return text;
}

Json MapJson(const ErrorMap& full) {
  const ErrorMap map = Coarser(full, kMapRows, kMapColumns);
  Json lines = Json::array();
  for (int64_t row = 0; row < map.cell_rows; ++row) {
    lines.push_back(map.cells.substr(static_cast<size_t>(row * map.cell_columns),
                                     static_cast<size_t>(map.cell_columns)));
  }
  Json meanings = Json::object();
  for (const char cell : MapKinds(map)) {
    meanings[std::string(1, cell)] = MapCellMeaning(cell, map.is_exact);
  }
  return {{"argument", map.argument}, {"shape", map.shape}, {"rows", map.rows},
          {"columns", map.columns},   {"cells", lines},     {"meanings", meanings}};
}

}  // namespace

std::string CheckText(const std::string& kernel, const Evaluation& evaluation) {
  const Rejection* rejection = evaluation.rejection();
  if (rejection == nullptr || !evaluation.verify) {
    return fmt::format("{}: {}\n", kernel, DescribeOutcome(evaluation));
  }
  const VerifyReport& verify = *evaluation.verify;
  std::string text = fmt::format("{}: rejected at {}: {}\n", kernel, StageName(rejection->stage),
                                 rejection->reason);
  if (!verify.failing_case.empty()) {
    text += Line("case", verify.failing_case);
  }
  if (!verify.first_mismatch) {
    const std::string evidence = FirstEvidence(evaluation);
    return evidence.empty() ? text : text + Line("finding", evidence);
  }
  text += Line("first wrong element", ElementText(*verify.first_mismatch));
  text += Line("elements that differ", std::to_string(verify.mismatch_count));
  if (const std::string worst = WorstError(verify); !worst.empty()) {
    text += Line("worst error", worst);
  }
  return verify.error_map ? text + MapText(*verify.error_map) : text;
}

Json CheckJson(const Evaluation& evaluation) {
  Json json;
  const Rejection* rejection = evaluation.rejection();
  json["accepted"] = rejection == nullptr;
  json["stage"] = rejection == nullptr ? Json(nullptr) : Json(StageName(rejection->stage));
  json["reason"] = rejection == nullptr ? Json(nullptr) : Json(rejection->reason);
  json["unsupported"] = rejection != nullptr && rejection->is_unsupported;
  if (!evaluation.verify) {
    return json;
  }
  const VerifyReport& verify = *evaluation.verify;
  json["cases_run"] = verify.cases_run;
  json["max_absolute_error"] = verify.max_absolute_error;
  json["max_relative_error"] = verify.max_relative_error;
  json["max_budget_ratio"] = verify.max_budget_ratio;
  json["mismatch_count"] = verify.mismatch_count;
  json["failing_case"] = verify.failing_case;
  json["evidence"] = FirstEvidence(evaluation);
  json["first_mismatch"] = nullptr;
  if (verify.first_mismatch) {
    const Mismatch& first = *verify.first_mismatch;
    json["first_mismatch"] = {{"argument", first.argument},
                              {"index", first.index},
                              {"coordinates", first.coordinates},
                              {"expected", first.expected},
                              {"got", first.unwritten ? Json(nullptr) : Json(first.got)},
                              {"unwritten", first.unwritten}};
  }
  json["error_map"] = verify.error_map ? MapJson(*verify.error_map) : Json(nullptr);
  return json;
}

}  // namespace optiml
