// Mangled PTX through the parser and the machine: whatever the text, the answer is a value. A
// crash, a hang or an outcome without a message is a bug.
//
// The corpus is what NVRTC makes of the kernels under examples/ and tests/verify/; a mutation cuts,
// repeats, swaps or replaces tokens and lines. Every input follows from OPTIML_FUZZ_SEED and its
// number, which a failure prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/rng.h"
#include "build/builder.h"
#include "frontend/frontend.h"
#include "ptx/machine.h"

namespace optiml {
namespace {

constexpr uint64_t kDefaultInputs = 10'000;
constexpr uint64_t kMostSteps = 50'000;  // thread instructions of one launch
constexpr size_t kBufferBytes = 4096;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t value = otherwise;
  if (text != nullptr) {
    std::from_chars(text, text + std::string_view(text).size(), value);
  }
  return value;
}

// The PTX of every .cu file below a folder that parses and builds.
void AddPtxOf(const std::filesystem::path& folder, Builder& builder,
              std::vector<std::string>& corpus) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".cu") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const auto text = ReadFile(file);
    ASSERT_TRUE(text) << text.error().message();
    const auto parsed = ParseSource(KernelSource(*text, "", file.filename().string()));
    ASSERT_TRUE(parsed) << parsed.error().message();
    const auto* unit = std::get_if<ast::SourceUnit>(&*parsed);
    if (unit == nullptr) {
      continue;
    }
    BuildRequest request;
    request.device_text = unit->device_text;
    request.file_name = "kernel.cu";
    for (const ast::Function& function : unit->functions) {
      if (function.is_kernel && !function.is_template) {
        request.name_expressions.push_back(function.name_expression);
      }
    }
    const auto built = builder.Build(request);
    ASSERT_TRUE(built) << built.error().message();
    if (const auto* artifact = std::get_if<Artifact>(&*built)) {
      corpus.push_back(artifact->ptx);
    }
  }
}

struct Token {
  size_t begin = 0;
  size_t end = 0;
};

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '%' || c == '.' || c == '_' ||
         c == '$';
}

std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (IsWordCharacter(text[i])) {
      while (end < text.size() && IsWordCharacter(text[end])) {
        ++end;
      }
    }
    if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t') {
      tokens.push_back({i, end});
    }
    i = end;
  }
  return tokens;
}

class Mutator {
 public:
  Mutator(std::string text, Rng& rng) : text_(std::move(text)), rng_(rng) {}

  std::string Mangle() {
    const uint64_t times = rng_.NextBelow(4) == 0 ? 2 : 1;
    for (uint64_t i = 0; i < times && !text_.empty(); ++i) {
      Step();
    }
    return std::move(text_);
  }

