#include "device/occupancy.h"

#include <algorithm>

#include "base/check.h"

namespace optiml {
namespace {

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Warps are spread over the schedulers: registers are handed out for whole rounds of four warps.
constexpr uint64_t kSchedulers = 4;

}  // namespace

Occupancy OccupancyOf(const BlockShape& block, const DeviceDescription& device) {
  OPTIML_CHECK(block.threads > 0, "a block has threads");
  const uint64_t warps = (block.threads + 31) / 32;
  Occupancy best;
  uint64_t blocks = static_cast<uint64_t>(device.blocks_per_multiprocessor);
  best.limiter = "blocks";
  const auto limit = [&](uint64_t by, const char* name) {
    if (by < blocks) {
      blocks = by;
      best.limiter = name;
    }
  };
  limit(static_cast<uint64_t>(device.warps_per_multiprocessor) / warps, "warps");
  if (block.registers_per_thread > 0) {
    const uint64_t of_warp = RoundUp(static_cast<uint64_t>(block.registers_per_thread) * 32,
                                     device.register_allocation_unit);
    const uint64_t warps_that_fit =
        device.registers_per_multiprocessor / kSchedulers / of_warp * kSchedulers;
    limit(warps_that_fit / warps, "registers");
  }
  const uint64_t shared =
      RoundUp(block.shared_bytes + device.shared_bytes_reserved, device.shared_allocation_unit);
  limit(device.shared_bytes_per_multiprocessor / shared, "shared memory");
  best.blocks = static_cast<int>(blocks);
  best.warps = static_cast<int>(blocks * warps);
  best.ratio = std::min(1.0, static_cast<double>(best.warps) / device.warps_per_multiprocessor);
  return best;
}

}  // namespace optiml
