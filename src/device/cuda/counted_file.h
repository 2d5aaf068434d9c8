#ifndef OPTIML_DEVICE_CUDA_COUNTED_FILE_H_
#define OPTIML_DEVICE_CUDA_COUNTED_FILE_H_

// What was counted last, as a file: cubin, plan and contents. A program that executes it, and does
// nothing else, can be handed to Nsight Compute: it sees the very launches that were counted
// (bench/gpu/compare_counters.py).

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

// Fails with kIo.
Result<void> KeepCounted(const std::filesystem::path& file, const CountMessage& message,
                         const std::byte* arena, uint64_t arena_bytes);

// Executes each file once, in order, in this process, L2 flushed before each; no profiler of ours.
// Fails with kParse on a file that is none, and with kUnavailable where there is no GPU, or when a
// kernel faults.
Result<void> RunCounted(const std::vector<std::filesystem::path>& files,
                        const std::string& driver_library = "libcuda.so.1", int ordinal = 0);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_COUNTED_FILE_H_
