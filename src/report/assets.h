#ifndef OPTIML_REPORT_ASSETS_H_
#define OPTIML_REPORT_ASSETS_H_

// The report's style sheet and script (assets/), compiled in.

#include <span>
#include <string_view>

namespace optiml {

struct EmbeddedText {
  std::string_view name;
  std::string_view text;
};

// report.css, report.js
std::span<const EmbeddedText> EmbeddedReportAssets();

}  // namespace optiml

#endif  // OPTIML_REPORT_ASSETS_H_