 private:
  Token Pick(const std::vector<Token>& tokens) { return tokens[rng_.NextBelow(tokens.size())]; }
  std::string Text(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  int Byte(size_t at) const { return static_cast<unsigned char>(text_[at]); }
  void Replace(const Token& token, const std::string& by) {
    text_.replace(token.begin, token.end - token.begin, by);
  }

  void Step() {
    static constexpr const char* kNumbers[] = {"0",
                                               "-1",
                                               "1",
                                               "31",
                                               "32",
                                               "4096",
                                               "0f7FC00000",
                                               "63",
                                               "0xffffffff",
                                               "2147483647",
                                               "-2147483648",
                                               "4294967296",
                                               "99999999999999999999"};
    static constexpr const char* kWords[] = {".u8",   ".b16",    ".f32",    ".f64",    ".s64",
                                             ".pred", ".shared", ".global", ".local",  ".param",
                                             ".v4",   "%tid.x",  "%r0",     "%nosuch", "{"};
    const std::vector<Token> tokens = TokensOf(text_);
    if (tokens.empty()) {
      return;
    }
    Token one = Pick(tokens);
    switch (rng_.NextBelow(9)) {
      case 0:  // a token goes
        Replace(one, "");
        break;
      case 1:  // a token twice
        text_.insert(one.end, " " + Text(one));
        break;
      case 2: {  // one token in the place of another
        const std::string other = Text(Pick(tokens));
        Replace(one, other);
        break;
      }
      case 3:  // a number, best in the place of a number
        for (int tries = 0; tries < 8 && std::isdigit(Byte(one.begin)) == 0; ++tries) {
          one = Pick(tokens);
        }
        Replace(one, kNumbers[rng_.NextBelow(std::size(kNumbers))]);
        break;
      case 4:  // a word of the language
        Replace(one, kWords[rng_.NextBelow(std::size(kWords))]);
        break;
      case 5: {  // a modifier of an opcode from another place
        const std::string other = Text(Pick(tokens));
        const size_t dot = other.rfind('.');
        const size_t at = text_.rfind('.', one.end);
        if (dot != std::string::npos && at != std::string::npos && at >= one.begin) {
          text_.replace(at, one.end - at, other.substr(dot));
        }
        break;
      }
      case 6: {  // a line goes, or comes twice
        const size_t begin = text_.rfind('\n', one.begin) + 1;
        const size_t end = std::min(text_.find('\n', one.begin), text_.size() - 1) + 1;
        const std::string line = text_.substr(begin, end - begin);
        rng_.NextBelow(2) == 0 ? text_.erase(begin, end - begin) : text_.insert(begin, line);
        break;
      }
      case 7:  // the rest is missing
        text_.resize(rng_.NextBelow(8) == 0 ? one.end : text_.size());
        break;
      case 8:  // any byte
        text_[one.begin] = static_cast<char>(rng_.NextBelow(256));
        break;
    }
  }

  std::string text_;
  Rng& rng_;
};

// Launches a kernel on small buffers; what it says of itself must hold together.
void RunKernel(const ptx::Module& module, const ptx::Function& kernel, Rng& rng) {
  ptx::DeviceMemory memory;
  if (!memory.LoadModule(module)) {
    return;  // an undefined symbol, or more variables than there is room for
  }
  ptx::LaunchRequest request;
  request.module = &module;
  request.kernel = kernel.name;
  request.grid = {2, 1, 1};
  request.block = {static_cast<uint32_t>(1 + rng.NextBelow(64)), 1, 1};
  request.dynamic_shared_bytes = rng.NextBelow(2) * 1024;
  request.step_limit = kMostSteps;
  request.counters = rng.NextBelow(2) == 0;
  request.cache.enabled = request.counters;
  request.line_counters = request.counters;
  request.checks.initialisation = rng.NextBelow(2) == 0;
  request.checks.shared_races = request.checks.initialisation;
  request.checks.divergent_barriers = request.checks.initialisation;
  std::vector<std::vector<std::byte>> arguments;
  uint64_t parameter_bytes = 0;
  for (const ptx::Parameter& parameter : kernel.parameters) {
    parameter_bytes += parameter.bytes;
    if (parameter_bytes > kBufferBytes) {
      return;
    }
    std::vector<std::byte> bytes(parameter.bytes);
    const uint64_t value =
        parameter.bytes == 8 ? memory.Allocate("buffer", kBufferBytes, 4) : 1 + rng.NextBelow(64);
    for (size_t i = 0; i < std::min<size_t>(bytes.size(), sizeof value); ++i) {
      bytes[i] = static_cast<std::byte>((value >> (8 * i)) & 0xff);
    }
    arguments.push_back(std::move(bytes));
  }
  const auto parameters = ptx::PackParameters(kernel, arguments);
  if (!parameters) {
    return;
  }
  request.parameters = *parameters;
  const ptx::LaunchOutcome outcome = ptx::Launch(request, memory);
  if (outcome.status == ptx::LaunchStatus::kFault) {
    EXPECT_FALSE(outcome.findings.empty()) << outcome.message;
  } else if (outcome.status != ptx::LaunchStatus::kCompleted) {
    EXPECT_FALSE(outcome.message.empty()) << ptx::LaunchStatusName(outcome.status);
  }
}

TEST(FuzzPtx, MangledTextNeverBreaksTheParserOrTheMachine) {
  const auto builder = MakeNvrtcBuilder({});
  if (const auto toolchain = builder->Toolchain(); !toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  std::vector<std::string> corpus;
  AddPtxOf(OPTIML_SOURCE_DIR "/examples", *builder, corpus);
  AddPtxOf(OPTIML_SOURCE_DIR "/tests/verify/honest", *builder, corpus);
  ASSERT_GE(corpus.size(), 10U);

  const uint64_t seed = FromEnvironment("OPTIML_FUZZ_SEED", 1);
  const uint64_t first = FromEnvironment("OPTIML_FUZZ_FIRST", 0);
  const uint64_t inputs = FromEnvironment("OPTIML_FUZZ_INPUTS", kDefaultInputs);
  uint64_t parsed = 0;
  for (uint64_t i = first; i < first + inputs; ++i) {
    Rng rng(RandomAt(seed, i));
    const std::string text = Mutator(corpus[rng.NextBelow(corpus.size())], rng).Mangle();
    SCOPED_TRACE("OPTIML_FUZZ_SEED=" + std::to_string(seed) +
                 " OPTIML_FUZZ_FIRST=" + std::to_string(i) + " OPTIML_FUZZ_INPUTS=1");
    const auto module = ptx::ParsePtx(text, "fuzz.ptx");
    if (!module) {
      EXPECT_THAT(module.error().message(), testing::StartsWith("fuzz.ptx:"));
      continue;
    }
    ++parsed;
    for (const std::string& name : module->KernelNames()) {
      RunKernel(*module, *module->FindKernel(name), rng);
    }
  }
  // Most inputs must come as far as the machine, or it is not tested.
  EXPECT_GT(parsed, inputs / 4);
  RecordProperty("parsed", static_cast<int>(parsed));
}

}  // namespace
}  // namespace optiml
