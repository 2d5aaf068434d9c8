#ifndef OPTIML_BASE_CHECK_H_
#define OPTIML_BASE_CHECK_H_

// OPTIML_CHECK(condition, "why"): a bug of ours stops the program, in every build. Never for user
// input, candidate kernels or replies of language models: those are values (core/evaluation.h) or
// Errors (base/result.h).

namespace optiml {

// Prints file, line, the condition and the reason on standard error and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const char* why);

}  // namespace optiml

#define OPTIML_CHECK(condition, why)                              \
  do {                                                            \
    if (!(condition)) {                                           \
      ::optiml::CheckFailed(__FILE__, __LINE__, #condition, why); \
    }                                                             \
  } while (false)

#endif  // OPTIML_BASE_CHECK_H_
