#ifndef OPTIML_CORE_DEVICE_USE_H_
#define OPTIML_CORE_DEVICE_USE_H_

// Where the time of a device went since it was opened.

#include <string>
#include <vector>

namespace optiml {

struct DeviceUse {
  struct Phase {
    std::string name;  // "samples", "contents" ...
    double seconds = 0;
    bool operator==(const Phase&) const = default;
  };
  std::string device;  // "NVIDIA H200", "NVIDIA H200 (GPU 1)"
  double busy_s = 0;   // executing what it was asked, with all that belongs to it
  std::vector<Phase> phases;

  static void AddTo(std::vector<Phase>& phases, const std::string& name, double seconds) {
    for (Phase& phase : phases) {
      if (phase.name == name) {
        phase.seconds += seconds;
        return;
      }
    }
    phases.push_back({name, seconds});
  }
  void Add(const std::string& name, double seconds) { AddTo(phases, name, seconds); }
  bool operator==(const DeviceUse&) const = default;
};

}  // namespace optiml

#endif  // OPTIML_CORE_DEVICE_USE_H_
