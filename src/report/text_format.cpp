#include "report/text_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace optiml {
namespace {

// `value` with four significant digits at most, without an exponent. REQUIRES: 0.001 <= |value| <
// 10000 or value == 0
std::string Significant(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 999.95   ? 0
                       : magnitude >= 99.995 ? 1
                       : magnitude >= 9.9995 ? 2
                                             : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string TrimZeros(std::string text) {
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text;
}

struct Scale {
  double factor;
  const char* prefix;
};
constexpr std::array<Scale, 5> kScales = {
    {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};

// Length of the valid UTF-8 sequence at the front of `text`, or 0 (The Unicode Standard, table
// 3-7).
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) {
    return "unknown";
  }
  if (seconds >= 1) {
    return seconds < 9999 ? Significant(seconds) + " s" : fmt::format("{:.0f} s", seconds);
  }
  if (seconds >= 1e-3) {
    return Significant(seconds * 1e3) + " ms";
  }
  if (seconds >= 1e-6) {
    return Significant(seconds * 1e6) + " us";
  }
  return TrimZeros(Significant(seconds * 1e9)) + " ns";
}

std::string FormatElapsed(double seconds) {
  if (seconds < 1) {
    return fmt::format("{:.0f} ms", seconds * 1e3);
  }
  if (seconds < 60) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string FormatFactor(double factor) {
  if (!std::isfinite(factor)) {
    return "unknown";
  }
  return factor >= 99.95   ? fmt::format("{:.0f}x", factor)
         : factor >= 9.995 ? fmt::format("{:.1f}x", factor)
                           : fmt::format("{:.2f}x", factor);
}

std::string FormatNumber(double value) {
  if (!std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  const double magnitude = std::fabs(value);
  if (magnitude >= 10000) {
    for (const Scale& scale : kScales) {
      if (magnitude >= scale.factor) {
        return fmt::format("{} {}", TrimZeros(Significant(value / scale.factor)), scale.prefix);
      }
    }
  }
  if (magnitude != 0 && magnitude < 1e-3) {
    return fmt::format("{:.3g}", value);
  }
  return TrimZeros(Significant(value));
}

std::string FormatQuantity(double value, std::string_view unit) {
  const std::string number = FormatNumber(value);
  if (unit.empty() || unit == "ratio") {
    return number;
  }
  if (unit == "byte") {
    const bool scaled = number.back() > '9';
    return scaled ? number + "B" : number + " B";
  }
  const bool plural = value != 1 && unit != "inst";
  const char* ending = !plural ? "" : unit.ends_with("ch") || unit.ends_with("ss") ? "es" : "s";
  return fmt::format("{} {}{}", number, unit, ending);
}

std::string FormatPercent(double ratio) {
  return fmt::format("{:.1f} %", ratio * 100);
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // Control characters are no HTML, escaped or not.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

std::string EscapeMarkdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*_{}[]<>#|~&$";
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    if (kMarkup.find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return escaped;
}

std::string MarkdownCodeBlock(std::string_view text, std::string_view language) {
  size_t longest = 0;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  std::string block = fmt::format("{}{}\n{}", fence, language, ValidUtf8(text));
  if (block.back() != '\n') {
    block += '\n';
  }
  return block + fence + "\n";
}

std::string QuoteForShell(std::string_view word) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
      "0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

}  // namespace optiml
