#ifndef OPTIML_DEVICE_DEVICE_DESCRIPTION_H_
#define OPTIML_DEVICE_DEVICE_DESCRIPTION_H_

// DeviceDescription: the numbers of one GPU model that the emulator's limits, its caches and the
// time model need. Data, not code: one TOML file a model in descriptions/, where every number has
// its source as a comment; the three that ship are compiled in, others are read from a path.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_text.h"
#include "base/result.h"

namespace optiml {

struct DeviceDescription {
  std::string name;          // "H200"
  std::string architecture;  // "sm_90"

  // One multiprocessor ("SM") and their number.
  int multiprocessors = 0;
  double clock_hz = 0;
  int warps_per_multiprocessor = 0;   // resident
  int blocks_per_multiprocessor = 0;  // resident
  uint64_t registers_per_multiprocessor = 0;
  uint64_t register_allocation_unit = 0;  // registers of a warp are rounded up to this
  uint64_t shared_bytes_per_multiprocessor = 0;
  uint64_t shared_bytes_per_block_limit = 0;  // opt-in
  uint64_t shared_bytes_reserved = 0;         // of each block, for the system
  uint64_t shared_allocation_unit = 0;
  uint64_t l1_bytes = 0;  // shared memory included

  // Of one multiprocessor in one clock.
  double issued_warps_per_clock = 0;
  double fp32_lanes_per_clock = 0;
  double fp64_lanes_per_clock = 0;
  double fp16_lanes_per_clock = 0;
  double integer_lanes_per_clock = 0;
  double special_lanes_per_clock = 0;
  double conversion_lanes_per_clock = 0;
  double shuffle_lanes_per_clock = 0;
  double l1_wavefronts_per_clock = 0;
  double l1_fill_bytes_per_clock = 0;

  uint64_t l2_bytes = 0;
  double l2_bytes_per_s = 0;
  double l2_store_lines_per_s = 0;         // stores from L1, each of at most a 128-byte line
  double dram_bytes_per_s = 0;             // pin
  double dram_achievable_bytes_per_s = 0;  // what streaming kernels reach

  double l2_slices = 0;                  // that take atomics side by side
  double slice_atomic_rounds_per_s = 0;  // one address of a sector a round
  double sector_float_rounds_per_s = 0;  // floating-point sums of one sector wait for each other

  // Latencies in clocks.
  double arithmetic_latency = 0;
  double shared_latency = 0;
  double l1_latency = 0;
  double l2_latency = 0;
  double dram_latency = 0;
  double barrier_latency = 0;
  double special_latency = 0;
  double block_start_clocks = 0;  // of one multiprocessor, a block
  double warp_start_clocks = 0;   // and for each of its warps

  double launch_overhead_s = 0;       // the first launch of a plan
  double next_launch_overhead_s = 0;  // each further one

  // Free coefficients of the time model (time_model.h), fitted to measurements.
  double overlap_exponent = 0;
  double global_wavefront_clocks = 0;
  double shared_atomic_clocks = 0;
  double instructions_in_flight = 0;
  double prediction_error_factor = 0;  // stated error of a ratio of two predictions

  double Fp32FlopsPerSecond() const {
    return 2 * fp32_lanes_per_clock * multiprocessors * clock_hz;
  }
};

// `file` is what messages call the text. Fails with kParse, naming the line, on an unknown or
// missing key and on a number that is not positive.
Result<DeviceDescription> ParseDeviceDescription(std::string_view text, std::string_view file);

// A built-in model by name ("h200", "H200", "rtx 4090"), or the path of a .toml file. Fails with
// kNotFound and the names of those built in.
Result<DeviceDescription> LoadDeviceDescription(const std::string& name_or_path);

// "h200", "a100", "rtx4090".
std::vector<std::string> DeviceDescriptionNames();

std::span<const EmbeddedText> EmbeddedDeviceDescriptions();

}  // namespace optiml

#endif  // OPTIML_DEVICE_DEVICE_DESCRIPTION_H_
