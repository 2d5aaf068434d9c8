// printf on the device: its format and arguments lie in memory of any space.

#include <bit>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "ptx/access.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"

namespace optiml::ptx {

bool ReadGeneric(Warp& w, uint32_t lane, uint64_t address, void* into, uint32_t bytes) {
  if (address - kLocalWindow < kWindowBytes) {
    const uint64_t at = address - kLocalWindow;
    if (at + bytes > w.local_stride) {
      return false;
    }
    std::memcpy(into, w.local + size_t{lane} * w.local_stride + at, bytes);
    return true;
  }
  if (address - kSharedWindow < kWindowBytes) {
    MemorySite site;
    const uint64_t at = address - kSharedWindow;
    if (!LocateShared(w, site, at, at + bytes)) {
      return false;
    }
    std::memcpy(into, w.block->shared + at, bytes);
    return true;
  }
  MemorySite site;
  if (!LocateGlobal(w, site, address, address + bytes, false)) {
    return false;
  }
  const Allocation* allocation = site.allocation;
  std::memcpy(into, allocation->host + (address - allocation->address), bytes);
  return true;
}

int32_t Printf(Warp& w, const Op*, uint32_t lane, uint64_t format_address, uint64_t arguments) {
  const auto text = [&](uint64_t address) {
    std::string s;
    char c = 0;
    while (s.size() < 4096 && ReadGeneric(w, lane, address + s.size(), &c, 1) && c != 0) {
      s += c;
    }
    return s;
  };
  const std::string format = text(format_address);
  std::string out;
  int32_t count = 0;
  uint64_t at = arguments;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const size_t start = i++;
    while (i < format.size() && std::strchr("-+ #0123456789.", format[i]) != nullptr) {
      ++i;
    }
    bool wide = false;
    while (i < format.size() && std::strchr("hlzjt", format[i]) != nullptr) {
      wide = wide || format[i] != 'h';
      ++i;
    }
    if (i >= format.size()) {
      break;
    }
    const char kind = format[i];
    if (kind == '%') {
      out += '%';
      continue;
    }
    // Without the length: it is put back as 64 bits below.
    std::string spec;
    for (size_t k = start; k < i; ++k) {
      if (std::strchr("hlzjt", format[k]) == nullptr) {
        spec += format[k];
      }
    }
    const bool floating = std::strchr("fFeEgGaA", kind) != nullptr;
    const bool pointer = kind == 's' || kind == 'p';
    const uint32_t bytes = floating || pointer || wide ? 8 : 4;
    at = (at + bytes - 1) / bytes * bytes;
    uint64_t raw = 0;
    if (!ReadGeneric(w, lane, at, &raw, bytes)) {
      break;
    }
    at += bytes;
    ++count;
    char buffer[256];
    if (spec.size() > 20) {
      spec = "%";
    }
    if (kind == 's') {
      std::snprintf(buffer, sizeof(buffer), (spec + "s").c_str(), text(raw).c_str());
    } else if (kind == 'p') {
      std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(raw));
    } else if (floating) {
      std::snprintf(buffer, sizeof(buffer), (spec + kind).c_str(), std::bit_cast<double>(raw));
    } else if (kind == 'c') {
      std::snprintf(buffer, sizeof(buffer), (spec + "c").c_str(), static_cast<int>(raw & 0xff));
    } else if (kind == 'd' || kind == 'i') {
      const auto value = bytes == 8 ? static_cast<long long>(raw)
                                    : static_cast<long long>(static_cast<int32_t>(raw));
      std::snprintf(buffer, sizeof(buffer), (spec + "lld").c_str(), value);
    } else if (kind == 'u' || kind == 'x' || kind == 'X' || kind == 'o') {
      std::snprintf(buffer, sizeof(buffer), (spec + "ll" + kind).c_str(),
                    static_cast<unsigned long long>(raw));
    } else {
      std::snprintf(buffer, sizeof(buffer), "%%%c", kind);
    }
    out += buffer;
  }
  LaunchContext& launch = *w.worker->launch;
  const std::lock_guard lock(launch.mutex);
  const size_t room = launch.request->printf_bytes -
                      std::min(launch.request->printf_bytes, launch.printf_output.size());
  launch.printf_output.append(out, 0, room);
  return count;
}

}  // namespace optiml::ptx
