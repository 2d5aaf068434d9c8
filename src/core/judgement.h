#ifndef OPTIML_CORE_JUDGEMENT_H_
#define OPTIML_CORE_JUDGEMENT_H_

// What the roles of a search say of edits and variants, besides the edits themselves: opinions
// before an evaluation, verdicts after it, diagnoses with their place in the source. `maker` is the
// name of the model that said it; empty: the role's mechanical form.

#include <optional>
#include <string>
#include <vector>

#include "core/edit.h"
#include "core/evaluation.h"

namespace optiml {

// What the judge thinks of an edit before it is evaluated.
struct Opinion {
  double plausibility_ratio = 0.5;  // that it helps with what bounds the kernel; 0.5: no opinion
  std::string reason;
  std::string maker;
};

// What stands beside an edit that a node was given.
struct EditNote {
  std::string proposer;  // the model; empty: the catalogue alone
  std::optional<Opinion> opinion;
};

struct Proposal {
  Edit edit;
  EditNote note;
};

// Whether an edit did what it claimed.
enum class Verdict { kSupported, kRefuted, kUnclear };
std::string VerdictName(Verdict verdict);  // "supported" ...

struct Judgement {
  double value = 0;    // (supported - refuted) / claims, in [-1, 1]
  std::string reason;  // "2 of 3 claims supported, 1 refuted (dram__bytes_read.sum rose 12 %)"
  Verdict verdict = Verdict::kUnclear;
  std::string maker;
};

struct PlacedDiagnosis {
  Diagnosis diagnosis;
  std::vector<int> source_lines;  // of the variant, where the cause is; empty: not known
  std::string maker;
};

}  // namespace optiml

#endif  // OPTIML_CORE_JUDGEMENT_H_
