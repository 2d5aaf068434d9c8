#ifndef OPTIML_PROFILE_PEAKS_H_
#define OPTIML_PROFILE_PEAKS_H_

// MeasurePeaks: the limits of one GPU by kernels of our own (peaks.cu), timed as candidates are;
// and the file of a GPU that keeps them. Fractions of the limits and target floors are made of
// them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/embedded_text.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/launch_plan.h"
#include "core/measured_peaks.h"
#include "device/device.h"

namespace optiml {

struct PeakSizes {
  double seconds = 2e-3;                      // of one execution, about
  uint64_t memory_bytes = uint64_t{1} << 30;  // that are read or copied
  int launches = 64;                          // beside the first
};

// One kernel that uses one resource.
struct PeakCase {
  std::string name;
  double MeasuredPeaks::* into = nullptr;
  double work = 0;  // bytes or operations of one execution
  LaunchPlan plan;  // its argument buffers are written, a few bytes
};

// Bandwidths and rates; several of one resource where it is not known which is the fastest.
std::vector<PeakCase> PeakCases(const DeviceInfo& device, const PeakSizes& sizes);
// Kernels that do nothing.
LaunchPlan EmptyLaunches(int count);

struct PeakOutcome {
  MeasuredPeaks peaks;             // date and driver are left empty for the caller
  std::vector<std::string> notes;  // what could not be measured; throttling
};

// Fails where the kernels cannot be built or the device is lost. What cannot be measured stays 0.
Result<PeakOutcome> MeasurePeaks(Builder& builder, Device& device, PeakSizes sizes = {});

// What a file of peaks is of: other drivers and other GPUs have other peaks.
struct PeakKey {
  std::string device;  // its name
  std::string uuid;
  int driver_version = 0;  // the CUDA version it is for
};
// In a folder of such files. Absent: there is none, or it cannot be read.
std::optional<MeasuredPeaks> LoadPeaks(const std::filesystem::path& folder, const PeakKey& key);
Result<void> SavePeaks(const std::filesystem::path& folder, const PeakKey& key,
                       const MeasuredPeaks& peaks);

// The text of peaks.cu.
std::span<const EmbeddedText> PeakKernels();

}  // namespace optiml

#endif  // OPTIML_PROFILE_PEAKS_H_
