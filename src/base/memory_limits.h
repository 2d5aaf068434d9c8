#ifndef OPTIML_BASE_MEMORY_LIMITS_H_
#define OPTIML_BASE_MEMORY_LIMITS_H_

// How much memory this process may still take: what the machine has free, within the limits of its
// control group (version 2) and of its address space (ulimit -v).

#include <cstdint>
#include <filesystem>
#include <optional>

namespace optiml {

// Absent when the system does not say. `root` is where /proc and /sys lie.
std::optional<uint64_t> AvailableMemoryBytes(const std::filesystem::path& root = "/");

// From now on memory that is freed stays with the process: blocks of hundreds of MB that come and go
// need not be asked of the system, page by page, each time.
void KeepFreedMemory();

}  // namespace optiml

#endif  // OPTIML_BASE_MEMORY_LIMITS_H_
