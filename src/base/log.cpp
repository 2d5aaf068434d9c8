#include "base/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace optiml {

bool LogEnabled(LogLevel level) {
  static const std::string kSetting = [] {
    const char* value = std::getenv("OPTIML_LOG");
    return std::string(value != nullptr ? value : "");
  }();
  return kSetting == "debug" || (kSetting == "info" && level == LogLevel::kInfo);
}

void Log(LogLevel level, std::string_view message) {
  if (LogEnabled(level)) {
    std::fprintf(stderr, "optiml: %.*s\n", static_cast<int>(message.size()), message.data());
  }
}

}  // namespace optiml
