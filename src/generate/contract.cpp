#include "generate/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "task/launcher_scan.h"
#include "task/toml_document.h"

namespace optiml {
namespace {

std::vector<std::string> SplitAt(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    std::string part(text.substr(0, end));
    const size_t first = part.find_first_not_of(' ');
    part = first == std::string::npos ? ""
                                      : part.substr(first, part.find_last_not_of(' ') - first + 1);
    parts.push_back(std::move(part));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + separator.size());
  }
}

class ContractReader {
 public:
  ContractReader(const ContractFiles& files, const Lexicon& lexicon)
      : files_(files), lexicon_(lexicon), file_(files.file) {}

  Result<Contract> Read() {
    const size_t split = files_.contract.find("\n[args]\n");
    if (split == std::string_view::npos) {
      return Error(ErrorCode::kParse, file_ + ": no [args]");
    }
    OPTIML_ASSIGN(const TomlValue document, ParseToml(files_.contract.substr(0, split + 1), file_));
    Contract contract;
    contract.task_text = files_.contract.substr(split + 1);
    contract.parameters = CountParameters(contract.task_text);
    contract.kernel = files_.kernel;
    contract.reference = files_.reference;
    for (const TomlEntry& entry : document.entries) {
      if (entry.key == "contract") {
        OPTIML_TRY(ReadHead(entry.value, contract));
      } else if (entry.key == "words") {
        OPTIML_TRY(ReadWords(entry.value, contract));
      } else if (entry.key == "choice") {
        OPTIML_TRY(ReadChoices(entry.value, contract));
      } else if (entry.key == "sizes") {
        OPTIML_TRY(ReadSizes(entry.value, contract));
      } else {
        return At(entry.line, "unknown section \"" + entry.key + "\"");
      }
    }
    OPTIML_TRY(Validate(contract));
    return contract;
  }

 private:
  Error At(int line, const std::string& what) const {
    return Error(ErrorCode::kParse, fmt::format("{}:{}: {}", file_, line, what));
  }

  Result<std::vector<std::string>> Strings(const TomlEntry& entry) const {
    std::vector<std::string> strings;
    for (const TomlValue& item : entry.value.items) {
      if (item.kind != TomlValue::Kind::kString) {
        return At(item.line, "\"" + entry.key + "\" is an array of strings");
      }
      strings.push_back(item.string);
    }
    return strings;
  }

  Result<void> ReadHead(const TomlValue& table, Contract& contract) const {
    for (const TomlEntry& entry : table.entries) {
      if (entry.key == "operator") {
        contract.name = entry.value.string;
      } else if (entry.key == "name") {
        contract.task_name = entry.value.string;
      } else if (entry.key == "family") {
        contract.family = entry.value.string;
      } else if (entry.key == "title") {
        contract.title = entry.value.string;
      } else if (entry.key == "dtypes") {
        OPTIML_ASSIGN(const std::vector<std::string> names, Strings(entry));
        for (const std::string& name : names) {
          OPTIML_ASSIGN(const DType dtype, ParseDType(name));
          contract.dtypes.push_back(dtype);
        }
      } else {
        return At(entry.line, "unknown key \"" + entry.key + "\"");
      }
    }
    return {};
  }

  // low = { dtype = "f32", fill = "uniform", min = -0.9, max = -0.1 }
  static size_t CountParameters(const std::string& task_text) {
    size_t count = 0;
    std::istringstream in(task_text.substr(0, task_text.find("\n[", 1)));
    for (std::string line; std::getline(in, line);) {
      const bool is_value =
          line.find("dtype") != std::string::npos && line.find("shape") == std::string::npos;
      count += is_value ? 1 : 0;
    }
    return count;
  }

  // A phrase of variables alone, or one that loses a word, would be found nearly everywhere.
  Result<Together> ReadTogether(std::string_view text, int line) const {
    Together together = SplitTogether(text);
    for (const Phrase& phrase : together) {
      const bool says = std::any_of(phrase.words.begin(), phrase.words.end(), [](const auto& word) {
        return word.size() == 1 || word[0] != '?';
      });
      if (!says || !phrase.dropped.empty()) {
        return At(line, fmt::format("\"{}\" {}", text,
                                    says ? "has a word that says nothing: " + phrase.dropped
                                         : "says nothing"));
      }
    }
    return together;
  }

