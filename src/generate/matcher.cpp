#include "generate/matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generate/conditional.h"
#include "generate/formula.h"
#include "generate/sentence.h"
#include "generate/template.h"
#include "generate/tokens.h"
#include "task/names.h"

namespace optiml {
namespace {

// A candidate that leaves more words unexplained than this many for each that it explains is none.
constexpr int kMostUnexplainedPerCoreWord = 2;

bool Weighs(const Token& token) {
  if (token.is_stop || token.is_weak || token.is_hint || token.is_variable()) {
    return false;
  }
  // What is a formula is read as one; elsewhere these signs are punctuation.
  static const std::set<std::string> kPunctuation = {"[", "]", "=", ":", "?",
                                                     "+", "-", ",", "/", "*"};
  return token.kind != Token::Kind::kOperator || !kPunctuation.contains(token.word);
}

// One contract and one sentence.
class Match {
 public:
  Match(const Contract& contract, const Sentence& sentence, std::span<const Formula> formulas,
        const Lexicon& lexicon)
      : contract_(contract),
        sentence_(sentence),
        formulas_(formulas),
        lexicon_(lexicon),
        core_(sentence.tokens().size()),
        explained_(sentence.tokens().size()) {
    candidate_.request.contract = &contract;
    candidate_.request.dtype = contract.dtypes.front();
  }

  // Whether all needs are met. The candidate is filled in either way.
  bool Run() {
    for (size_t i = 0; i < formulas_.size(); ++i) {
      fits_.push_back(ReadFormula(i));
    }
    for (const Choice& choice : contract_.choices) {
      Choose(choice);
    }
    bool is_met = true;
    for (const Need& need : contract_.needs) {
      is_met = Meet(need) && is_met;
    }
    // A formula says all that the operator needs.
    is_met = is_met || std::find(fits_.begin(), fits_.end(), true) != fits_.end();
    explained_ = core_;
    for (const Together& also : contract_.also) {
      Mark(sentence_.Find(also), explained_);
    }
    ChooseDType();
    BindSizes(sentence_, contract_, lexicon_, candidate_.request.dtype, explained_,
              candidate_.request.sizes);
    TakeParameters();
    Count();
    return is_met;
  }

  Candidate Take() { return std::move(candidate_); }

 private:
  static void Mark(const Covered& covered, std::vector<bool>& marks) {
    for (const size_t i : covered) {
      marks[i] = true;
    }
  }

  // Whether a formula of the sentence is one of the contract's.
  bool ReadFormula(size_t index) {
    for (const FormulaPattern& one : contract_.formulas) {
      if (!Fits(one.pattern, formulas_[index].root)) {
        continue;
      }
      const auto with = std::find_if(one.with.begin(), one.with.end(), [&](const Together& words) {
        return !sentence_.Find(words).empty();
      });
      if (with == one.with.end() && !one.with.empty()) {
        continue;
      }
      if (with != one.with.end()) {
        Mark(sentence_.Find(*with), core_);
      }
      for (size_t i = 0; i < sentence_.tokens().size(); ++i) {
        core_[i] = core_[i] || sentence_.tokens()[i].formula == static_cast<int>(index);
      }
      if (!one.choice.empty()) {
        candidate_.request.choices[one.choice] = one.value;
        said_.insert(one.choice);
      }
      return true;
    }
    return false;
  }

