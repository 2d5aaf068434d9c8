#include "device/time_model.h"

#include <gtest/gtest.h>

namespace optiml {
namespace {

using Class = ptx::InstructionClass;

class TimeModel : public ::testing::Test {
 protected:
  TimeModel() : device_(*LoadDeviceDescription("h200")) {}

  // A map over `elements` floats with coalesced accesses.
  LaunchWork Map(uint64_t elements, uint32_t threads = 256) const {
    LaunchWork work;
    work.blocks = elements / threads;
    work.block = {threads, 32, 0};
    ptx::Counters& c = work.counters;
    const uint64_t warps = elements / 32;
    c.blocks_in_grid = c.blocks_run = work.blocks;
    c.warps_run = warps;
    c.threads_run = elements;
    c.global_load = {warps, warps * 4, elements * 4};
    c.global_store = {warps, warps * 4, elements * 4};
    c.global_load_rounds = warps;
    Warps(c, Class::kLoadGlobal, warps);
    Warps(c, Class::kStoreGlobal, warps);
    Warps(c, Class::kInteger, warps * 6);
    c.cache_modelled = true;
    c.l1_load_sectors = warps * 4;
    c.l2_sectors = warps * 8;
    c.l2_read_sectors = warps * 4;
    c.dram_read_bytes = elements * 4;
    c.dram_write_bytes = elements * 4;
    return work;
  }
  static void Warps(ptx::Counters& c, Class instruction_class, uint64_t count) {
    c.warp_by_class[static_cast<size_t>(instruction_class)] = count;
    c.thread_by_class[static_cast<size_t>(instruction_class)] = count * 32;
  }

  DeviceDescription device_;
};

TEST_F(TimeModel, AStreamingMapOfSingleElementsIsWithinTheStatedErrorOfItsMeasurement) {
  // relu over 2^26 floats, one element a thread: 0.1998 ms measured on an H200, against 0.125 ms
  // with packs of four (bench/logs/2026-11-29-h200-variants.txt): neither bytes nor latency alone.
  constexpr double kMeasured = 0.1998e-3;
  const LaunchTimes times = PredictLaunch(Map(uint64_t{1} << 26), device_);
  EXPECT_GT(times.total, kMeasured / device_.prediction_error_factor);
  EXPECT_LT(times.total, kMeasured * device_.prediction_error_factor);
  EXPECT_GE(times.total, times.dram);
  EXPECT_GE(times.total, times.latency);
}

TEST_F(TimeModel, FewBlocksAreBoundByLatency) {
  LaunchWork work = Map(4 * 256);
  work.counters.global_load_rounds = 1000 * work.counters.warps_run;
  const LaunchTimes times = PredictLaunch(work, device_);
  EXPECT_GT(times.latency, 0.9 * times.total);
  EXPECT_GT(times.latency, 1000 * device_.dram_latency / device_.clock_hz);
  EXPECT_LT(times.waves, 1);
}

TEST_F(TimeModel, MoreOfAnyResourceNeverTakesLess) {
  const LaunchWork base = Map(uint64_t{1} << 22);
  const double before = PredictLaunch(base, device_).total;
  const auto grows = [&](auto change) {
    LaunchWork work = base;
    change(work.counters);
    return PredictLaunch(work, device_).total > before;
  };
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.dram_read_bytes *= 2; }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.l2_sectors *= 4; }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.global_store.sectors *= 8; }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.shared_load.wavefronts = 1'000'000; }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.barriers = 1'000'000; }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { Warps(c, Class::kFp32Fma, 10'000'000); }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { Warps(c, Class::kFp64, 1'000'000); }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { Warps(c, Class::kSpecialFunction, 1'000'000); }));
  EXPECT_TRUE(grows([](ptx::Counters& c) { c.global_atomic = {1000, 1000, 32000, 32000, 0}; }));
}

TEST_F(TimeModel, AtomicsOnOneAddressAreSerial) {
  LaunchWork work = Map(uint64_t{1} << 20);
  work.counters.global_atomic = {1 << 15, 1 << 15, 1 << 20, 1 << 20, 0};  // 32 lanes on one address
  const double one_address = PredictLaunch(work, device_).atomics;
  EXPECT_NEAR(one_address, (1 << 20) / device_.same_address_atomics_per_s, 1e-9);
  work.counters.global_atomic.serialised = 1 << 15;  // every lane its own
  const double distinct = PredictLaunch(work, device_).atomics;
  EXPECT_GT(one_address, 100 * distinct);
  work.atomic_addresses = 256;  // but there are only so many words
  EXPECT_NEAR(PredictLaunch(work, device_).atomics, one_address / 256, 1e-9);
}

TEST_F(TimeModel, ScatteredAccessesCostMoreThanDenseOnesWithAsManySectors) {
  LaunchWork dense = Map(uint64_t{1} << 22);
  LaunchWork scattered = dense;
  scattered.counters.global_load.lane_bytes /= 8;
  EXPECT_GT(PredictLaunch(scattered, device_).global, PredictLaunch(dense, device_).global);
}

TEST_F(TimeModel, APartlyFilledLastWaveCosts) {
  LaunchWork full = Map(132 * 8 * 256);
  full.counters.global_load_rounds *= 100;
  LaunchWork more = Map((132 * 8 + 1) * 256);
  more.counters.global_load_rounds *= 100;
  EXPECT_NEAR(PredictLaunch(more, device_).latency / PredictLaunch(full, device_).latency, 2, 0.01);
}

TEST(DistinctAddresses, InvertsTheExpectedCollisions) {
  EXPECT_DOUBLE_EQ(DistinctAddresses(32), 1);
  EXPECT_DOUBLE_EQ(DistinctAddresses(1.93), 256);
  EXPECT_GT(DistinctAddresses(1.0), 1e8);
  EXPECT_GT(DistinctAddresses(1.5), 512);
  EXPECT_LT(DistinctAddresses(1.5), 1024);
}

}  // namespace
}  // namespace optiml
