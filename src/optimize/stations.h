#ifndef OPTIML_OPTIMIZE_STATIONS_H_
#define OPTIML_OPTIMIZE_STATIONS_H_

// Stations: the devices on which a run judges candidates, each with a verifier of its own. One
// candidate at a time has a station; those that wait get one in the order in which they came.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "device/device.h"
#include "optimize/time_shapes.h"
#include "verify/verifier.h"

namespace optiml {

struct Station {
  Verifier* verifier = nullptr;  // both are borrowed
  Device* device = nullptr;
  std::unique_ptr<ShapeTimer> timer;
  bool is_free = true;
};

class Stations {
 public:
  explicit Stations(std::vector<Station> stations) : stations_(std::move(stations)) {}

  size_t count() const { return stations_.size(); }

  // Holds a station until its end of life.
  class Hold {
   public:
    Hold(Stations& owner, Station& station) : owner_(&owner), station_(&station) {}
    Hold(Hold&& other) noexcept : owner_(other.owner_), station_(other.station_) {
      other.owner_ = nullptr;
    }
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (owner_ != nullptr) {
        owner_->Release(*station_);
      }
    }
    Station* operator->() const { return station_; }
    Station& operator*() const { return *station_; }

   private:
    Stations* owner_;
    Station* station_;
  };

  // A place in the line: whoever took a ticket first gets the next station that is free. Left
  // unused, by an error or an exception, it does not keep the others waiting.
  class Ticket {
   public:
    explicit Ticket(Stations& owner) : owner_(&owner), number_(owner.Line()) {}
    Ticket(Ticket&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), number_(other.number_) {}
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (owner_ != nullptr) {
        owner_->Leave(number_);
      }
    }
    Hold Acquire() && { return std::exchange(owner_, nullptr)->Acquire(number_); }

   private:
    Stations* owner_;
    uint64_t number_;
  };
  Ticket TakeTicket() { return Ticket(*this); }
  Hold AcquireAny() { return TakeTicket().Acquire(); }
  // The first one, for what must be done on it.
  Hold AcquireFirst() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stations_.front().is_free; });
    stations_.front().is_free = false;
    return Hold(*this, stations_.front());
  }

 private:
  uint64_t Line() {
    const std::lock_guard lock(mutex_);
    waiting_.insert(next_);
    return next_++;
  }
  void Leave(uint64_t number) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(number);
    changed_.notify_all();
  }
  Hold Acquire(uint64_t number) {
    std::unique_lock lock(mutex_);
    Station* found = nullptr;
    changed_.wait(lock, [&] { return *waiting_.begin() == number && (found = Free()) != nullptr; });
    waiting_.erase(number);
    found->is_free = false;
    changed_.notify_all();
    return Hold(*this, *found);
  }
  Station* Free() {
    for (Station& station : stations_) {
      if (station.is_free) {
        return &station;
      }
    }
    return nullptr;
  }
  void Release(Station& station) {
    const std::lock_guard lock(mutex_);
    station.is_free = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Station> stations_;
  std::set<uint64_t> waiting_;
  uint64_t next_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_STATIONS_H_