  Together SplitTogether(std::string_view text) const {
    Together together;
    for (const std::string& part : SplitAt(text, " & ")) {
      together.push_back(ReadPhrase(part, lexicon_));
    }
    return together;
  }

  Result<std::vector<Together>> ReadAlternatives(const TomlEntry& entry) const {
    OPTIML_ASSIGN(const std::vector<std::string> texts, Strings(entry));
    std::vector<Together> alternatives;
    for (const std::string& text : texts) {
      OPTIML_ASSIGN(Together together, ReadTogether(text, entry.line));
      alternatives.push_back(std::move(together));
    }
    return alternatives;
  }

  // "op=relu: max(x, 0)", "A * &x with sparse | csr".
  Result<FormulaPattern> ReadFormula(std::string text, int line) const {
    FormulaPattern read;
    const size_t colon = text.find(": ");
    const size_t equals = text.find('=');
    if (colon != std::string::npos && equals < colon && text.find(' ') > colon) {
      read.choice = text.substr(0, equals);
      read.value = text.substr(equals + 1, colon - equals - 1);
      text.erase(0, colon + 2);
    }
    const size_t with = text.find(" with ");
    if (with != std::string::npos) {
      for (const std::string& words : SplitAt(std::string_view(text).substr(with + 6), " | ")) {
        OPTIML_ASSIGN(Together together, ReadTogether(words, line));
        read.with.push_back(std::move(together));
      }
      text.resize(with);
    }
    std::vector<FormulaNode> pattern = ParsePattern(text);
    if (pattern.empty()) {
      return At(line, fmt::format("\"{}\" is no formula", text));
    }
    read.pattern = std::move(pattern.front());
    return read;
  }

  Result<void> ReadWords(const TomlValue& table, Contract& contract) const {
    for (const TomlEntry& entry : table.entries) {
      if (entry.key == "also") {
        OPTIML_ASSIGN(contract.also, ReadAlternatives(entry));
      } else if (entry.key == "formulas") {
        OPTIML_ASSIGN(const std::vector<std::string> texts, Strings(entry));
        for (const std::string& text : texts) {
          OPTIML_ASSIGN(FormulaPattern read, ReadFormula(text, entry.line));
          contract.formulas.push_back(std::move(read));
        }
      } else if (entry.key == "never") {
        OPTIML_ASSIGN(contract.never, ReadAlternatives(entry));
      } else if (entry.key == "needs") {
        OPTIML_ASSIGN(const std::vector<std::string> texts, Strings(entry));
        for (const std::string& text : texts) {
          Need need;
          for (const std::string& alternative : SplitAt(text, "|")) {
            if (alternative == "@object") {
              need.any_object = true;
            } else if (alternative.starts_with("@")) {
              need.choice = alternative.substr(1);
            } else {
              OPTIML_ASSIGN(Together together, ReadTogether(alternative, entry.line));
              need.any_of.push_back(std::move(together));
            }
          }
          contract.needs.push_back(std::move(need));
        }
      } else {
        return At(entry.line, "unknown key \"" + entry.key + "\"");
      }
    }
    return {};
  }

  Result<void> ReadChoices(const TomlValue& choices, Contract& contract) const {
    for (const TomlValue& table : choices.items) {
      Choice choice;
      for (const TomlEntry& entry : table.entries) {
        if (entry.key == "name") {
          choice.name = entry.value.string;
        } else if (entry.key == "ask") {
          choice.ask = entry.value.string;
        } else if (entry.key == "default") {
          choice.default_value = entry.value.string;
        } else if (entry.key == "needs") {
          OPTIML_ASSIGN(Together together, ReadTogether(entry.value.string, entry.line));
          choice.asked_by = {std::move(together)};
        } else if (entry.key == "value") {
          for (const TomlValue& value : entry.value.items) {
            OPTIML_ASSIGN(ChoiceValue read, ReadValue(value));
            choice.values.push_back(std::move(read));
          }
        } else {
          return At(entry.line, "unknown key \"" + entry.key + "\"");
        }
      }
      contract.choices.push_back(std::move(choice));
    }
    return {};
  }

