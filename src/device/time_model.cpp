#include "device/time_model.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace optiml {
namespace {

using ptx::InstructionClass;

// Machine instructions that ptxas makes of one PTX instruction of a class, on average over the SASS
// of the examples: moves and address conversions mostly vanish, 64-bit integers need two halves
// (but address arithmetic is folded into the accesses), divisions are sequences.
double MachineInstructions(InstructionClass instruction_class) {
  switch (instruction_class) {
    case InstructionClass::kMove:
      return 0.25;
    case InstructionClass::kLoadConst:
      return 0.25;  // an operand of its user
    case InstructionClass::kInteger:
      return 0.6;  // shift-and-add and multiply-and-add fuse, addresses become offsets
    case InstructionClass::kControl:
      return 0.5;  // short branches become predicates
    case InstructionClass::kInteger64:
      return 1.2;
    case InstructionClass::kSpecialFunction:
      return 1.5;  // range checks around ex2, rsqrt
    case InstructionClass::kDivision:
    case InstructionClass::kFp32Division:
    case InstructionClass::kFp32Reciprocal:
    case InstructionClass::kFp32Root:
      return 10;
    default:
      return 1;
  }
}

// Shared loads of a warp that are in flight together: unrolled tile loops.
constexpr double kSharedLoadsInFlight = 6;
// Global loads in flight when the emulator did not tell.
constexpr double kDefaultLoadsInFlight = 4;
// Chains of special functions overlap with each other about this far.
constexpr double kSpecialInFlight = 2;
// A transfer engine of our own executor: reads and writes at the achievable rate.
constexpr double kMinTransferSeconds = 1e-9;

double WarpCount(const ptx::Counters& c, InstructionClass instruction_class) {
  return static_cast<double>(c.warp_by_class[static_cast<size_t>(instruction_class)]);
}

double D(uint64_t count) {
  return static_cast<double>(count);
}

// Special functions, and what needs one inside.
double SpecialFunctions(const ptx::Counters& c) {
  return WarpCount(c, InstructionClass::kSpecialFunction) +
         WarpCount(c, InstructionClass::kFp32Division) +
         WarpCount(c, InstructionClass::kFp32Reciprocal) +
         WarpCount(c, InstructionClass::kFp32Root) + WarpCount(c, InstructionClass::kDivision);
}

// Local memory is laid out so that the lanes of a warp are neighbours: four sectors a line.
double LocalLines(const ptx::RequestCounts& access) {
  return D(access.sectors) / 4;
}

double IssuedInstructions(const ptx::Counters& c) {
  double sum = 0;
  for (size_t i = 0; i < ptx::kInstructionClasses; ++i) {
    sum += D(c.warp_by_class[i]) * MachineInstructions(static_cast<InstructionClass>(i));
  }
  return sum;
}

// A slice of L2 takes one address of a sector in a round; pieces of 512 bytes fall on slices by a
// hash. Floating-point sums of one sector wait for each other besides.
double AtomicSeconds(const LaunchWork& work, const DeviceDescription& device) {
  const ptx::AtomicCounts& atomics = work.counters.global_atomic;
  if (atomics.rounds == 0) {
    return 0;
  }
  const double slices = BusySlices(D(atomics.pieces), device.l2_slices);
  return std::max({D(atomics.rounds) / slices / device.slice_atomic_rounds_per_s,
                   D(atomics.busiest_piece_rounds) / device.slice_atomic_rounds_per_s,
                   D(atomics.busiest_float_sector_rounds) / device.sector_float_rounds_per_s});
}

// Clocks that the rounds of global loads take. A round lasts as long as its slowest load, and loads
// that miss are spread over the rounds.
double LoadClocks(const ptx::Counters& c, const DeviceDescription& device) {
  const double requests = D(c.global_load.requests);
  if (requests == 0) {
    return 0;
  }
  const double rounds =
      c.global_load_rounds > 0 ? D(c.global_load_rounds) : requests / kDefaultLoadsInFlight;
  const double from_dram = std::min(D(c.load_requests_from_dram), rounds);
  const double from_l2 = std::min(D(c.load_requests_from_l2), rounds - from_dram);
  return from_dram * device.dram_latency + from_l2 * device.l2_latency +
         (rounds - from_dram - from_l2) * device.l1_latency;
}

// Clocks from the start of a warp to its end if it never waits for another one.
double WarpClocks(const ptx::Counters& c, const DeviceDescription& device) {
  const double warps = std::max(D(c.warps_run), 1.0);
  double clocks = IssuedInstructions(c) * device.arithmetic_latency / device.instructions_in_flight;
  clocks += LoadClocks(c, device);
  // A round ends when the last of its wavefronts does.
  clocks += D(c.global_load.wavefronts) * device.global_wavefront_clocks;
  clocks += D(c.shared_load.requests) * device.shared_latency / kSharedLoadsInFlight;
  clocks += WarpCount(c, InstructionClass::kWarp) * device.shared_latency;
  clocks += D(c.local_load.requests) * device.l1_latency / kDefaultLoadsInFlight;
  clocks += D(c.barriers) * device.barrier_latency;
  clocks += SpecialFunctions(c) * device.special_latency / kSpecialInFlight;
  clocks += D(c.global_atomic.returning) * device.l2_latency;
  clocks += D(c.shared_atomic.serialised) * device.shared_atomic_clocks;
  return clocks / warps;
}

double WarpsOf(const BlockShape& block) {
  return std::ceil(block.threads / 32.0);
}

// Work beyond the average warp's, in clocks; 0 where nothing was counted. Who is left over runs
// alone: each instruction waits for the one before.
struct Excess {
  double of_block = 0;    // of each block's longest warp, on average
  double of_longest = 0;  // of the longest block over others
};
Excess ExcessOf(const ptx::Counters& c, const DeviceDescription& device) {
  Excess excess;
  if (c.longest_warp_work > 0) {
    const double work = D(c.warp_instructions) + D(c.global_load_rounds) * ptx::kLoadRoundWork;
    const double warp = work / std::max(D(c.warps_run), 1.0);
    const double block = D(c.longest_warp_work) / std::max(D(c.blocks_run), 1.0);
    excess.of_block = std::max(block - warp, 0.0) * device.arithmetic_latency;
    excess.of_longest = std::max(D(c.longest_block_work) - block, 0.0) * device.arithmetic_latency;
  }
  return excess;
}

// Waves as a launch sees them: whole ones while there are few, in the mean of the fraction and the
// next whole one once blocks end at different times.
double EffectiveWaves(double waves) {
  if (waves <= 1) {
    return 1;
  }
  const double whole = std::floor(waves);
  const double rest = waves - whole;
  return rest == 0 ? waves : waves + (1 - rest) / whole;
}

}  // namespace

