#include "base/clock.h"

#include <ctime>

namespace optiml {

Nanoseconds SystemClock::Now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::string SystemClock::WallTime() const {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace optiml
