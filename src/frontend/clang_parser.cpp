#include <pthread.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "frontend/clang_converter.h"
#include "frontend/clang_headers.h"
#include "frontend/clang_identity.h"
#include "frontend/clang_prelude_pch.h"
#include "frontend/frontend.h"

namespace optiml {

namespace {

using frontend::kPreludeRoot;
using frontend::kResourceRoot;

// What Clang calls the source; messages use the source's own path.
constexpr char kSourcePath[] = "/optiml/source.cu";

struct Diagnostic {
  std::string text;
  int line = 0;  // 0: not in the file itself
};

class Collector : public clang::DiagnosticConsumer {
 public:
  explicit Collector(bool tolerate_shared_init) : tolerate_shared_init_(tolerate_shared_init) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& info) override {
    if (level < clang::DiagnosticsEngine::Error) {
      return;
    }
    if (tolerate_shared_init_ && info.getID() == clang::diag::err_shared_var_init) {
      return;  // a __shared__ object of CUDA's own headers (cuda::barrier)
    }
    Diagnostic made;
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    made.text = text.str().str();
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      clang::SourceManager& sources = info.getSourceManager();
      clang::SourceLocation at = sources.getExpansionLoc(info.getLocation());
      // An error in a header is told where the file includes it.
      while (at.isValid() && sources.getFileID(at) != sources.getMainFileID()) {
        at = sources.getIncludeLoc(sources.getFileID(at));
      }
      if (at.isValid()) {
        made.line = static_cast<int>(sources.getExpansionLineNumber(at));
      }
    }
    errors.push_back(std::move(made));
  }

  std::vector<Diagnostic> errors;

 private:
  bool tolerate_shared_init_;
};

class ConvertingConsumer : public clang::ASTConsumer {
 public:
  ConvertingConsumer(ast::SourceUnit& unit, const Collector& collector)
      : unit_(unit), collector_(collector) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (collector_.errors.empty()) {
      frontend::Converter(context, unit_).Run();
    }
  }

 private:
  ast::SourceUnit& unit_;
  const Collector& collector_;
};

class ConvertAction : public clang::ASTFrontendAction {
 public:
  // `tokens`: where the file's own tokens are written down; may be null.
  ConvertAction(ast::SourceUnit& unit, const Collector& collector,
                std::vector<frontend::MainToken>* tokens)
      : unit_(unit), collector_(collector), tokens_(tokens) {}

 protected:
  bool BeginSourceFileAction(clang::CompilerInstance& compiler) override {
    if (tokens_ != nullptr) {
      clang::Preprocessor& preprocessor = compiler.getPreprocessor();
      preprocessor.setTokenWatcher([this, &preprocessor](const clang::Token& token) {
        if (token.isAnnotation() || token.is(clang::tok::eof)) {
          return;
        }
        const clang::SourceManager& sources = preprocessor.getSourceManager();
        const clang::SourceLocation at = sources.getExpansionLoc(token.getLocation());
        if (sources.getFileID(at) == sources.getMainFileID()) {
          tokens_->push_back({sources.getFileOffset(at), preprocessor.getSpelling(token)});
        }
      });
    }
    return true;
  }
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<ConvertingConsumer>(unit_, collector_);
  }

 private:
  ast::SourceUnit& unit_;
  const Collector& collector_;
  std::vector<frontend::MainToken>* tokens_;
};

// Device side of an sm_90 compile: host functions are parsed and checked too, and asm constraints
// are those of the GPU.
std::vector<std::string> CommonArguments() {
  return {"-triple",
          "nvptx64-nvidia-cuda",
          "-aux-triple",
          "x86_64-unknown-linux-gnu",
          "-fcuda-is-device",
          "-target-cpu",
          "sm_90",
          "-target-feature",
          "+ptx85",
          "-target-sdk-version=12.5",
          "-x",
          "cuda",
          "-std=gnu++17",
          "-fsyntax-only",
          "-nobuiltininc",
          "-fgnuc-version=4.2.1",
          "-fdeprecated-macro",
          "-fcxx-exceptions",
          "-fexceptions",
          "-fcuda-allow-variadic-functions",
          "-ferror-limit",
          "20",
          "-fno-spell-checking",
          "-w"};
}

// A candidate may nest as deeply as its length allows, and Clang recurses: the stack is sized for
// the longest text that is accepted.
constexpr size_t kMaxTextBytes = size_t{1} << 20;
constexpr size_t kStackBytes = size_t{1} << 30;  // address space; pages are taken when touched

