#ifndef OPTIML_GENERATE_WORDS_H_
#define OPTIML_GENERATE_WORDS_H_

// A sentence as the matcher sees it: words without their endings, synonyms replaced, numbers and
// shapes read, what says nothing marked. The words are data (lexicon.toml).

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_text.h"
#include "base/result.h"
#include "core/dtype.h"
#include "generate/api_names.h"

namespace optiml {

struct TomlValue;

struct Token {
  enum class Kind {
    kWord,
    kNumber,    // numbers[0]: "4 million", "2^20", "16M"
    kShape,     // numbers: "8192 x 1024", "512^3"
    kOperator,  // + - * / ^ = += ? : [ ]
  };
  Kind kind = Kind::kWord;
  std::string word;                 // normalised; of a number its digits
  std::string text;                 // as written
  std::vector<int64_t> numbers;     // kNumber: one; kShape: two or more
  bool is_bytes = false;            // kNumber: "256 MB" of data
  bool is_stop = false;             // says nothing
  bool is_hint = false;             // "coalesced": how, not what
  bool is_weak = false;             // "matrix": may be left unexplained
  bool is_negated = false;          // "without bias": bias
  std::optional<DType> dtype;       // "half precision"
  std::optional<DType> blas_dtype;  // "dgemm": the word is "gemm", of doubles
  int formula = -1;                 // the formula that it is part of (formula.h)
  // A single letter: a variable's name, unless a phrase asks for it.
  bool is_variable() const { return kind == Kind::kWord && word.size() == 1; }
};

// Without plural, -ing, -ed, -ation and the like; "normalised" and "normalizing" are one. ASCII.
std::string Stem(std::string word);

class Lexicon {
 public:
  // The one in the program.
  static Result<Lexicon> Load();
  static Result<Lexicon> Parse(std::string_view toml);

  // Never fails: what is not known becomes a word that nothing explains. Sentences are cut after
  // kMostTokens.
  std::vector<Token> Read(std::string_view sentence) const;

  static constexpr size_t kMostTokens = 400;

  const std::set<std::string>& count_after() const { return count_after_; }
  const std::set<std::string>& count_before() const { return count_before_; }
  // The sizes that a letter may name, the likeliest first.
  std::span<const std::string> SizesOf(const std::string& letter) const;

 private:
  using Words = std::vector<std::string>;
  Result<void> ParseApi(const TomlValue& document);
  void ReplaceSynonyms(std::vector<Token>& tokens) const;
  void ReadNumbers(std::vector<Token>& tokens) const;
  void ReadDTypes(std::vector<Token>& tokens) const;
  void ReadBlas(std::vector<Token>& tokens) const;
  Words StemmedPhrase(std::string_view phrase) const;
  void Mark(std::vector<Token>& tokens) const;
  static void MarkLayout(std::vector<Token>& tokens);

  std::set<std::string> stop_;
  std::set<std::string> weak_;
  std::set<std::string> count_after_;
  std::set<std::string> count_before_;
  std::set<std::string> negations_;
  ApiWords api_;
  std::set<std::string> hints_;
  std::set<std::string> c_math_;                        // "exp", of "expf"
  std::set<std::string> blas_;                          // "gemm": after a letter of its dtype
  std::map<std::string, Words> letters_;                // "b" -> "batch", "images"
  std::map<std::string, int64_t> numbers_;              // stem -> value
  std::map<Words, DType> dtypes_;                       // stemmed phrase -> dtype
  std::map<Words, std::vector<std::string>> synonyms_;  // stemmed phrase -> canonical words
  size_t longest_ = 1;                                  // words of the longest synonym
};

std::span<const EmbeddedText> EmbeddedLexicon();

}  // namespace optiml

#endif  // OPTIML_GENERATE_WORDS_H_
