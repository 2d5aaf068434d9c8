#ifndef OPTIML_GENERATE_CONTRACT_H_
#define OPTIML_GENERATE_CONTRACT_H_

// Contract: one operator of the library, as data: what it computes, the words that ask for it, its
// sizes and dtypes, and the text of a task with holes. No code knows a contract by name; docs/
// intents.md says how one is added.
//
// contracts/NAME/contract.toml   [contract] [words] [[choice]] [sizes]; from [args] on the task's
// contracts/NAME/kernel.cu       a naive kernel and its launcher
// contracts/NAME/reference.cpp   the same in double
//
// A hole is {{dtype}}, {{load:x[i]}} (the hole's text with the argument for its $) or
// {{op.title}} (of a choice's value). Lines between "#: if CHOICE VALUE ..." and "#: end" are kept
// where one of the values was chosen.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/dtype.h"
#include "core/size_expr.h"
#include "generate/formula.h"
#include "generate/words.h"

namespace optiml {

// A phrase that a contract listens to.
struct Phrase {
  std::vector<std::string> words;  // as Token::word; "?x" any variable, "#" a number, "#x#" a shape
  // Adjacent in the sentence as it stands, with its articles and single letters: phrases with
  // variables, operators or single letters. Others pass over words that say nothing.
  bool is_literal = false;
  std::string dropped;  // a word of it that says nothing: in a contract, a mistake
};
// Phrases that must all be there, in any order ("add & bias").
using Together = std::vector<Phrase>;
// A formula that says the whole operator (formula.h).
struct FormulaPattern {
  FormulaNode pattern;
  std::string choice;  // and which value of it; empty: none
  std::string value;
  std::vector<Together> with;  // one of these must be said as well; empty: nothing
};
// One of these.
struct Need {
  std::vector<Together> any_of;
  std::string choice;       // "@op": a value of this choice must be named
  bool any_object = false;  // "@object": a weak word, a dtype or a number
};

struct ChoiceValue {
  std::string name;
  std::vector<Together> words;
  std::map<std::string, std::string> holes;  // "title", "kernel" ...
};
struct Choice {
  std::string name;
  std::string ask;                 // "which activation"
  std::string default_value;       // empty: must be said
  std::vector<Together> asked_by;  // words that ask for the choice without saying which
  std::vector<ChoiceValue> values;

  const ChoiceValue* Find(std::string_view value) const;
};

// "rows x cols": how the shapes of a sentence name sizes. One entry a shape, one a dimension in it,
// the names that this dimension gives.
using ShapeTemplate = std::vector<std::vector<std::vector<std::string>>>;

struct Contract {
  std::string name;           // how the user calls it
  std::string task_name;      // with holes
  std::string family;         // "row operations"
  std::string title;          // what is computed, with holes
  std::vector<DType> dtypes;  // the first is the default

  std::vector<Need> needs;
  std::vector<FormulaPattern> formulas;
  std::vector<Together> also;
  std::vector<Together> never;  // what it is not about, though every word may be known
  std::vector<Choice> choices;

  SizeBindings default_sizes;
  std::vector<std::string> size_order;
  std::vector<SizeBindings> checked;
  std::vector<ShapeTemplate> shapes;
  std::vector<std::string> count;  // sizes that a plain number of elements gives
  std::map<std::string, std::vector<Phrase>> named;

  size_t parameters = 0;  // arguments that are one number, and no size

  std::string task_text;  // [args] ... [cost], with holes
  std::string kernel;
  std::string reference;

  const Choice* FindChoice(std::string_view choice) const;
};

struct ContractFiles {
  std::string file;  // what messages call it
  std::string_view contract;
  std::string_view kernel;
  std::string_view reference;
};

// Fails with kParse: "FILE:LINE: what".
Result<Contract> ParseContract(const ContractFiles& files, const Lexicon& lexicon);

// A phrase as a contract writes it.
Phrase ReadPhrase(std::string_view text, const Lexicon& lexicon);

class ContractLibrary {
 public:
  // The one in the program.
  static Result<ContractLibrary> Load();
  static Result<ContractLibrary> Make(std::vector<Contract> contracts, Lexicon lexicon);

  const Lexicon& lexicon() const { return lexicon_; }
  const std::vector<Contract>& contracts() const { return contracts_; }
  const Contract* Find(std::string_view name) const;

 private:
  Lexicon lexicon_;
  std::vector<Contract> contracts_;
};

// Three files a contract: its contract.toml, kernel.cu and reference.cpp.
std::span<const EmbeddedText> EmbeddedContracts();

}  // namespace optiml

#endif  // OPTIML_GENERATE_CONTRACT_H_
