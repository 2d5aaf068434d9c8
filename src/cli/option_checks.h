#ifndef OPTIML_CLI_OPTION_CHECKS_H_
#define OPTIML_CLI_OPTION_CHECKS_H_

// What an option of a number takes, and a message that says it: "--max-depth: 0 is not allowed
// (whole numbers from 1 to 2147483647)". CLI11's own checks print the largest double in full, and
// its conversions do not say what is wrong.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include <CLI/CLI.hpp>

namespace optiml {

template <typename T>
CLI::Validator WholeNumbers(T least, T most = std::numeric_limits<T>::max()) {
  return CLI::Validator(
      [least, most](std::string& text) {
        T value{};
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        const bool allowed = error == std::errc() && stop == end && value >= least && value <= most;
        return allowed ? std::string()
                       : fmt::format("{} is not allowed (whole numbers from {} to {})", text, least,
                                     most);
      },
      "");
}

inline CLI::Validator NumbersFrom(double least) {
  return CLI::Validator(
      [least](std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        const bool allowed =
            error == std::errc() && stop == end && std::isfinite(value) && value >= least;
        return allowed ? std::string()
                       : fmt::format("{} is not allowed (numbers from {})", text, least);
      },
      "");
}

}  // namespace optiml

#endif  // OPTIML_CLI_OPTION_CHECKS_H_