std::map<std::string, double> LaunchTimes::Parts() const {
  return {{"dram", dram},
          {"l2", l2},
          {"global", global},
          {"shared", shared},
          {"l1_fill", l1_fill},
          {"issue", issue},
          {"fp32", fp32},
          {"fp64", fp64},
          {"fp16", fp16},
          {"integer", integer},
          {"special", special},
          {"atomics", atomics},
          {"latency", latency},
          {"l2_store", l2_store},
          {"block_start", block_start},
          {"tail", tail}};
}

double BusySlices(double pieces, double slices) {
  return std::max(slices * (1 - std::pow(1 - 1 / slices, pieces)), 1.0);
}

double PredictTransfer(uint64_t bytes, const DeviceDescription& device) {
  return std::max(D(bytes) / device.dram_achievable_bytes_per_s, kMinTransferSeconds);
}

PlanTimes PredictPlan(const PlanWork& work, const DeviceDescription& device) {
  PlanTimes times;
  for (const StepWork& step : work) {
    StepTimes t;
    t.overhead_s = times.steps.empty() ? device.launch_overhead_s : device.next_launch_overhead_s;
    if (step.launch.has_value()) {
      t.launch = PredictLaunch(*step.launch, device);
    } else {
      t.transfer_s = PredictTransfer(step.transfer_bytes, device);
    }
    times.seconds += t.overhead_s + t.transfer_s + t.launch.total;
    times.steps.push_back(t);
  }
  return times;
}

