#ifndef OPTIML_REPORT_ASSETS_H_
#define OPTIML_REPORT_ASSETS_H_

// The report's style sheet and script (assets/), compiled in.

#include <span>

#include "base/embedded_text.h"

namespace optiml {

// report.css, report.js
std::span<const EmbeddedText> EmbeddedReportAssets();

}  // namespace optiml

#endif  // OPTIML_REPORT_ASSETS_H_
