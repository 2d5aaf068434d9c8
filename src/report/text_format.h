#ifndef OPTIML_REPORT_TEXT_FORMAT_H_
#define OPTIML_REPORT_TEXT_FORMAT_H_

// Numbers and texts as people read them, the same in the report and on the command line.

#include <string>
#include <string_view>

namespace optiml {

// "1.234 ms", "87.1 us", "2.50 s": three to four significant digits.
std::string FormatSeconds(double seconds);

// "412 ms", "3.1 s", "2 min 05 s", "1 h 02 min": of work, not of kernels.
std::string FormatElapsed(double seconds);

// "3.21x", "12.4x", "0.98x".
std::string FormatFactor(double factor);

// "134.2 M", "1.07 G", "512", "0.031": a count or a ratio with at most four significant digits.
std::string FormatNumber(double value);

// As FormatNumber with the unit, a singular noun: "537 MB", "1.049 M sectors", "24 registers",
// "0.98" of a "ratio".
std::string FormatQuantity(double value, std::string_view unit);

// "62.5 %" of a ratio.
std::string FormatPercent(double ratio);

// Safe between tags and inside double-quoted attributes; bytes that are no UTF-8 become U+FFFD.
std::string EscapeHtml(std::string_view text);

// Safe in running Markdown text and in a table cell: one line, no markup, no HTML.
std::string EscapeMarkdown(std::string_view text);

// A fenced block whose fence is longer than any run of backticks inside.
std::string MarkdownCodeBlock(std::string_view text, std::string_view language);

// `text` with every byte that is no part of valid UTF-8 replaced by U+FFFD: compiler logs and
// sources may hold anything.
std::string ValidUtf8(std::string_view text);

// One word of a shell command, quoted when it needs it.
std::string QuoteForShell(std::string_view word);

}  // namespace optiml

#endif  // OPTIML_REPORT_TEXT_FORMAT_H_