LaunchTimes PredictLaunch(const LaunchWork& work, const DeviceDescription& device) {
  OPTIML_CHECK(work.blocks > 0, "a launch has blocks");
  const ptx::Counters& c = work.counters;
  LaunchTimes t;
  t.occupancy = OccupancyOf(work.block, device);
  OPTIML_CHECK(t.occupancy.blocks > 0, "the launch was checked before");
  const double blocks = D(work.blocks);
  const double sms = device.multiprocessors;
  t.waves = blocks / (sms * t.occupancy.blocks);
  // The fullest multiprocessor decides: it has this many times the average.
  const double imbalance = std::ceil(blocks / sms) * sms / blocks;
  const double sm_clocks_per_s = sms * device.clock_hz;
  const auto of_sm = [&](double clocks) { return clocks * imbalance / sm_clocks_per_s; };

  t.dram = D(c.dram_read_bytes + c.dram_write_bytes + c.l2_dirty_bytes_at_end) /
           device.dram_achievable_bytes_per_s;
  t.l2 = D(c.l2_sectors) * 32 / device.l2_bytes_per_s;
  t.l1_fill = of_sm(D(c.l2_read_sectors) * 32 / device.l1_fill_bytes_per_clock);
  const double wavefronts = D(c.global_load.wavefronts) + D(c.global_store.wavefronts) +
                            LocalLines(c.local_load) + LocalLines(c.local_store);
  t.global = of_sm(wavefronts * device.global_wavefront_clocks / device.l1_wavefronts_per_clock);
  t.l2_store = (D(c.global_store.lines) + LocalLines(c.local_store)) / device.l2_store_lines_per_s;
  t.shared = of_sm((D(c.shared_load.wavefronts) + D(c.shared_store.wavefronts)) /
                       device.l1_wavefronts_per_clock +
                   D(c.shared_atomic.serialised) * device.shared_atomic_clocks +
                   WarpCount(c, InstructionClass::kWarp) * 32 / device.shuffle_lanes_per_clock);
  t.issue = of_sm(IssuedInstructions(c) / device.issued_warps_per_clock);
  t.block_start =
      of_sm(blocks * (device.block_start_clocks + WarpsOf(work.block) * device.warp_start_clocks));
  const auto pipe = [&](double warps, double lanes) { return of_sm(warps * 32 / lanes); };
  t.fp32 =
      pipe(WarpCount(c, InstructionClass::kFp32Add) + WarpCount(c, InstructionClass::kFp32Other) +
               WarpCount(c, InstructionClass::kFp32Mul) + WarpCount(c, InstructionClass::kFp32Fma),
           device.fp32_lanes_per_clock);
  t.fp64 = pipe(WarpCount(c, InstructionClass::kFp64), device.fp64_lanes_per_clock);
  t.fp16 = pipe(WarpCount(c, InstructionClass::kFp16), device.fp16_lanes_per_clock);
  t.integer = pipe(
      WarpCount(c, InstructionClass::kInteger) * MachineInstructions(InstructionClass::kInteger) +
          WarpCount(c, InstructionClass::kInteger64) *
              MachineInstructions(InstructionClass::kInteger64),
      device.integer_lanes_per_clock);
  t.special = pipe(SpecialFunctions(c), device.special_lanes_per_clock) +
              pipe(WarpCount(c, InstructionClass::kConversion), device.conversion_lanes_per_clock);
  t.atomics = AtomicSeconds(work, device);
  // Blocks end with their longest warp; the launch ends with its longest block, which may be the
  // last.
  const Excess excess = ExcessOf(c, device);
  const double block_clocks = WarpClocks(c, device) + excess.of_block + device.block_start_clocks +
                              WarpsOf(work.block) * device.warp_start_clocks;
  t.latency = EffectiveWaves(t.waves) * block_clocks / device.clock_hz;
  t.tail = excess.of_longest / device.clock_hz;

  double sum = 0;
  const double p = device.overlap_exponent;
  // Global and shared accesses share the load-store path, so they add up before the maximum.
  for (const double part :
       {t.dram, t.l2, t.l2_store, t.block_start, t.global + t.shared, t.l1_fill, t.issue, t.fp32,
        t.fp64, t.fp16, t.integer, t.special, t.atomics, t.latency}) {
    sum += std::pow(part, p);
  }
  t.total = std::pow(sum, 1 / p) + t.tail;
  return t;
}

}  // namespace optiml
