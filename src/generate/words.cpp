#include "generate/words.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "generate/tokens.h"
#include "task/names.h"
#include "task/toml_document.h"

namespace optiml {
namespace {

bool EndsWith(const std::string& word, std::string_view end) {
  return word.size() > end.size() + 1 && word.ends_with(end);
}

bool Replace(std::string& word, std::string_view end, std::string_view by, size_t at_least) {
  if (word.size() < at_least || !EndsWith(word, end)) {
    return false;
  }
  word.resize(word.size() - end.size());
  word += by;
  return true;
}

// "summing" -> "summ" -> "sum"; "adding" -> "add" keeps its double letter by being short.
void Undouble(std::string& word) {
  const size_t n = word.size();
  if (n > 3 && word[n - 1] == word[n - 2] &&
      std::string_view("bdgmnprt").find(word[n - 1]) != std::string_view::npos) {
    word.pop_back();
  }
}

std::set<std::string> StemmedSet(const std::string& words) {
  std::set<std::string> stems;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    stems.insert(Stem(word));
  }
  return stems;
}

std::set<std::string> PlainSet(const std::string& words) {
  std::istringstream in(words);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

Result<std::string> StringOf(const TomlValue& table, std::string_view key) {
  const TomlEntry* entry = table.Find(key);
  if (entry == nullptr || entry->value.kind != TomlValue::Kind::kString) {
    return Error(ErrorCode::kParse, "lexicon.toml: no string \"" + std::string(key) + "\"");
  }
  return entry->value.string;
}

// The words of one string of the lexicon.
Result<void> ReadSet(const TomlValue& table, std::string_view key,
                     std::set<std::string> (*words_of)(const std::string&),
                     std::set<std::string>& set) {
  OPTIML_ASSIGN(const std::string words, StringOf(table, key));
  set = words_of(words);
  return {};
}

Result<const TomlValue*> TableOf(const TomlValue& table, std::string_view key) {
  const TomlEntry* entry = table.Find(key);
  if (entry == nullptr || entry->value.kind != TomlValue::Kind::kTable) {
    return Error(ErrorCode::kParse, "lexicon.toml: no table \"" + std::string(key) + "\"");
  }
  return &entry->value;
}

}  // namespace

std::string Stem(std::string word) {
  if (word.ends_with("'s")) {
    word.resize(word.size() - 2);
  }
  if (word.size() <= 3) {
    return word;
  }
  if (!Replace(word, "ies", "y", 5) && !Replace(word, "sses", "ss", 5) &&
      !Replace(word, "xes", "x", 4) && !Replace(word, "ches", "ch", 5) &&
      !Replace(word, "shes", "sh", 5) && !word.ends_with("ss") && !word.ends_with("us") &&
      !word.ends_with("is")) {
    Replace(word, "s", "", 4);
  }
  if (Replace(word, "ing", "", 6) || Replace(word, "ed", "", 5)) {
    Undouble(word);
  }
  if (!Replace(word, "isation", "iz", 9) && !Replace(word, "ization", "iz", 9) &&
      !Replace(word, "ication", "y", 9)) {
    Replace(word, "ise", "iz", 6) || Replace(word, "ize", "iz", 5) || Replace(word, "is", "iz", 7);
  }
  if (word.size() > 3 && word.back() == 'e') {
    word.pop_back();
  }
  if (word.size() > 3 && word.back() == 'y') {
    word.back() = 'i';
  }
  return word;
}

Result<Lexicon> Lexicon::Load() {
  return Parse(EmbeddedLexicon()[0].text);
}

Result<Lexicon> Lexicon::Parse(std::string_view toml) {
  OPTIML_ASSIGN(const TomlValue document, ParseToml(toml, "lexicon.toml"));
  Lexicon lexicon;
  const auto read_set = [&](std::string_view key, std::set<std::string>& set) {
    return ReadSet(document, key, &StemmedSet, set);
  };
  OPTIML_TRY(read_set("stop", lexicon.stop_));
  OPTIML_TRY(read_set("weak", lexicon.weak_));
  OPTIML_TRY(read_set("count_after", lexicon.count_after_));
  OPTIML_TRY(read_set("count_before", lexicon.count_before_));
  OPTIML_TRY(read_set("negations", lexicon.negations_));
  OPTIML_TRY(lexicon.ParseApi(document));
  OPTIML_ASSIGN(const TomlValue* numbers, TableOf(document, "numbers"));
  for (const TomlEntry& entry : numbers->entries) {
    lexicon.numbers_[Stem(entry.key)] = entry.value.integer;
  }
  OPTIML_ASSIGN(const TomlValue* dtypes, TableOf(document, "dtypes"));
  for (const TomlEntry& entry : dtypes->entries) {
    const Result<DType> dtype = ParseDType(entry.key);
    if (!dtype) {
      return Error(ErrorCode::kParse, "lexicon.toml: unknown dtype \"" + entry.key + "\"");
    }
    for (const TomlValue& phrase : entry.value.items) {
      lexicon.dtypes_[lexicon.StemmedPhrase(phrase.string)] = *dtype;
    }
  }
  OPTIML_ASSIGN(const TomlValue* synonyms, TableOf(document, "synonyms"));
  for (const TomlEntry& entry : synonyms->entries) {
    const Words canonical = lexicon.StemmedPhrase(entry.key);
    for (const TomlValue& phrase : entry.value.items) {
      Words words = lexicon.StemmedPhrase(phrase.string);
      lexicon.longest_ = std::max(lexicon.longest_, words.size());
      lexicon.synonyms_[std::move(words)] = canonical;
    }
  }
  return lexicon;
}

Result<void> Lexicon::ParseApi(const TomlValue& document) {
  const auto read_set = [&](std::string_view key, std::set<std::string>& set) {
    return ReadSet(document, key, &PlainSet, set);
  };
  OPTIML_TRY(read_set("namespaces", api_.namespaces));
  OPTIML_TRY(read_set("roots", api_.roots));
  OPTIML_TRY(read_set("whole", api_.whole));
  OPTIML_TRY(read_set("along", api_.along));
  OPTIML_TRY(read_set("dimensions", api_.dimensions));
  OPTIML_TRY(read_set("blas", blas_));
  OPTIML_TRY(read_set("c_math", c_math_));
  OPTIML_TRY(ReadSet(document, "hints", &StemmedSet, hints_));
  const auto read_map = [&](std::string_view key,
                            std::map<std::string, std::string>& map) -> Result<void> {
    OPTIML_ASSIGN(const TomlValue* table, TableOf(document, key));
    for (const TomlEntry& entry : table->entries) {
      map[entry.key] = entry.value.string;
    }
    return {};
  };
  OPTIML_TRY(read_map("keywords", api_.keywords));
  OPTIML_TRY(read_map("methods", api_.methods));
  OPTIML_TRY(read_map("calls", api_.calls));
  OPTIML_ASSIGN(const TomlValue* letters, TableOf(document, "letters"));
  for (const TomlEntry& entry : letters->entries) {
    std::istringstream in(entry.value.string);
    for (std::string name; in >> name;) {
      letters_[entry.key].push_back(name);
    }
  }
  return {};
}

std::span<const std::string> Lexicon::SizesOf(const std::string& letter) const {
  const auto found = letters_.find(letter);
  return found == letters_.end() ? std::span<const std::string>() : found->second;
}

// A phrase of the lexicon, split as a sentence is.
Lexicon::Words Lexicon::StemmedPhrase(std::string_view phrase) const {
  std::vector<Token> tokens = SplitText(SpeakNames(phrase, api_));
  ReadBlas(tokens);
  Words words;
  for (const Token& token : tokens) {
    words.push_back(token.word);
  }
  return words;
}

std::vector<Token> Lexicon::Read(std::string_view sentence) const {
  std::vector<Token> tokens = SplitText(SpeakNames(sentence, api_));
  ReadBlas(tokens);
  if (tokens.size() > kMostTokens) {
    tokens.resize(kMostTokens);
  }
  // Twice: what is replaced may be part of a longer phrase ("batched gemm").
  ReplaceSynonyms(tokens);
  ReplaceSynonyms(tokens);
  ReadNumbers(tokens);
  ReadDTypes(tokens);
  Mark(tokens);
  return tokens;
}

void Lexicon::ReplaceSynonyms(std::vector<Token>& tokens) const {
  std::vector<Token> replaced;
  for (size_t i = 0; i < tokens.size();) {
    size_t taken = 0;
    for (size_t length = std::min(longest_, tokens.size() - i); length > 0 && taken == 0;
         --length) {
      Words words;
      std::string text;
      for (size_t j = i; j < i + length; ++j) {
        words.push_back(tokens[j].word);
        text += (j > i ? " " : "") + tokens[j].text;
      }
      const auto found = synonyms_.find(words);
      if (found == synonyms_.end()) {
        continue;
      }
      taken = length;
      for (const std::string& word : found->second) {
        Token token;
        token.word = word;
        token.text = text;
        token.formula = tokens[i].formula;
        for (size_t j = i; j < i + length; ++j) {
          token.blas_dtype = token.blas_dtype ? token.blas_dtype : tokens[j].blas_dtype;
        }
        token.kind = word.find_first_not_of("0123456789") == std::string::npos
                         ? Token::Kind::kNumber
                         : Token::Kind::kWord;
        if (token.kind == Token::Kind::kNumber) {
          token.numbers = {std::stoll(word)};
        }
        replaced.push_back(std::move(token));
      }
    }
    if (taken == 0) {
      replaced.push_back(tokens[i]);
      taken = 1;
    }
    i += taken;
  }
  tokens = std::move(replaced);
}

// "sgemm" is "gemm" of floats. What is complex ("cgemm") stays unknown.
void Lexicon::ReadBlas(std::vector<Token>& tokens) const {
  for (Token& token : tokens) {
    if (token.kind != Token::Kind::kWord || token.text.size() < 4) {
      continue;
    }
    const std::optional<DType> dtype = token.text[0] == 's'   ? std::optional(DType::kF32)
                                       : token.text[0] == 'd' ? std::optional(DType::kF64)
                                       : token.text[0] == 'h' ? std::optional(DType::kF16)
                                                              : std::nullopt;
    if (dtype && blas_.contains(token.text.substr(1))) {
      token.word = Stem(token.text.substr(1));
      token.blas_dtype = dtype;
    }
    // "fmaxf" is "max".
    std::string name = token.text;
    if (name.ends_with('f') && c_math_.contains(name.substr(0, name.size() - 1))) {
      name.pop_back();
    }
    if (c_math_.contains(name)) {
      const bool has_prefix = name == "fabs" || name == "fmax" || name == "fmin";
      token.word = Stem(has_prefix ? name.substr(1) : name);
    }
  }
}

void Lexicon::ReadNumbers(std::vector<Token>& tokens) const {
  for (Token& token : tokens) {
    const auto found = numbers_.find(token.word);
    if (token.kind == Token::Kind::kWord && found != numbers_.end()) {
      token.kind = Token::Kind::kNumber;
      token.numbers = {found->second};
      token.word = std::to_string(found->second);
    }
  }
  // "4 million" is one number; "8192 x 8192", "8192 by 8192" and "512^3" are shapes.
  JoinNumbers(tokens);
}

void Lexicon::ReadDTypes(std::vector<Token>& tokens) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    for (const size_t length : {size_t{2}, size_t{1}}) {
      if (i + length > tokens.size()) {
        continue;
      }
      Words words;
      for (size_t j = i; j < i + length; ++j) {
        words.push_back(tokens[j].word);
      }
      const auto found = dtypes_.find(words);
      if (found == dtypes_.end()) {
        continue;
      }
      tokens[i].dtype = found->second;
      if (length == 2) {
        tokens[i].text += " " + tokens[i + 1].text;
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
      break;
    }
  }
}

