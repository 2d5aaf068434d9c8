#ifndef OPTIML_GENERATE_SENTENCE_H_
#define OPTIML_GENERATE_SENTENCE_H_

// One sentence against one contract: which tokens its phrases explain, and which sizes and dtype
// the numbers and words give. Private to matcher.cpp.

#include <string>
#include <vector>

#include "generate/contract.h"
#include "generate/matcher.h"
#include "generate/words.h"

namespace optiml {

// Indices of the tokens that a phrase covers.
using Covered = std::vector<size_t>;

class Sentence {
 public:
  explicit Sentence(std::vector<Token> tokens, bool has_object = false);

  const std::vector<Token>& tokens() const { return tokens_; }
  bool has_object() const { return has_object_; }

  // Absent phrases cover nothing. All places where the phrase stands.
  Covered Find(const Phrase& phrase) const;
  // The first place, of a pattern with numbers: "# bins". `first_number`: its token.
  Covered FindNumber(const Phrase& phrase, const std::vector<bool>& taken,
                     size_t& first_number) const;
  // All phrases, or nothing.
  Covered Find(const Together& together) const;

 private:
  bool MatchesAt(const Phrase& phrase, const std::vector<size_t>& order, size_t at) const;

  std::vector<Token> tokens_;
  std::vector<size_t> all_;      // every token
  std::vector<size_t> plain_;    // without signs: "kernel_size = 3"
  std::vector<size_t> content_;  // without those that say nothing and those that are negated
  std::vector<size_t> words_;    // of these, without numbers and shapes
  bool has_object_ = false;
};

// Binds the sentence's numbers to the contract's sizes; marks the tokens it used. Amounts of data
// ("1 GiB") are counted in elements of the dtype.
void BindSizes(const Sentence& sentence, const Contract& contract, const Lexicon& lexicon,
               DType dtype, std::vector<bool>& explained, SizeBindings& sizes);

}  // namespace optiml

#endif  // OPTIML_GENERATE_SENTENCE_H_