// Runs `work` on a stack of its own; on the caller's when the system grants no such stack.
void RunOnLargeStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started =
        pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()>*>(&work)) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started) {
    pthread_join(thread, nullptr);
  } else {
    work();
  }
}

struct ParseAttempt {
  ast::SourceUnit unit;
  std::vector<Diagnostic> errors;
  std::vector<frontend::MainToken> tokens;
};

Result<ParseAttempt> RunClang(const KernelSource& source, std::vector<std::string> arguments,
                              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
                              bool tolerate_shared_init, bool with_tokens) {
  ParseAttempt attempt;
  attempt.unit.path = source.path();
  attempt.unit.text = source.text();
  arguments.emplace_back(kSourcePath);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  Collector collector(tolerate_shared_init);
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 compiler.getDiagnostics())) {
    return Error(
        ErrorCode::kInternal,
        "clang refused our arguments" +
            (collector.errors.empty() ? std::string() : ": " + collector.errors.front().text));
  }
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(&collector, /*ShouldOwnClient=*/false);
  compiler.createFileManager(std::move(files));
  compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  ConvertAction action(attempt.unit, collector, with_tokens ? &attempt.tokens : nullptr);
  compiler.ExecuteAction(action);
  attempt.errors = std::move(collector.errors);
  return attempt;
}

Result<ParseAttempt> ParseWithPrelude(const KernelSource& source, bool with_tokens) {
  std::vector<std::string> arguments = CommonArguments();
  arguments.insert(arguments.end(), {"-nostdsysteminc", "-internal-isystem", kPreludeRoot});
  const bool with_half = source.text().find("cuda_fp16.h") != std::string::npos ||
                         source.text().find("cuda_bf16.h") != std::string::npos;
  const std::string& pch = frontend::PrecompiledPrelude(arguments, with_half);
  if (pch.empty()) {
    arguments.insert(arguments.end(), {"-include", "cuda_prelude.h"});
  } else {
    arguments.insert(arguments.end(), {"-include-pch", frontend::kPreludePchPath});
  }
  return RunClang(source, std::move(arguments),
                  frontend::MakePreludeFileSystem(kSourcePath, source.text(), pch), false,
                  with_tokens);
}

// The newest of libstdc++'s header directories; empty when there is none.
std::string FindCxxHeaders() {
  std::string best;
  int best_version = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/usr/include/c++", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    const int version = std::atoi(name.c_str());
    if (version > best_version) {
      best_version = version;
      best = it->path().string();
    }
  }
  return best;
}

Result<ParseAttempt> ParseWithCudaHeaders(const KernelSource& source, const std::string& cuda,
                                          const std::string& cxx, bool with_tokens) {
  const std::string version = std::filesystem::path(cxx).filename().string();
  const std::string resource = std::string(kResourceRoot) + "/include";
  const std::string machine = "/usr/include/x86_64-linux-gnu";
  std::vector<std::string> arguments = CommonArguments();
  arguments.insert(arguments.end(), {"-resource-dir", kResourceRoot});
  for (const std::string& directory :
       {std::string(kResourceRoot) + "/shim", cuda + "/cccl", resource + "/cuda_wrappers", cxx,
        machine + "/c++/" + version, cxx + "/backward", resource}) {
    arguments.insert(arguments.end(), {"-internal-isystem", directory});
  }
  for (const std::string& directory : {machine, std::string("/usr/include")}) {
    arguments.insert(arguments.end(), {"-internal-externc-isystem", directory});
  }
  arguments.insert(arguments.end(),
                   {"-internal-isystem", cuda, "-include", "__clang_cuda_runtime_wrapper.h",
                    "-include", "cuda_header_supplement.h",
                    // Clusters of cooperative groups: the headers offer them to NVIDIA's compilers.
                    "-D", "_CG_CLUSTER_INTRINSICS_AVAILABLE"});
  if (source.text().find("alignas") != std::string::npos) {
    // Clang refuses "__shared__ alignas(16)"; CUDA's own headers need alignas(TYPE), which this
    // spelling cannot say, so it is only for files that use the word.
    arguments.insert(arguments.end(), {"-D", "alignas(x)=__attribute__((aligned(x)))"});
  }
  std::error_code error;
  std::vector<std::string> roots = {"/usr/include", "/usr/lib/gcc", cuda};
  // A toolkit's include directory is often a link.
  const std::filesystem::path real = std::filesystem::canonical(cuda, error);
  if (!error) {
    roots.push_back(real.string());
  }
  return RunClang(source, std::move(arguments),
                  frontend::MakeCudaFileSystem(kSourcePath, source.text(), roots), true,
                  with_tokens);
}