// "row-major" is how a matrix lies, not what is done with its rows; both layouts in one sentence
// are a conversion.
void Lexicon::MarkLayout(std::vector<Token>& tokens) {
  std::set<std::string> layouts;
  const auto is_layout = [&](size_t i) {
    return tokens[i + 1].text == "major" && (tokens[i].word == "row" || tokens[i].word == "column");
  };
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (is_layout(i)) {
      layouts.insert(tokens[i].word);
    }
  }
  for (size_t i = 0; i + 1 < tokens.size() && layouts.size() == 1; ++i) {
    if (is_layout(i)) {
      tokens[i].is_stop = true;
      tokens[i + 1].is_stop = true;
    }
  }
}

void Lexicon::Mark(std::vector<Token>& tokens) const {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    // "find i such that x[i] is ...": i is an index.
    if (tokens[i].is_variable() && tokens[i + 1].text == "such" && tokens[i + 2].text == "that") {
      tokens[i].word = "index";
    }
  }
  MarkLayout(tokens);
  bool negates = false;
  for (Token& token : tokens) {
    if (token.is_stop) {
      continue;
    }
    if (token.kind != Token::Kind::kWord) {
      negates = false;
      continue;
    }
    if (negations_.contains(token.word)) {
      negates = true;
      token.is_stop = true;
      continue;
    }
    token.is_hint = hints_.contains(token.word);
    token.is_weak = weak_.contains(token.word);
    token.is_stop = !token.is_weak && !token.dtype && stop_.contains(token.word);
    if (token.is_stop) {
      // "not in place", "no use of": the word that is meant comes after it.
      continue;
    }
    token.is_negated = negates;
    negates = false;
  }
}

}  // namespace optiml
