#include "generate/sentence.h"

#include <algorithm>
#include <map>
#include <optional>

namespace optiml {
namespace {

// A number without any word about what it counts is the number of elements from here on.
constexpr int64_t kLeastBareCount = 64;

using Bound = std::map<std::string, int64_t>;

bool Bind(const std::vector<std::string>& names, int64_t value, Bound& bound) {
  for (const std::string& name : names) {
    const auto [place, is_new] = bound.emplace(name, value);
    if (!is_new && place->second != value) {
      return false;
    }
  }
  return true;
}

// The shapes' extents by a template; absent when they do not fit.
std::optional<Bound> BindTemplate(const ShapeTemplate& shape,
                                  const std::vector<std::vector<int64_t>>& shapes) {
  Bound bound;
  if (shape.size() != shapes.size()) {
    return std::nullopt;
  }
  for (size_t s = 0; s < shape.size(); ++s) {
    std::vector<int64_t> extents = shapes[s];
    if (shape[s].size() == 1) {  // an array: however it is shaped
      int64_t product = 1;
      for (const int64_t extent : extents) {
        product *= std::min<int64_t>(extent, int64_t{1} << 20);
      }
      extents = {product};
    }
    if (shape[s].size() != extents.size()) {
      return std::nullopt;
    }
    for (size_t d = 0; d < extents.size(); ++d) {
      if (!Bind(shape[s][d], extents[d], bound)) {
        return std::nullopt;
      }
    }
  }
  return bound;
}

class SizeBinder {
 public:
  SizeBinder(const Sentence& sentence, const Contract& contract, const Lexicon& lexicon,
             DType dtype, std::vector<bool>& explained, SizeBindings& sizes)
      : sentence_(sentence),
        contract_(contract),
        lexicon_(lexicon),
        dtype_(dtype),
        explained_(explained),
        sizes_(sizes),
        taken_(explained) {}

  void Run() {
    for (const std::string& name : contract_.size_order) {  // "rows = 64" is plain
      Named(name, ReadPhrase(name + " = #", lexicon_));
    }
    for (const auto& [name, phrases] : contract_.named) {
      for (const Phrase& phrase : phrases) {
        Named(name, phrase);
      }
    }
    for (const std::string& name : contract_.size_order) {
      for (const bool before : {true, false}) {
        if (before || name.size() > 1) {  // "rows = 64", "64 rows"
          Named(name, ReadPhrase(before ? name + " = #" : "# " + name, lexicon_));
        }
      }
    }
    Shapes();
    Letters();
    Counts();
  }

 private:
  const std::vector<Token>& tokens() const { return sentence_.tokens(); }

  void Take(const Covered& covered) {
    for (const size_t i : covered) {
      explained_[i] = true;
      taken_[i] = true;
    }
  }

  void Named(const std::string& name, const Phrase& phrase) {
    if (sizes_.contains(name)) {
      return;
    }
    size_t number = 0;
    const Covered covered = sentence_.FindNumber(phrase, taken_, number);
    if (covered.empty()) {
      return;
    }
    const std::vector<int64_t>& values = tokens()[number].numbers;
    if (std::any_of(values.begin(), values.end(),
                    [&](int64_t value) { return value != values.front(); })) {
      return;  // one size cannot be 3 x 5
    }
    sizes_[name] = values.front();
    Take(covered);
  }

  void Shapes() {
    std::vector<size_t> places;
    std::vector<std::vector<int64_t>> shapes;
    for (size_t i = 0; i < tokens().size(); ++i) {
      if (tokens()[i].kind == Token::Kind::kShape && !taken_[i]) {
        places.push_back(i);
        shapes.push_back(tokens()[i].numbers);
      }
    }
    for (const ShapeTemplate& shape : contract_.shapes) {
      const std::optional<Bound> bound = BindTemplate(shape, shapes);
      if (shapes.empty() || !bound || !Agrees(*bound)) {
        continue;
      }
      for (const auto& [name, value] : *bound) {
        sizes_[name] = value;
      }
      Take(places);
      return;
    }
  }

  // "B = 4 H = 32": a letter is the first of the sizes that it usually names. Letters that are
  // sizes of the contract themselves were bound before.
  void Letters() {
    for (size_t i = 0; i + 2 < tokens().size(); ++i) {
      if (!tokens()[i].is_variable() || tokens()[i + 1].word != "=" ||
          tokens()[i + 2].kind != Token::Kind::kNumber || taken_[i + 2]) {
        continue;
      }
      for (const std::string& name : lexicon_.SizesOf(tokens()[i].word)) {
        const bool is_known = std::find(contract_.size_order.begin(), contract_.size_order.end(),
                                        name) != contract_.size_order.end();
        if (is_known && !sizes_.contains(name)) {
          sizes_[name] = tokens()[i + 2].numbers[0];
          Take({i, i + 1, i + 2});
          break;
        }
      }
    }
  }

  bool Agrees(const Bound& bound) const {
    return std::all_of(bound.begin(), bound.end(), [&](const auto& one) {
      const bool known = std::find(contract_.size_order.begin(), contract_.size_order.end(),
                                   one.first) != contract_.size_order.end();
      const auto found = sizes_.find(one.first);
      return known && (found == sizes_.end() || found->second == one.second);
    });
  }

  void Counts() {
    for (size_t i = 0; i < tokens().size() && !contract_.count.empty(); ++i) {
      const Token& token = tokens()[i];
      if (token.kind != Token::Kind::kNumber || taken_[i] ||
          !(IsCounted(i) || token.numbers[0] >= kLeastBareCount)) {
        continue;
      }
      const int64_t count =
          token.numbers[0] / (token.is_bytes ? static_cast<int64_t>(DTypeBytes(dtype_)) : 1);
      Bound bound;
      if (Bind(contract_.count, count, bound) && Agrees(bound)) {
        for (const auto& [name, value] : bound) {
          sizes_[name] = value;
        }
        Take({i});
      }
    }
    Repeated();
  }