  Result<ChoiceValue> ReadValue(const TomlValue& table) const {
    ChoiceValue value;
    for (const TomlEntry& entry : table.entries) {
      if (entry.key == "name") {
        value.name = entry.value.string;
      } else if (entry.key == "words") {
        OPTIML_ASSIGN(value.words, ReadAlternatives(entry));
      } else if (entry.value.kind == TomlValue::Kind::kString) {
        value.holes[entry.key] = entry.value.string;
      } else {
        return At(entry.line, "\"" + entry.key + "\" is the text of a hole");
      }
    }
    return value;
  }

  Result<void> ReadSizes(const TomlValue& table, Contract& contract) const {
    for (const TomlEntry& entry : table.entries) {
      if (entry.key == "default") {
        OPTIML_TRY(ReadDefault(entry, contract));
      } else if (entry.key == "checked") {
        OPTIML_ASSIGN(const std::vector<std::string> rows, Strings(entry));
        for (const std::string& row : rows) {
          OPTIML_ASSIGN(SizeBindings sizes, ParseSizes(Compact(row)));
          contract.checked.push_back(std::move(sizes));
        }
      } else if (entry.key == "shapes") {
        OPTIML_ASSIGN(const std::vector<std::string> shapes, Strings(entry));
        for (const std::string& shape : shapes) {
          contract.shapes.push_back(ReadShape(shape));
        }
      } else if (entry.key == "count") {
        OPTIML_ASSIGN(contract.count, Strings(entry));
      } else if (entry.key == "named") {
        for (const TomlEntry& name : entry.value.entries) {
          OPTIML_ASSIGN(const std::vector<std::string> phrases, Strings(name));
          for (const std::string& phrase : phrases) {
            contract.named[name.key].push_back(ReadPhrase(phrase, lexicon_));
          }
        }
      } else {
        return At(entry.line, "unknown key \"" + entry.key + "\"");
      }
    }
    return {};
  }

  Result<void> ReadDefault(const TomlEntry& entry, Contract& contract) const {
    OPTIML_ASSIGN(contract.default_sizes, ParseSizes(Compact(entry.value.string)));
    for (const std::string& part : SplitAt(entry.value.string, ",")) {
      contract.size_order.push_back(SplitAt(part, "=").front());
    }
    return {};
  }

  // "n = 1, k = 2" as ParseSizes reads it.
  static std::string Compact(std::string text) {
    std::erase(text, ' ');
    return text;
  }

  // "m x k, k x n"; "m,k,n x m,k,n" (no space after these commas).
  static ShapeTemplate ReadShape(const std::string& text) {
    ShapeTemplate shape;
    for (const std::string& one : SplitAt(text, ", ")) {
      std::vector<std::vector<std::string>> dims;
      for (const std::string& dim : SplitAt(one, " x ")) {
        dims.push_back(SplitAt(dim, ","));
      }
      shape.push_back(std::move(dims));
    }
    return shape;
  }