Refusal MakeRefusal(const KernelSource& source, const std::vector<Diagnostic>& errors) {
  const Diagnostic& first = errors.front();
  Refusal refusal;
  refusal.line = first.line;
  refusal.reason =
      source.path() + ":" + (first.line > 0 ? std::to_string(first.line) + ": " : " ") + first.text;
  if (errors.size() > 1) {
    refusal.reason += " (and " + std::to_string(errors.size() - 1) + " more)";
  }
  return refusal;
}

}  // namespace

namespace {

// The outcome of a parse that went well, unless the text shows other compilers another program.
Result<ParseOutcome> Accept(const KernelSource& source, ParseAttempt attempt,
                            const std::function<Result<ParseAttempt>(const KernelSource&)>& again) {
  const auto parse = [&](const std::string& text) -> Result<frontend::IdentityAttempt> {
    OPTIML_ASSIGN(ParseAttempt other, again(KernelSource(text, source.entry(), source.path())));
    return frontend::IdentityAttempt{std::move(other.unit), std::move(other.tokens),
                                     !other.errors.empty()};
  };
  OPTIML_ASSIGN(const auto refusal, frontend::CompilerDependence(source, parse));
  if (refusal) {
    return ParseOutcome(*refusal);
  }
  return ParseOutcome(std::move(attempt.unit));
}

// nvcc only warns of an unroll pragma that no loop follows. The text with blanks in place of those
// that Clang found; empty when it found none.
std::string WithoutIdleUnrolls(std::string text, const std::vector<Diagnostic>& errors) {
  bool found = false;
  for (const Diagnostic& error : errors) {
    if (error.text.find("loop to follow '#pragma") == std::string::npos) {
      continue;
    }
    size_t pragma = std::string::npos;
    size_t begin = 0;
    for (int line = 1; line <= error.line && begin < text.size(); ++line) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const size_t word = text.find_first_not_of(" \t", begin);
      const std::string_view rest = std::string_view(text).substr(begin, end - begin);
      if (word < end && text[word] == '#' && rest.find("pragma") != std::string_view::npos &&
          rest.find("unroll") != std::string_view::npos) {
        pragma = word;
      }
      begin = end + 1;
    }
    if (pragma != std::string::npos) {
      const size_t end = std::min(text.find_first_of("\r\n", pragma), text.size());
      text.replace(pragma, end - pragma, end - pragma, ' ');
      found = true;
    }
  }
  return found ? text : std::string();
}

Result<ParseOutcome> ParseOnThisStack(const KernelSource& source, const ParseOptions& options) {
  OPTIML_ASSIGN(ParseAttempt plain, ParseWithPrelude(source, false));
  const auto again = [&](std::string text) {
    return ParseOnThisStack(KernelSource(std::move(text), source.entry(), source.path()), options);
  };
  if (std::string text = WithoutIdleUnrolls(source.text(), plain.errors); !text.empty()) {
    return again(std::move(text));
  }
  if (plain.errors.empty()) {
    return Accept(source, std::move(plain),
                  [](const KernelSource& text) { return ParseWithPrelude(text, true); });
  }
  if (!options.cuda_include_directory.empty()) {
    const std::string cxx = FindCxxHeaders();
    if (!cxx.empty()) {
      const auto parse = [&](const KernelSource& text, bool with_tokens) {
        return ParseWithCudaHeaders(text, options.cuda_include_directory, cxx, with_tokens);
      };
      OPTIML_ASSIGN(ParseAttempt full, parse(source, false));
      if (full.errors.empty()) {
        return Accept(source, std::move(full),
                      [&](const KernelSource& text) { return parse(text, true); });
      }
      if (std::string text = WithoutIdleUnrolls(source.text(), full.errors); !text.empty()) {
        return again(std::move(text));
      }
      return ParseOutcome(MakeRefusal(source, full.errors));
    }
  }
  return ParseOutcome(MakeRefusal(source, plain.errors));
}

}  // namespace

Result<ParseOutcome> ParseSource(const KernelSource& source, const ParseOptions& options) {
  if (source.text().size() > kMaxTextBytes) {
    return ParseOutcome(Refusal{source.path() + ": the file has " +
                                    std::to_string(source.text().size()) + " bytes (at most " +
                                    std::to_string(kMaxTextBytes) + ")",
                                0});
  }
  std::optional<Result<ParseOutcome>> outcome;
  RunOnLargeStack([&] { outcome.emplace(ParseOnThisStack(source, options)); });
  return *std::move(outcome);
}

}  // namespace optiml