  // "M is 64 x 32, v has 32 elements": what is known is said once more.
  void Repeated() {
    for (size_t i = 0; i < tokens().size(); ++i) {
      const bool is_known =
          tokens()[i].kind == Token::Kind::kNumber && !taken_[i] && IsCounted(i) &&
          std::any_of(sizes_.begin(), sizes_.end(),
                      [&](const auto& size) { return size.second == tokens()[i].numbers[0]; });
      if (is_known) {
        Take({i});
      }
    }
  }

  // "16 floats", "length 16", "n = 16".
  bool IsCounted(size_t i) const {
    size_t before = i;
    while (before > 0 && (tokens()[before - 1].word == "=" || tokens()[before - 1].word == "of")) {
      --before;
    }
    const bool said_before =
        before > 0 && lexicon_.count_before().contains(tokens()[before - 1].word);
    const bool said_after =
        i + 1 < tokens().size() && lexicon_.count_after().contains(tokens()[i + 1].word);
    return said_before || said_after;
  }

  const Sentence& sentence_;
  const Contract& contract_;
  const Lexicon& lexicon_;
  DType dtype_;
  std::vector<bool>& explained_;
  SizeBindings& sizes_;
  std::vector<bool> taken_;
};

}  // namespace

Sentence::Sentence(std::vector<Token> tokens, bool has_object)
    : tokens_(std::move(tokens)), has_object_(has_object) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    has_object_ = has_object_ || token.is_weak || token.dtype ||
                  token.kind == Token::Kind::kNumber || token.kind == Token::Kind::kShape;
    if (token.is_negated) {
      continue;
    }
    all_.push_back(i);
    if (token.kind != Token::Kind::kOperator) {
      plain_.push_back(i);
    }
    if (!token.is_stop && !token.is_variable() && token.kind != Token::Kind::kOperator) {
      content_.push_back(i);
      if (token.kind == Token::Kind::kWord) {
        words_.push_back(i);
      }
    }
  }
}

bool Sentence::MatchesAt(const Phrase& phrase, const std::vector<size_t>& order, size_t at) const {
  if (at + phrase.words.size() > order.size()) {
    return false;
  }
  std::map<std::string, std::string> variables;
  for (size_t w = 0; w < phrase.words.size(); ++w) {
    const std::string& word = phrase.words[w];
    const Token& token = tokens_[order[at + w]];
    if (word.size() > 1 && word[0] == '?') {
      // A letter or a name; "with transposed" is not "B transposed".
      if (token.kind != Token::Kind::kWord || (token.is_stop && !token.is_variable())) {
        return false;
      }
      const auto [place, is_new] = variables.emplace(word, token.word);
      if (!is_new && place->second != token.word) {
        return false;
      }
    } else if (word == "#x#") {
      if (token.kind != Token::Kind::kShape || token.numbers.size() != 2) {
        return false;
      }
    } else if (word == "#") {
      if (token.kind != Token::Kind::kNumber) {
        return false;
      }
    } else if (word != token.word) {
      return false;
    }
  }
  // Different variables are different things: "y = a x + y" is not "z = a x + y".
  for (auto one = variables.begin(); one != variables.end(); ++one) {
    for (auto other = std::next(one); other != variables.end(); ++other) {
      if (one->second == other->second) {
        return false;
      }
    }
  }
  return true;
}

Covered Sentence::Find(const Phrase& phrase) const {
  const bool has_number =
      std::any_of(phrase.words.begin(), phrase.words.end(), [](const std::string& word) {
        return word.find_first_of("0123456789#") != std::string::npos;
      });
  const std::vector<size_t>& order = phrase.is_literal ? all_ : has_number ? content_ : words_;
  Covered covered;
  for (size_t at = 0; !phrase.words.empty() && at < order.size(); ++at) {
    if (MatchesAt(phrase, order, at)) {
      for (size_t w = 0; w < phrase.words.size(); ++w) {
        covered.push_back(order[at + w]);
      }
    }
  }
  return covered;
}

Covered Sentence::FindNumber(const Phrase& phrase, const std::vector<bool>& taken,
                             size_t& first_number) const {
  for (const std::vector<size_t>* order : {&content_, &plain_, &all_}) {
    for (size_t at = 0; at < order->size(); ++at) {
      if (!MatchesAt(phrase, *order, at)) {
        continue;
      }
      Covered covered;
      size_t number = tokens_.size();
      for (size_t w = 0; w < phrase.words.size(); ++w) {
        const size_t i = (*order)[at + w];
        covered.push_back(i);
        if (phrase.words[w][0] == '#') {
          number = i;
        }
      }
      if (number < tokens_.size() && !taken[number]) {
        first_number = number;
        return covered;
      }
    }
  }
  return {};
}

Covered Sentence::Find(const Together& together) const {
  Covered covered;
  for (const Phrase& phrase : together) {
    const Covered of_phrase = Find(phrase);
    if (of_phrase.empty()) {
      return {};
    }
    covered.insert(covered.end(), of_phrase.begin(), of_phrase.end());
  }
  return covered;
}

void BindSizes(const Sentence& sentence, const Contract& contract, const Lexicon& lexicon,
               DType dtype, std::vector<bool>& explained, SizeBindings& sizes) {
  SizeBinder(sentence, contract, lexicon, dtype, explained, sizes).Run();
}

}  // namespace optiml
