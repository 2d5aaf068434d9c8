#ifndef OPTIML_FRONTEND_CLANG_IDENTITY_H_
#define OPTIML_FRONTEND_CLANG_IDENTITY_H_

// Which compiler reads the text? Several do: Clang here, NVRTC, and nvcc with its host compiler on
// the user's machine. A text that asks (#ifdef __CUDACC_RTC__) can show each of them another
// program, so that what is verified is not what is delivered. This finds the questions; the parser
// then answers them differently and compares what is left of the text.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "frontend/frontend.h"

namespace optiml::frontend {

// A token of the file after preprocessing, macros expanded.
struct MainToken {
  uint32_t offset = 0;  // into the text that was parsed, of the macro's use for what it expands to
  std::string spelling;
};

struct IdentityAttempt {
  ast::SourceUnit unit;
  std::vector<MainToken> tokens;  // of the file itself, not of its headers
  bool has_errors = false;
};

// Parses one text like the source itself.
using IdentityParse = std::function<Result<IdentityAttempt>(const std::string& text)>;

// A refusal when what the compilers read differs: its line is that of the question. Questions whose
// answer is the same for every compiler of device code (__CUDA_ARCH__, CUDA's version) may change
// device functions, but not the launcher. `parse` is not called for texts without questions.
Result<std::optional<Refusal>> CompilerDependence(const KernelSource& source,
                                                  const IdentityParse& parse);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_CLANG_IDENTITY_H_
