#ifndef OPTIML_OPTIMIZE_STATIONS_H_
#define OPTIML_OPTIMIZE_STATIONS_H_

// Stations: the devices on which a run judges candidates, each with a verifier of its own. One
// candidate at a time has a station.

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
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

  // The next one that is free.
  Hold Acquire() {
    std::unique_lock lock(mutex_);
    Station* found = nullptr;
    changed_.wait(lock, [&] { return (found = Free()) != nullptr; });
    found->is_free = false;
    return Hold(*this, *found);
  }
  // The first one, for what must be done on it.
  Hold AcquireFirst() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stations_.front().is_free; });
    stations_.front().is_free = false;
    return Hold(*this, stations_.front());
  }

 private:
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
};

}  // namespace optiml

#endif  // OPTIML_OPTIMIZE_STATIONS_H_
