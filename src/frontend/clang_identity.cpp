#include "frontend/clang_identity.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "frontend/clang_includes.h"

namespace optiml::frontend {

namespace {

// The same wherever the text is compiled.
constexpr std::array<std::string_view, 6> kNoQuestion = {
    "__cplusplus", "__LINE__", "__FILE__", "__func__", "__FUNCTION__", "__VA_ARGS__"};

// The same for every compiler of device code, but not on the host.
constexpr std::array<std::string_view, 8> kDeviceQuestion = {"__CUDA_ARCH__",
                                                             "__CUDA_ARCH_LIST__",
                                                             "__CUDA_ARCH_SPECIFIC__",
                                                             "__CUDA_ARCH_FAMILY_SPECIFIC__",
                                                             "__CUDA_ARCH_FEAT_SM90_ALL",
                                                             "__CUDACC_VER_MAJOR__",
                                                             "__CUDACC_VER_MINOR__",
                                                             "__CUDACC_VER_BUILD__"};

// What all compilers define whose language is CUDA.
constexpr std::string_view kIsCuda = "__CUDACC__";

// Names of compilers and systems that are none of ours: defined by nobody here.
constexpr std::array<std::string_view, 13> kForeign = {
    "__HIP", "__AMD", "_MSC",    "_WIN",      "__INTEL",  "__SYCL",      "__MUSA",
    "__ICC", "__PGI", "__MINGW", "__APPLE__", "__CYGWIN", "__NVCOMPILER"};

// Names that our compilers do define, or may: a file cannot make them its own by defining them.
constexpr std::array<std::string_view, 20> kOurs = {
    "__CUDACC", "__CUDA_",  "__NVCC",   "__NVRTC",     "__clang", "__GNU",          "__EDG",
    "__STDC",   "__SIZEOF", "__OPTIMI", "__x86",       "__linux", "__unix",         "__ELF",
    "__has_",   "__LP64",   "__BYTE_",  "__EXCEPTION", "__cpp_",  "__is_identifier"};
// Differ between two readings of the same text, or between compilers, wherever they stand.
constexpr std::array<std::string_view, 10> kEverywhere = {
    "__DATE__",          "__TIME__",      "__TIMESTAMP__", "__COUNTER__",       "__VERSION__",
    "__INCLUDE_LEVEL__", "__BASE_FILE__", "__FILE_NAME__", "__clang_version__", "__NVCC__"};

// Compilers are not robust against names of hundreds of kilobytes, and run in our own process.
constexpr size_t kMaxName = 4096;

// More questions than a text needs; each costs up to three parses.
constexpr size_t kMaxQuestions = 24;

template <size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <size_t N>
bool BeginsWithOneOf(const std::array<std::string_view, N>& prefixes, std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Reserved for compilers (C++ standard, [lex.name]), and what gcc defines besides.
bool IsCompilersName(std::string_view name) {
  if (name == "linux" || name == "unix" || name == "i386") {
    return true;
  }
  return name.size() > 2 && name[0] == '_' &&
         (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

struct Place {
  size_t begin = 0;
  size_t end = 0;
};

struct Question {
  std::vector<Place> places;
  int line = 0;
};

struct Scan {
  std::map<std::string, Question> questions;
  int long_name_line = 0;  // of a name beyond kMaxName; 0: none
};

int LineAt(const std::string& text, size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(),
                                         text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

// An identifier without the line splices that may be in it.
std::string Cleaned(llvm::StringRef raw) {
  std::string name;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\\' || raw[i] == '\n' || raw[i] == '\r') {
      continue;
    }
    name += raw[i];
  }
  return name;
}

Scan ScanText(const std::string& text) {
  clang::LangOptions language;
  language.CPlusPlus = true;
  language.CPlusPlus11 = true;
  language.CPlusPlus14 = true;
  language.CPlusPlus17 = true;
  language.CUDA = true;
  language.LineComment = true;
  language.Bool = true;
  const char* begin = text.c_str();
  clang::Lexer lexer(clang::SourceLocation(), language, begin, begin, begin + text.size());
  Scan scan;
  std::map<std::string, Question>& found = scan.questions;
  std::set<std::string> own;  // macros that the file defines itself
  enum class In { kCode, kDirective, kDefinition };
  In in = In::kCode;
  std::string directive;
  int words = 0;  // of the directive so far
  clang::Token token;
  while (true) {
    lexer.LexFromRawLexer(token);
    if (token.is(clang::tok::eof)) {
      break;
    }
    if (token.isAtStartOfLine()) {
      in = token.is(clang::tok::hash) ? In::kDirective : In::kCode;
      directive.clear();
      words = 0;
      if (in == In::kDirective) {
        continue;
      }
    }
    if (token.isNot(clang::tok::raw_identifier)) {
      continue;
    }
    const std::string name = Cleaned(token.getRawIdentifier());
    const auto end = static_cast<size_t>(lexer.getBufferLocation() - begin);
    const Place place{end - token.getLength(), end};
    if (token.getLength() > kMaxName && scan.long_name_line == 0) {
      scan.long_name_line = LineAt(text, place.begin);
    }
    ++words;
    if (in == In::kDirective && words == 1) {
      directive = name;
      if (name == "pragma" || name == "error" || name == "warning") {
        in = In::kCode;  // no question: a compiler's own words
        directive = "pragma";
      }
      continue;
    }
    if (directive == "pragma") {
      continue;
    }
    if (in == In::kDirective && words == 2 && (directive == "define" || directive == "undef")) {
      own.insert(name);
      in = In::kDefinition;
      if (!BeginsWithOneOf(kOurs, name)) {
        continue;
      }
    }
    const bool asked = in == In::kDirective
                           ? IsCompilersName(name)
                           : BeginsWithOneOf(kOurs, name) || IsOneOf(kEverywhere, name);
    if (!asked || name == kIsCuda || IsOneOf(kNoQuestion, name) ||
        BeginsWithOneOf(kForeign, name)) {
      continue;
    }
    Question& question = found[name];
    question.places.push_back(place);
    if (question.line == 0) {
      question.line = LineAt(text, place.begin);
    }
  }
  for (const std::string& name : own) {
    if (!BeginsWithOneOf(kOurs, name)) {
      found.erase(name);
    }
  }
  return scan;
}

// The text with the question asked of a name of our own, which has the answer `value`; empty: it is
// not defined.
std::string Answered(const std::string& text, const Question& question, const std::string& value) {
  static constexpr char kName[] = "OPTIML_ANSWER";
  std::string result =
      value.empty() ? "" : std::string("#define ") + kName + " " + value + "\n#line 1\n";
  size_t at = 0;
  for (const Place& place : question.places) {
    result += text.substr(at, place.begin - at) + kName;
    at = place.end;
  }
  return result + text.substr(at);
}

// The tokens that a host compiler reads: those of functions that the host alone has, and of those
// with both sides that they name.
std::string HostTokens(const IdentityAttempt& attempt) {
  const auto tokens_of = [&](const ast::TextRange& range) {
    std::vector<std::string_view> tokens;
    for (const MainToken& token : attempt.tokens) {
      if (token.offset >= range.begin && token.offset < range.end) {
        tokens.push_back(token.spelling);
      }
    }
    return tokens;
  };
  std::string result;
  std::set<int> taken;
  std::set<std::string_view> named;
  for (bool more = true; more;) {
    more = false;
    for (const ast::Function& function : attempt.unit.functions) {
      if (function.is_kernel || !function.is_host || taken.contains(function.id) ||
          (function.is_device && !named.contains(function.name))) {
        continue;
      }
      taken.insert(function.id);
      more = true;
      for (const std::string_view token : tokens_of(function.range)) {
        named.insert(token);
        result += token;
        result += ' ';
      }
      result += '\n';
    }
  }
  return result;
}

std::string AllTokens(const IdentityAttempt& attempt) {
  std::string result;
  for (const MainToken& token : attempt.tokens) {
    result += token.spelling;
    result += ' ';
  }
  return result;
}

}  // namespace

Result<std::optional<Refusal>> CompilerDependence(const KernelSource& source,
                                                  const IdentityParse& parse) {
  using Outcome = std::optional<Refusal>;
  const std::string& text = source.text();
  const Scan scan = ScanText(text);
  const auto& questions = scan.questions;
  const auto refuse = [&](const std::string& what, int line) {
    return Outcome(Refusal{source.path() + ":" + std::to_string(line) + ": " + what, line});
  };
  if (scan.long_name_line > 0) {
    return refuse("a name is longer than " + std::to_string(kMaxName) + " characters",
                  scan.long_name_line);
  }
  if (questions.empty()) {
    return Outcome();
  }
  if (questions.size() > kMaxQuestions) {
    return refuse("the file asks for " + std::to_string(questions.size()) +
                      " properties of its compiler (at most " + std::to_string(kMaxQuestions) + ")",
                  questions.begin()->second.line);
  }
  OPTIML_ASSIGN(const IdentityAttempt plain, parse(text));
  for (const auto& [name, question] : questions) {
    const bool device = IsOneOf(kDeviceQuestion, name);
    for (const char* value : {"", "1", "1000000"}) {
      OPTIML_ASSIGN(const IdentityAttempt other, parse(Answered(text, question, value)));
      // A host compiler reads device functions too, without the name; other architectures' device
      // code need not compile here.
      if (device && other.has_errors && *value != '\0') {
        continue;
      }
      const bool same =
          device ? HostTokens(plain) == HostTokens(other) : AllTokens(plain) == AllTokens(other);
      if (other.has_errors || !same) {
        return refuse(device
                          ? "the launcher depends on " + name + ", which host compilers do not have"
                          : "the code depends on " + name +
                                ", which tells compilers apart: what is verified would not be "
                                "what is delivered",
                      question.line);
      }
    }
  }
  return Outcome();
}

}  // namespace optiml::frontend
