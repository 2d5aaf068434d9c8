#ifndef OPTIML_GENERATE_MATCHER_H_
#define OPTIML_GENERATE_MATCHER_H_

// From a sentence to the operator that it asks for.
//
// Every contract explains some words of the sentence: those it needs, those it also knows, sizes
// and dtypes that it can take. It is a candidate when all it needs is there. What no word of the
// contract explains counts against it, and a sentence with anything unexplained is never taken
// without asking: "softmax of A times B" must not become a softmax.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/dtype.h"
#include "core/size_expr.h"
#include "generate/contract.h"

namespace optiml {

// A contract with its choices made and the sizes that were said.
struct OperatorRequest {
  const Contract* contract = nullptr;
  std::map<std::string, std::string> choices;
  DType dtype = DType::kF32;
  SizeBindings sizes;  // only those that were said
};

struct Candidate {
  OperatorRequest request;
  std::vector<std::string> unexplained;      // words of the sentence, as written
  std::vector<std::string> missing_choices;  // "which activation (relu, gelu ...)"
  int core_words = 0;                        // words that the contract asks for
  int known_words = 0;                       // all that it explains
};

struct MatchResult {
  enum class Kind {
    kClear,     // candidates[0] explains everything, and no other does as well
    kQuestion,  // candidates, the best first
    kNone,      // candidates: the closest, of which none has all it needs
  };
  Kind kind = Kind::kNone;
  std::vector<Candidate> candidates;
  std::vector<std::string> unknown;  // words that no contract of the list explains
};

// Never fails: nothing in a sentence is an error.
MatchResult MatchIntent(const ContractLibrary& library, std::string_view sentence);

// "activation:op=relu,dtype=f16" or "activation", as a user or a model names an operator. Fails
// (kInvalidArgument) with what is allowed.
Result<OperatorRequest> ParseOperator(const ContractLibrary& library, std::string_view text);
// The way back, without sizes.
std::string FormatOperator(const OperatorRequest& request);

// "ReLU of each element of an array".
std::string DescribeOperator(const OperatorRequest& request);

inline constexpr size_t kMostCandidates = 5;

}  // namespace optiml

#endif  // OPTIML_GENERATE_MATCHER_H_
