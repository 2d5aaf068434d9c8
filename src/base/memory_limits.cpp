#include "base/memory_limits.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/file_system.h"

namespace optiml {
namespace {

std::optional<uint64_t> Number(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return error == std::errc() ? std::optional<uint64_t>(value) : std::nullopt;
}

// "KEY:   123 kB" in bytes.
std::optional<uint64_t> FieldOf(const std::filesystem::path& file, const std::string& key) {
  const Result<std::string> text = ReadFile(file);
  const size_t at = text ? text->find(key + ":") : std::string::npos;
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const auto kilobytes = Number(std::string_view(*text).substr(at + key.size() + 1));
  return kilobytes ? std::optional<uint64_t>(*kilobytes * 1024) : std::nullopt;
}

// "KEY 123" in a file of such lines; 0 without.
uint64_t StatOf(const std::filesystem::path& file, const std::string& key) {
  const Result<std::string> text = ReadFile(file);
  const size_t at = text ? text->find(key + " ") : std::string::npos;
  return at == std::string::npos
             ? 0
             : Number(std::string_view(*text).substr(at + key.size())).value_or(0);
}

std::optional<uint64_t> NumberIn(const std::filesystem::path& file) {
  const Result<std::string> text = ReadFile(file);
  return text ? Number(*text) : std::nullopt;
}

uint64_t Rest(uint64_t limit, uint64_t used) {
  return limit > used ? limit - used : 0;
}

}  // namespace

std::optional<uint64_t> AvailableMemoryBytes(const std::filesystem::path& root) {
  std::optional<uint64_t> available = FieldOf(root / "proc/meminfo", "MemAvailable");
  const auto within = [&](std::optional<uint64_t> bytes) {
    if (bytes) {
      available = std::min(available.value_or(*bytes), *bytes);
    }
  };
  const auto group_limit = NumberIn(root / "sys/fs/cgroup/memory.max");  // "max": no limit
  const auto group_used = NumberIn(root / "sys/fs/cgroup/memory.current");
  if (group_limit && group_used) {
    // The kernel gives back what only caches files.
    const uint64_t cache = StatOf(root / "sys/fs/cgroup/memory.stat", "inactive_file");
    within(Rest(*group_limit, Rest(*group_used, cache)));
  }
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    within(Rest(space.rlim_cur, FieldOf(root / "proc/self/status", "VmSize").value_or(0)));
  }
  return available;
}

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace optiml
