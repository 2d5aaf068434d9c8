#include "frontend/clang_prelude_pch.h"

#include <memory>
#include <mutex>

#include "frontend/clang_headers.h"
#include "frontend/clang_includes.h"

namespace optiml::frontend {

namespace {

class PrecompileAction : public clang::ASTFrontendAction {
 public:
  explicit PrecompileAction(std::shared_ptr<clang::PCHBuffer> buffer)
      : buffer_(std::move(buffer)) {}

 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    return std::make_unique<clang::PCHGenerator>(
        compiler.getPreprocessor(), compiler.getModuleCache(), /*OutputFile=*/"",
        /*isysroot=*/"", buffer_, llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(),
        /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }
  clang::TranslationUnitKind getTranslationUnitKind() override { return clang::TU_Prefix; }
  bool hasASTFileSupport() const override { return false; }

 private:
  std::shared_ptr<clang::PCHBuffer> buffer_;
};

std::string Precompile(const std::vector<std::string>& arguments, bool with_half) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  pointers.insert(pointers.end(), {"-include", "cuda_prelude.h"});
  if (with_half) {
    pointers.insert(pointers.end(), {"-include", "cuda_fp16.h", "-include", "cuda_bf16.h"});
  }
  pointers.push_back(kPreludeOnlyPath);
  clang::IgnoringDiagConsumer silent;
  clang::CompilerInstance compiler;
  compiler.createDiagnostics(&silent, /*ShouldOwnClient=*/false);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers,
                                                 compiler.getDiagnostics())) {
    return "";
  }
  invocation->getLangOpts().CompilingPCH = true;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(&silent, /*ShouldOwnClient=*/false);
  compiler.createFileManager(MakePreludeFileSystem(kPreludeOnlyPath, "", ""));
  compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  auto buffer = std::make_shared<clang::PCHBuffer>();
  PrecompileAction action(buffer);
  compiler.ExecuteAction(action);
  if (compiler.getDiagnostics().hasErrorOccurred() || !buffer->IsComplete) {
    return "";
  }
  return std::string(buffer->Data.begin(), buffer->Data.end());
}

}  // namespace

const std::string& PrecompiledPrelude(const std::vector<std::string>& arguments, bool with_half) {
  struct Made {
    std::once_flag once;
    std::string bytes;
  };
  static Made* const made = new Made[2];  // never destroyed: parses may run until the end
  Made& one = made[with_half ? 1 : 0];
  std::call_once(one.once, [&] { one.bytes = Precompile(arguments, with_half); });
  return one.bytes;
}

}  // namespace optiml::frontend
