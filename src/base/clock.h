#ifndef OPTIML_BASE_CLOCK_H_
#define OPTIML_BASE_CLOCK_H_

// Clock: the time behind an interface, so that tests decide what time it is.

#include <chrono>
#include <string>

namespace optiml {

using Nanoseconds = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

class Clock {
 public:
  virtual ~Clock() = default;
  // Time since an arbitrary fixed point; never goes back.
  virtual Nanoseconds Now() const = 0;
  // UTC, "2026-11-29T19:24:07Z".
  virtual std::string WallTime() const = 0;
};

class SystemClock : public Clock {
 public:
  Nanoseconds Now() const override;
  std::string WallTime() const override;
};

// Moves only when told to.
class FakeClock : public Clock {
 public:
  Nanoseconds Now() const override { return now_; }
  std::string WallTime() const override { return "2000-01-01T00:00:00Z"; }
  void Advance(Nanoseconds by) { now_ += by; }

 private:
  Nanoseconds now_{0};
};

// Measures from its construction.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock) : clock_(clock), start_(clock.Now()) {}
  Nanoseconds Elapsed() const { return clock_.Now() - start_; }

 private:
  const Clock& clock_;
  Nanoseconds start_;
};

}  // namespace optiml

#endif  // OPTIML_BASE_CLOCK_H_
