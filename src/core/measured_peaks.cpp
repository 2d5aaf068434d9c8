#include "core/measured_peaks.h"

#include <fmt/format.h>

namespace optiml {
namespace {

bool Has(const std::optional<MeasuredPeaks>& peaks, double rate) {
  return peaks.has_value() && rate > 0;
}

}  // namespace

std::optional<TargetFloor> TargetFloorOf(const CompulsoryWork& work, double pin_bytes_per_s,
                                         double stated_flops_per_s,
                                         const std::optional<MeasuredPeaks>& peaks) {
  std::optional<TargetFloor> floor;
  const auto consider = [&](const std::optional<double>& amount, double rate,
                            const std::string& basis) {
    if (amount && *amount > 0 && rate > 0 && (!floor || *amount / rate > floor->seconds)) {
      floor = TargetFloor{*amount / rate, basis};
    }
  };
  const double measured_bandwidth = peaks ? peaks->dram_bytes_per_s() : 0;
  consider(work.bytes, measured_bandwidth > 0 ? measured_bandwidth : pin_bytes_per_s,
           fmt::format("{:.4g} MB at the {}", work.bytes.value_or(0) / 1e6,
                       DescribeBandwidth(pin_bytes_per_s, peaks)));
  const double measured_rate = !peaks         ? 0
                               : work.is_half ? peaks->tensor_flops_per_s
                                              : peaks->fp32_flops_per_s;
  const char* pipe = work.is_half ? "f16 tensor" : "fp32";
  if (Has(peaks, measured_rate)) {
    consider(
        work.operations, measured_rate,
        fmt::format("{:.4g} G operations at the measured {} peak {:.4g} TFLOP/s on {}",
                    work.operations.value_or(0) / 1e9, pipe, measured_rate / 1e12, peaks->date));
  } else if (!work.is_half) {
    consider(work.operations, stated_flops_per_s,
             fmt::format("{:.4g} G operations at the stated {} rate {:.4g} TFLOP/s",
                         work.operations.value_or(0) / 1e9, pipe, stated_flops_per_s / 1e12));
  }
  return floor;
}

std::string DescribeBandwidth(double pin_bytes_per_s, const std::optional<MeasuredPeaks>& peaks) {
  const double measured = peaks ? peaks->dram_bytes_per_s() : 0;
  return Has(peaks, measured)
             ? fmt::format("measured peak {:.3g} TB/s on {}", measured / 1e12, peaks->date)
             : fmt::format("pin rate {:.3g} TB/s", pin_bytes_per_s / 1e12);
}

}  // namespace optiml
