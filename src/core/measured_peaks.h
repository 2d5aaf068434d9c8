#ifndef OPTIML_CORE_MEASURED_PEAKS_H_
#define OPTIML_CORE_MEASURED_PEAKS_H_

// MeasuredPeaks: what the limits of one GPU are when they are measured, and the target floor that
// follows: the time that a kernel which does nothing but the task's compulsory work would take. A
// kernel may beat it a little. It rejects nothing: that is the reject floor's (the memory's pin
// rate, optimize/time_shapes.h).

#include <optional>
#include <string>

namespace optiml {

// 0: not measured.
struct MeasuredPeaks {
  std::string date;    // "2026-11-30", UTC
  std::string driver;  // "580.65.06"; empty: not known
  double dram_read_bytes_per_s = 0;
  double dram_copy_bytes_per_s = 0;  // read and written bytes together
  double l2_bytes_per_s = 0;         // read
  double shared_bytes_per_s = 0;     // read, all multiprocessors together
  double fp32_flops_per_s = 0;       // with FMA as two
  double tensor_flops_per_s = 0;     // f16 with sums in f32, by mma.sync
  double launch_s = 0;               // that one more launch adds to a plan

  // Of device memory: the greater of reading and copying.
  double dram_bytes_per_s() const {
    return dram_read_bytes_per_s > dram_copy_bytes_per_s ? dram_read_bytes_per_s
                                                         : dram_copy_bytes_per_s;
  }
};

// What a task's work costs at one shape.
struct CompulsoryWork {
  std::optional<double> bytes;
  std::optional<double> operations;
  bool is_half = false;  // operands of f16 or bf16: tensor cores may do the operations
};

struct TargetFloor {
  double seconds = 0;
  std::string basis;  // "80 MB at the measured peak of 4.31 TB/s (2026-11-30)"
};

// max(bytes / bandwidth, operations / rate) by the measured peaks, or else by the device's stated
// rates, of which the basis says so. Absent where the task says no cost. Operations of half
// precision take part only where the tensor rate was measured.
std::optional<TargetFloor> TargetFloorOf(const CompulsoryWork& work, double pin_bytes_per_s,
                                         double stated_flops_per_s,
                                         const std::optional<MeasuredPeaks>& peaks);

// "measured peak 4.31 TB/s on 2026-11-30" or "pin rate 4.81 TB/s".
std::string DescribeBandwidth(double pin_bytes_per_s, const std::optional<MeasuredPeaks>& peaks);

}  // namespace optiml

#endif  // OPTIML_CORE_MEASURED_PEAKS_H_