  // A formula that the contract has not is one thing that is left over, whatever its words are.
  void CountFormulas() {
    const std::vector<Token>& tokens = sentence_.tokens();
    for (size_t f = 0; f < formulas_.size(); ++f) {
      if (fits_[f]) {
        continue;
      }
      std::string text;
      for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].formula == static_cast<int>(f)) {
          text += (text.empty() ? "" : " ") + tokens[i].text;
          explained_[i] = true;  // counted
        }
      }
      candidate_.unexplained.push_back(text);
    }
  }

  // The value whose words cover most of the sentence.
  void Choose(const Choice& choice) {
    if (said_.contains(choice.name)) {
      return;
    }
    const ChoiceValue* best = nullptr;
    std::set<size_t> best_covered;
    for (const ChoiceValue& value : choice.values) {
      for (const Together& words : value.words) {
        const Covered covered = sentence_.Find(words);
        const std::set<size_t> places(covered.begin(), covered.end());
        if (places.size() > best_covered.size()) {
          best = &value;
          best_covered = places;
        }
      }
    }
    if (best != nullptr) {
      candidate_.request.choices[choice.name] = best->name;
      said_.insert(choice.name);
      for (const size_t i : best_covered) {
        core_[i] = true;
      }
      return;
    }
    if (!choice.default_value.empty()) {
      candidate_.request.choices[choice.name] = choice.default_value;
      return;
    }
    for (const Together& words : choice.asked_by) {
      const Covered covered = sentence_.Find(words);
      Mark(covered, core_);
      if (!covered.empty()) {
        asked_.insert(choice.name);
      }
    }
    std::string values;
    for (const ChoiceValue& value : choice.values) {
      values += (values.empty() ? "" : ", ") + value.name;
    }
    candidate_.missing_choices.push_back(fmt::format("{} ({})", choice.ask, values));
  }

  bool Meet(const Need& need) {
    if (!need.choice.empty() && (said_.contains(need.choice) || asked_.contains(need.choice))) {
      return true;
    }
    bool is_met = need.any_object && sentence_.has_object();
    for (const Together& words : need.any_of) {
      const Covered covered = sentence_.Find(words);
      Mark(covered, core_);
      is_met = is_met || !covered.empty();
    }
    return is_met;
  }

  void ChooseDType() {
    std::optional<DType> said;
    for (size_t i = 0; i < sentence_.tokens().size(); ++i) {
      const Token& token = sentence_.tokens()[i];
      const std::optional<DType> dtype = token.blas_dtype ? token.blas_dtype : token.dtype;
      if (!dtype || (explained_[i] && !token.blas_dtype)) {
        continue;
      }
      const bool offered = std::find(contract_.dtypes.begin(), contract_.dtypes.end(), *dtype) !=
                           contract_.dtypes.end();
      if (offered && (!said || *said == *dtype)) {
        said = *dtype;
        candidate_.request.dtype = *dtype;
        explained_[i] = explained_[i] || !token.blas_dtype;
      } else if (token.blas_dtype && explained_[i]) {
        candidate_.unexplained.push_back(token.text);
      }
    }
  }

  // "clamp to [-1, 1]", "above 0.5": values of the arguments that are one number. Fractions first,
  // for they are no sizes. "2d" holds where the operator has sizes for so many extents.
  void TakeParameters() {
    size_t left = contract_.parameters;
    const std::vector<Token>& tokens = sentence_.tokens();
    for (const bool fractions : {true, false}) {
      for (size_t i = 0; i < tokens.size() && left > 0; ++i) {
        const bool is_fraction = tokens[i].kind == Token::Kind::kWord && !tokens[i].word.empty() &&
                                 tokens[i].word[0] >= '0' && tokens[i].word[0] <= '9' &&
                                 tokens[i].word.find_first_of(".-") != std::string::npos;
        const bool is_number = tokens[i].kind == Token::Kind::kNumber && !IsUnit(i + 1);
        if (!explained_[i] && (fractions ? is_fraction : is_number)) {
          explained_[i] = true;
          --left;
        }
      }
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].word.size() == 2 && tokens[i].word[1] == 'd' && tokens[i].word[0] >= '1' &&
          tokens[i].word[0] <= '4' && HasRank(static_cast<size_t>(tokens[i].word[0] - '0'))) {
        explained_[i] = true;
      }
    }
  }

  // "7 heads": a number of something is no value.
  bool IsUnit(size_t i) const {
    return i < sentence_.tokens().size() && Weighs(sentence_.tokens()[i]) &&
           sentence_.tokens()[i].kind == Token::Kind::kWord && !explained_[i];
  }

  bool HasRank(size_t rank) const {
    return std::any_of(contract_.shapes.begin(), contract_.shapes.end(),
                       [&](const auto& shape) { return shape[0].size() == rank; });
  }

  // Whether a word that the sentence denies is one that the contract asks for or knows.
  bool Has(const std::string& word) const {
    const auto has = [&](const Together& together) {
      return together.size() == 1 && together[0].words.size() == 1 && together[0].words[0] == word;
    };
    return std::any_of(contract_.also.begin(), contract_.also.end(), has) ||
           std::any_of(contract_.needs.begin(), contract_.needs.end(), [&](const Need& need) {
             return std::any_of(need.any_of.begin(), need.any_of.end(), has);
           });
  }

  void Count() {
    CountFormulas();
    const std::vector<Token>& tokens = sentence_.tokens();
    for (const Together& never : contract_.never) {
      const Covered covered = sentence_.Find(never);
      if (!covered.empty()) {
        candidate_.unexplained.push_back(tokens[covered.front()].text);
        explained_[covered.front()] = true;  // counted
      }
    }
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].is_negated) {
        if (Has(tokens[i].word)) {
          candidate_.unexplained.push_back("without " + tokens[i].text);
        }
        continue;
      }
      candidate_.core_words += core_[i] ? 1 : 0;
      candidate_.known_words += explained_[i] ? 1 : 0;
      if (!explained_[i] && Weighs(tokens[i])) {
        candidate_.unexplained.push_back(tokens[i].text);
      }
    }
  }

  const Contract& contract_;
  const Sentence& sentence_;
  std::span<const Formula> formulas_;
  std::vector<bool> fits_;  // per formula
  const Lexicon& lexicon_;
  std::vector<bool> core_;
  std::vector<bool> explained_;
  std::set<std::string> said_;
  std::set<std::string> asked_;
  Candidate candidate_;
};

