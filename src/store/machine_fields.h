#ifndef OPTIML_STORE_MACHINE_FIELDS_H_
#define OPTIML_STORE_MACHINE_FIELDS_H_

// What a record says of the machine, field by field, for serialise.cpp: `A` is its Writer or
// Reader.

#include "store/run_record.h"

namespace optiml {

template <typename A>
void Fields(A& a, ClockReading& v) {
  a("sm_hz", v.sm_hz);
  a("memory_hz", v.memory_hz);
  a("temperature_celsius", v.temperature_celsius);
  a("power_watts", v.power_watts);
  a("throttling", v.throttling);
}

template <typename A>
void Fields(A& a, Conditions& v) {
  a("before", v.before);
  a("after", v.after);
}

template <typename A>
void Fields(A& a, MeasuredPeaks& v) {
  a("date", v.date);
  a("driver", v.driver);
  a("dram_read_bytes_per_s", v.dram_read_bytes_per_s);
  a("dram_copy_bytes_per_s", v.dram_copy_bytes_per_s);
  a("l2_bytes_per_s", v.l2_bytes_per_s);
  a("shared_bytes_per_s", v.shared_bytes_per_s);
  a("fp32_flops_per_s", v.fp32_flops_per_s);
  a("tensor_flops_per_s", v.tensor_flops_per_s);
  a("launch_s", v.launch_s);
}

template <typename A>
void Fields(A& a, EnvironmentSnapshot& v) {
  a("optiml_version", v.optiml_version);
  a("device_name", v.device_name);
  a("architecture", v.architecture);
  a("toolchain", v.toolchain);
  a("measures_time", v.measures_time);
  a("prediction_error_factor", v.prediction_error_factor);
  a("dram_bytes_per_s", v.dram_bytes_per_s);
  a("fp32_flops_per_s", v.fp32_flops_per_s);
  a("peaks", v.peaks);
  a("started_at", v.started_at);
}

template <typename A>
void Fields(A& a, DeviceUse::Phase& v) {
  a("name", v.name);
  a("seconds", v.seconds);
}

template <typename A>
void Fields(A& a, DeviceUse& v) {
  a("device", v.device);
  a("busy_s", v.busy_s);
  a("phases", v.phases);
}

}  // namespace optiml

#endif  // OPTIML_STORE_MACHINE_FIELDS_H_