  Result<void> Validate(Contract& contract) const {
    if (contract.name.empty() || contract.task_name.empty() || contract.title.empty() ||
        contract.dtypes.empty() || contract.needs.empty() || contract.checked.empty()) {
      return Error(
          ErrorCode::kParse,
          file_ + ": needs operator, name, title, dtypes, [words] needs and [sizes] checked");
    }
    if (contract.count.empty() && contract.shapes.size() == 1 && contract.shapes[0].size() == 1 &&
        contract.shapes[0][0].size() == 1) {
      contract.count = contract.shapes[0][0][0];
    }
    for (const SizeBindings& row : contract.checked) {
      for (const std::string& name : contract.size_order) {
        if (!row.contains(name) || row.size() != contract.size_order.size()) {
          return Error(
              ErrorCode::kParse,
              fmt::format("{}: a checked row has other sizes than the default ({})", file_, name));
        }
      }
    }
    for (const FormulaPattern& formula : contract.formulas) {
      const Choice* choice = contract.FindChoice(formula.choice);
      if (!formula.choice.empty() &&
          (choice == nullptr || choice->Find(formula.value) == nullptr)) {
        return Error(ErrorCode::kParse,
                     fmt::format("{}: no choice \"{}={}\"", file_, formula.choice, formula.value));
      }
    }
    for (const Need& need : contract.needs) {
      if (!need.choice.empty() && contract.FindChoice(need.choice) == nullptr) {
        return Error(ErrorCode::kParse, file_ + ": no choice \"" + need.choice + "\"");
      }
    }
    return {};
  }

  const ContractFiles& files_;
  const Lexicon& lexicon_;
  std::string file_;
};

bool IsLiteral(const std::vector<Token>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == Token::Kind::kOperator || token.is_variable() ||
           token.word.starts_with("?");
  });
}

}  // namespace

const ChoiceValue* Choice::Find(std::string_view value) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const ChoiceValue& one) { return one.name == value; });
  return found == values.end() ? nullptr : &*found;
}

const Choice* Contract::FindChoice(std::string_view choice) const {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](const Choice& one) { return one.name == choice; });
  return found == choices.end() ? nullptr : &*found;
}

Phrase ReadPhrase(std::string_view text, const Lexicon& lexicon) {
  Phrase phrase;
  // "#" and "#x#" stand for numbers of the sentence; words around them are read as a sentence's.
  std::vector<Token> tokens;
  for (const std::string& part : SplitAt(text, "#")) {
    for (Token& token : lexicon.Read(part)) {
      tokens.push_back(std::move(token));
    }
    Token mark;
    mark.word = "#";
    mark.kind = Token::Kind::kNumber;
    tokens.push_back(std::move(mark));
  }
  tokens.pop_back();  // the mark after the last part
  const bool has_number = text.find('#') != std::string_view::npos;
  phrase.is_literal = IsLiteral(tokens) && !has_number;
  for (size_t i = 0; i < tokens.size(); ++i) {
    // "#x#"
    if (i + 2 < tokens.size() && tokens[i].word == "#" && tokens[i + 1].word == "x" &&
        tokens[i + 2].word == "#") {
      phrase.words.push_back("#x#");
      i += 2;
    } else if (phrase.is_literal || !tokens[i].is_stop || has_number) {
      phrase.words.push_back(tokens[i].word);
    } else {
      phrase.dropped = tokens[i].text;
    }
  }
  return phrase;
}

Result<Contract> ParseContract(const ContractFiles& files, const Lexicon& lexicon) {
  return ContractReader(files, lexicon).Read();
}

Result<ContractLibrary> ContractLibrary::Make(std::vector<Contract> contracts, Lexicon lexicon) {
  ContractLibrary library;
  library.contracts_ = std::move(contracts);
  library.lexicon_ = std::move(lexicon);
  return library;
}

Result<ContractLibrary> ContractLibrary::Load() {
  OPTIML_ASSIGN(Lexicon lexicon, Lexicon::Load());
  const auto files = EmbeddedContracts();
  std::vector<Contract> contracts;
  for (size_t i = 0; i + 2 < files.size(); i += 3) {
    const ContractFiles of_contract{fmt::format("contract {}", i / 3 + 1), files[i].text,
                                    files[i + 1].text, files[i + 2].text};
    OPTIML_ASSIGN(Contract contract, ParseContract(of_contract, lexicon));
    contracts.push_back(std::move(contract));
  }
  return Make(std::move(contracts), std::move(lexicon));
}

const Contract* ContractLibrary::Find(std::string_view name) const {
  const auto found = std::find_if(contracts_.begin(), contracts_.end(),
                                  [&](const Contract& one) { return one.name == name; });
  return found == contracts_.end() ? nullptr : &*found;
}

}  // namespace optiml
