#include "generate/conditional.h"

#include <array>
#include <cctype>
#include <regex>
#include <utility>

#include "generate/characters.h"

namespace optiml {
namespace {

// Longer texts are prose or programs; regular expressions would be slow on them.
constexpr size_t kMostText = 400;

struct Rule {
  std::regex form;
  std::string plain;
};

// An operand, a value, a condition: no words beside each other, hence no prose.
const std::string kOperand = R"(-?[\w.]+(?:\[[\w, ]*\])*(?:\([^()]*\))?)";
const std::string kValue = kOperand + R"((?: ?[-+*/^] ?)" + kOperand + ")*";
const std::string kTest = kOperand + R"((?: ?(?:[-+*/^]|[<>]=?|[!=]=) ?)" + kOperand + ")*";
const std::string kCompared = kValue + " ?(?:[<>]=?) ?" + kValue;
const std::string kPlace = R"(\w+(?:\[[\w, ]*\])*)";
const std::string kThen = R"((?:,? then|:|,)? +)";
const std::string kElse = R"(\s*[;,]?\s*\}?\s*\b(?:else|otherwise)\b\s*[:,]?\s*\{?\s*)";

std::string Group(const std::string& form) {
  return "(" + form + ")";
}

const std::array<Rule, 8>& Rules() {
  const auto rule = [](const std::string& form, const char* plain) {
    return Rule{std::regex(form, std::regex::icase | std::regex::optimize), plain};
  };
  const std::string in_parens = R"(\bif ?\( ?)" + Group(kTest) + R"( ?\) ?\{? ?)";
  const std::string in_words = R"(\bif )" + Group(kTest) + kThen;
  const std::string set = Group(kPlace) + " ?= ?" + Group(kValue);
  const std::string other = kElse + R"(\2 ?= ?)" + Group(kValue) + R"(;?\s*\}?)";
  static const std::array<Rule, 8> rules = {
      rule(in_parens + set + other, "$2 = $1 ? $3 : $4"),
      rule(in_words + set + other, "$2 = $1 ? $3 : $4"),
      // "if (x[i] < 0) x[i] = 0": else it stays.
      rule(R"(\bif ?\(? ?(()" + kPlace + ") ?[<>]=? ?" + Group(kValue) +
               R"() ?\)?(?:,? then|:|,)? +\2 ?= ?)" + Group(kValue) +
               R"((?!\s*[;,]?\s*\}?\s*(?:else|otherwise|if)\b);?\s*\}?)",
           "$2 = $1 ? $4 : $2"),
      rule(R"(\bif ?\(? ?)" + Group(kCompared) + R"( ?\)?(?:,? then|:|,)? +)" + Group(kPlace) +
               R"((?: ?\+= ?1\b|\+\+);?)",
           "$2 += $1 ? 1 : 0"),
      rule(R"(\bif )" + Group(kCompared) + R"(,? then )" + Group(kValue) +
               R"([;,]? (?:(?:else|otherwise) )?(?:el)?if )" + Group(kCompared) + R"(,? then )" +
               Group(kValue) + kElse + Group(kValue),
           "$1 ? $2 : $3 ? $4 : $5"),
      rule(R"(\bif )" + Group(kTest) + ",? then " + Group(kValue) + kElse + Group(kValue),
           "$1 ? $2 : $3"),
      rule(Group(kValue) + " if " + Group(kCompared) + kElse + Group(kValue), "$2 ? $1 : $3"),
      rule(Group(kValue) + " if " + Group(kOperand) + " else " + Group(kValue), "$2 ? $1 : $3"),
  };
  return rules;
}

}  // namespace

std::string PlainConditionals(std::string_view text) {
  std::string plain(text);
  if (text.size() > kMostText || Lower(text).find("if") == std::string::npos) {
    return plain;
  }
  for (const Rule& rule : Rules()) {
    plain = std::regex_replace(plain, rule.form, rule.plain);
  }
  return plain;
}

bool HasCallOnData(std::string_view text) {
  if (text.size() > kMostText) {
    return false;
  }
  // "a.max(b)" has two operands, and is none of these.
  static const std::regex form(
      R"((?:^|[\s=])(?:(?:np|numpy|cp|jnp|torch|F|scipy|cv2|tf)\.(?:[a-z]+\.)*|(?:cv|std|thrust)::)?)"
      R"([A-Za-z_]\w*\([A-Za-z]\w*(?:, ?(?:dst|out))?\)|\b[A-Za-z]\w*(?:\.array\(\))?\.\w+\(\))");
  return std::regex_search(text.begin(), text.end(), form);
}

std::string WithoutPossessives(std::string_view text) {
  const auto is_letter = [&](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_possessive = i > 1 && text[i] == '\'' && is_letter(i - 1) && is_letter(i - 2) &&
                               i + 1 < text.size() && text[i + 1] == 's' && !is_letter(i + 2);
    if (is_possessive) {
      ++i;  // the s
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace optiml