// A number that is left over is a question, but says nothing against the operator.
int UnexplainedWords(const Candidate& candidate) {
  return static_cast<int>(
      std::count_if(candidate.unexplained.begin(), candidate.unexplained.end(),
                    [](const std::string& text) { return text[0] < '0' || text[0] > '9'; }));
}

bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.unexplained.size() != b.unexplained.size()) {
    return a.unexplained.size() < b.unexplained.size();
  }
  if (a.missing_choices.size() != b.missing_choices.size()) {
    return a.missing_choices.size() < b.missing_choices.size();
  }
  return std::pair(a.core_words, a.known_words) > std::pair(b.core_words, b.known_words);
}

bool IsComplete(const Candidate& candidate) {
  return candidate.unexplained.empty() && candidate.missing_choices.empty();
}

// Contracts that know some of the words, for "closest: ...".
void KeepClosest(std::vector<Candidate>& candidates) {
  std::erase_if(candidates, [](const Candidate& one) {
    return one.core_words == 0 ||
           static_cast<int>(one.unexplained.size()) > 2 * kMostUnexplainedPerCoreWord + 2;
  });
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return std::pair(a.core_words, -static_cast<int>(a.unexplained.size())) >
           std::pair(b.core_words, -static_cast<int>(b.unexplained.size()));
  });
  candidates.resize(std::min<size_t>(candidates.size(), 3));
}

std::vector<std::string> UnknownToAll(const Sentence& sentence,
                                      const std::vector<Candidate>& candidates) {
  std::vector<std::string> unknown;
  for (const Token& token : sentence.tokens()) {
    const bool by_all =
        std::all_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
          return std::find(one.unexplained.begin(), one.unexplained.end(), token.text) !=
                 one.unexplained.end();
        });
    if (Weighs(token) && by_all &&
        std::find(unknown.begin(), unknown.end(), token.text) == unknown.end()) {
      unknown.push_back(token.text);
    }
  }
  return unknown;
}

// numpy's slice behind a call, where it is no part of a formula: "np.sort(x)[::-1]".
std::string WithoutSlices(std::string text) {
  constexpr std::string_view kBackwards = "[::-1]";
  for (size_t at = text.find(kBackwards); at != std::string::npos; at = text.find(kBackwards, at)) {
    text.replace(at, kBackwards.size(), " reversed ");
  }
  return text;
}

// The sentence with marks where its formulas are.
std::string MarkFormulas(std::string_view text, std::vector<Formula>& formulas) {
  std::string plain = PlainConditionals(WithoutPossessives(PlainSigns(text)));
  std::replace(plain.begin(), plain.end(), kFormulaBegin, ' ');
  std::replace(plain.begin(), plain.end(), kFormulaEnd, ' ');
  std::replace(plain.begin(), plain.end(), kListEnd, ' ');
  formulas = FindFormulas(plain);
  std::string marked;
  size_t at = 0;
  for (const Formula& formula : formulas) {
    marked += WithoutSlices(plain.substr(at, formula.begin - at)) + kFormulaBegin +
              plain.substr(formula.begin, formula.end - formula.begin) + kFormulaEnd;
    at = formula.end;
  }
  return marked + WithoutSlices(plain.substr(at));
}

}  // namespace

