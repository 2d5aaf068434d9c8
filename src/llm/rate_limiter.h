#ifndef OPTIML_LLM_RATE_LIMITER_H_
#define OPTIML_LLM_RATE_LIMITER_H_

// RateLimiter: when the next request to an endpoint may be sent. Requests keep a distance, and none
// goes out before the time that the endpoint named (Retry-After). It knows no clock and never
// waits. Models of the same endpoint share one.
//
// Threads: safe.

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/clock.h"

namespace optiml {

class RateLimiter {
 public:
  // 0: as fast as they come.
  explicit RateLimiter(double requests_per_minute = 0)
      : distance_(requests_per_minute > 0
                      ? std::chrono::duration_cast<Nanoseconds>(Seconds(60 / requests_per_minute))
                      : Nanoseconds(0)) {}

  // Takes the next free moment and says how long after `now` it is. The caller waits, or does not
  // send its request.
  Nanoseconds Take(Nanoseconds now) {
    const std::lock_guard lock(mutex_);
    const Nanoseconds at = std::max(now, next_);
    next_ = at + distance_;
    return at - now;
  }

  // No request before `when`.
  void HoldUntil(Nanoseconds when) {
    const std::lock_guard lock(mutex_);
    next_ = std::max(next_, when);
  }

 private:
  const Nanoseconds distance_;
  std::mutex mutex_;
  Nanoseconds next_ = Nanoseconds::min();
};

}  // namespace optiml

#endif  // OPTIML_LLM_RATE_LIMITER_H_
