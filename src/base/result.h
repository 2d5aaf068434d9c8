#ifndef OPTIML_BASE_RESULT_H_
#define OPTIML_BASE_RESULT_H_

// Result<T>: a value, or the Error that explains why there is none.
//
// The member names are those of std::expected, so that an alias can replace
// this class once every compiler we use has it. Unlike std::expected and
// tl::expected the class is [[nodiscard]]: a dropped Result does not compile.

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace optiml {

// What kind of thing failed; the command line maps it to an exit status.
enum class ErrorCode {
  kInvalidArgument,  // the user's input or flags: exit 2
  kParse,            // a file that is not what it should be: exit 2
  kNotFound,         // a named file, entry or run that is not there: exit 2
  kTimeout,          // a tool that did not end in its time: exit 3
  kUnavailable,      // a tool, library or device that is missing: exit 3
  kIo,               // reading or writing failed: exit 3
  kInterrupted,      // the user stopped the work: exit 130
  kInternal          // a tool that answered nonsense: exit 3
};

// Why a tool could not do its work. A candidate kernel that fails is not an
// Error: see core/evaluation.h.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // Returns this error with "context: " put before the message.
  Error WithContext(std::string_view context) && {
    message_.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

 private:
  ErrorCode code_;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: has_value()
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  // REQUIRES: !has_value()
  const Error& error() const& { return *std::get_if<1>(&state_); }
  Error&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)
      : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return error_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: !has_value()
  const Error& error() const& { return *std::get_if<1>(&error_); }
  Error&& error() && { return std::move(*std::get_if<1>(&error_)); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace optiml

#define OPTIML_CONCAT_IMPL_(a, b) a##b
#define OPTIML_CONCAT_(a, b) OPTIML_CONCAT_IMPL_(a, b)

// Returns the error of `expr` from the enclosing function, if it has one.
#define OPTIML_TRY(expr)                                                                           \
  if (auto OPTIML_CONCAT_(try_, __LINE__) = (expr); !OPTIML_CONCAT_(try_, __LINE__).has_value()) { \
    return std::move(OPTIML_CONCAT_(try_, __LINE__)).error();                                      \
  }

// `OPTIML_ASSIGN(const auto x, F());` binds x to the value of F(), or returns its error.
#define OPTIML_ASSIGN(lhs, expr)                                 \
  auto OPTIML_CONCAT_(assign_, __LINE__) = (expr);               \
  if (!OPTIML_CONCAT_(assign_, __LINE__).has_value()) {          \
    return std::move(OPTIML_CONCAT_(assign_, __LINE__)).error(); \
  }                                                              \
  lhs = *std::move(OPTIML_CONCAT_(assign_, __LINE__))

#endif  // OPTIML_BASE_RESULT_H_
