#ifndef OPTIML_REPORT_MODEL_REPORT_H_
#define OPTIML_REPORT_MODEL_REPORT_H_

// What language models had to do with a run: what each role cost, what models proposed and what
// came of it, and which roles were given up.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/run_record.h"

namespace optiml {

struct ModelUseRow {
  std::string role;
  std::string model;
  int calls = 0;
  int unused = 0;  // calls that failed, or whose answer could not be used
  int64_t tokens = 0;
  bool tokens_estimated = false;
  double dollars = 0;
  double seconds = 0;
};

// A proposal that was tried.
struct ModelEditRow {
  const TrialRecord* trial = nullptr;  // in the record
  int64_t node = -1;                   // that the search made of it; -1: none
  std::string claim;                   // "dram__bytes_read.sum down"
  std::string before;                  // the judge's opinion; "" without one
  std::string after;                   // the judge on the claim, when the node was evaluated; or ""
};

struct ModelReport {
  std::vector<ModelUseRow> uses;      // by role and model, in the order of their first call
  std::vector<ModelEditRow> edits;    // in the order tried
  std::vector<std::string> given_up;  // a sentence for each role that the run went on without

  bool any() const { return !uses.empty() || !edits.empty() || !given_up.empty(); }
  // The trial that brought an edit to a node of the best path; null: it is the catalogue's.
  const ModelEditRow* Find(const Edit& edit,
                           const std::function<bool(int64_t node)>& is_on_best_path) const;
};

// Its rows point into the record.
ModelReport MakeModelReport(const RunRecord& run);

// "proposer 3 calls, 12.4 k tokens, $0.04"; no dollars where nothing was paid.
std::string RoleUseText(const std::string& role, int calls, int64_t tokens, double dollars);

// "proposed by M; judge before: ...; after: ...".
std::string ByModelText(const ModelEditRow& row);

// A section of the report; "" for a run without models.
std::string ModelSectionMarkdown(const ModelReport& models);
std::string ModelSectionHtml(const ModelReport& models);

}  // namespace optiml

#endif  // OPTIML_REPORT_MODEL_REPORT_H_