MatchResult MatchIntent(const ContractLibrary& library, std::string_view text) {
  std::vector<Formula> formulas;
  const Sentence sentence(library.lexicon().Read(MarkFormulas(text, formulas)),
                          HasCallOnData(text));
  std::vector<Candidate> met;
  std::vector<Candidate> others;
  for (const Contract& contract : library.contracts()) {
    Match match(contract, sentence, formulas, library.lexicon());
    const bool is_met = match.Run();
    Candidate candidate = match.Take();
    const bool is_near =
        UnexplainedWords(candidate) <= kMostUnexplainedPerCoreWord * candidate.core_words;
    (is_met && is_near ? met : others).push_back(std::move(candidate));
  }
  MatchResult result;
  if (met.empty()) {
    KeepClosest(others);
    result.candidates = std::move(others);
    result.unknown = UnknownToAll(sentence, result.candidates);
    return result;
  }
  std::stable_sort(met.begin(), met.end(), IsBetter);
  // Another that explains everything as well makes it a question, unless it hears fewer words of
  // what it needs: "row sum" is a sum as well, but "row" is then left over.
  const bool is_alone =
      met.size() == 1 || !IsComplete(met[1]) || met[1].core_words < met[0].core_words;
  result.kind =
      IsComplete(met[0]) && is_alone ? MatchResult::Kind::kClear : MatchResult::Kind::kQuestion;
  met.resize(std::min(met.size(), kMostCandidates));
  result.candidates = std::move(met);
  result.unknown = UnknownToAll(sentence, result.candidates);
  return result;
}

Result<OperatorRequest> ParseOperator(const ContractLibrary& library, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  OperatorRequest request;
  request.contract = library.Find(name);
  if (request.contract == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("no operator \"{}\" (`optiml generate --list` names them)", name));
  }
  const Contract& contract = *request.contract;
  request.dtype = contract.dtypes.front();
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  for (const std::string& part : SplitTrimmed(rest, ',')) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    const Choice* choice = contract.FindChoice(key);
    if (key == "dtype") {
      OPTIML_ASSIGN(request.dtype, ParseDType(value));
      if (std::find(contract.dtypes.begin(), contract.dtypes.end(), request.dtype) ==
          contract.dtypes.end()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{}: dtype {} is not offered", name, value));
      }
    } else if (choice != nullptr && choice->Find(value) != nullptr) {
      request.choices[key] = value;
    } else {
      std::string allowed;
      for (const ChoiceValue& one :
           choice == nullptr ? std::vector<ChoiceValue>() : choice->values) {
        allowed += (allowed.empty() ? "" : ", ") + one.name;
      }
      return Error(ErrorCode::kInvalidArgument,
                   choice == nullptr
                       ? fmt::format("{}: has no choice \"{}\"", name, key)
                       : fmt::format("{}: {} is one of {}, not \"{}\"", name, key, allowed, value));
    }
  }
  for (const Choice& choice : contract.choices) {
    if (request.choices.contains(choice.name)) {
      continue;
    }
    if (choice.default_value.empty()) {
      std::string allowed;
      for (const ChoiceValue& one : choice.values) {
        allowed += (allowed.empty() ? "" : ", ") + one.name;
      }
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: say {} with {}:{}=VALUE (one of {})", name, choice.ask, name,
                               choice.name, allowed));
    }
    request.choices[choice.name] = choice.default_value;
  }
  return request;
}

std::string FormatOperator(const OperatorRequest& request) {
  std::string text = request.contract->name;
  char separator = ':';
  for (const auto& [choice, value] : request.choices) {
    text += fmt::format("{}{}={}", separator, choice, value);
    separator = ',';
  }
  if (request.dtype != request.contract->dtypes.front()) {
    text += fmt::format("{}dtype={}", separator, DTypeName(request.dtype));
  }
  return text;
}

std::string DescribeOperator(const OperatorRequest& request) {
  return FillHoles(request.contract->title, HolesOf(request));
}

}  // namespace optiml
