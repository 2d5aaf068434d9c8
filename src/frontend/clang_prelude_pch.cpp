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

std::string Precompile(const std::vector<std::string>& arguments) {
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(argument.c_str());
  }
  for (const char* argument : {"-include", "cuda_prelude.h", kPreludeOnlyPath}) {
    pointers.push_back(argument);
  }
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

const std::string& PrecompiledPrelude(const std::vector<std::string>& arguments) {
  static std::once_flag once;
  static std::string* made = nullptr;  // never destroyed: parses may run until the end
  std::call_once(once, [&] { made = new std::string(Precompile(arguments)); });
  return *made;
}

}  // namespace optiml::frontend
