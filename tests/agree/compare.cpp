#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/rng.h"

namespace optiml::agree {
namespace {

struct Format {
  uint32_t bytes;
  uint64_t infinity;  // bits of +infinity
};

Format FormatOf(const std::string& type) {
  return type == "f16"    ? Format{2, 0x7c00}
         : type == "bf16" ? Format{2, 0x7f80}
         : type == "f64"  ? Format{8, 0x7ff0000000000000}
                          : Format{4, 0x7f800000};
}

// Steps between two numbers of a format; equal NaNs are 0 apart, a NaN and a number are far apart.
uint64_t UlpApart(uint64_t a, uint64_t b, const Format& format) {
  const uint64_t sign = uint64_t{1} << (8 * format.bytes - 1);
  const bool nan_a = (a & (sign - 1)) > format.infinity;
  const bool nan_b = (b & (sign - 1)) > format.infinity;
  if (nan_a || nan_b) {
    return nan_a && nan_b ? 0 : uint64_t{1} << 62;
  }
  const auto ordered = [&](uint64_t x) {
    return (x & sign) != 0 ? -static_cast<int64_t>(x & (sign - 1)) : static_cast<int64_t>(x);
  };
  const int64_t distance = ordered(a) - ordered(b);
  return static_cast<uint64_t>(distance < 0 ? -distance : distance);
}

std::string InputsOf(const Case& c, size_t thread) {
  std::string text;
  for (const Buffer& buffer : c.buffers) {
    const size_t per_thread = buffer.input.size() / (size_t{c.grid} * c.block);
    if (buffer.input.empty() || per_thread == 0 || per_thread > 16 || buffer.name == "shared") {
      continue;
    }
    text += fmt::format(" {}=", buffer.name);
    for (size_t i = per_thread; i > 0; --i) {
      text += fmt::format("{:02x}", std::to_integer<unsigned>(buffer.input[thread * per_thread + i - 1]));
    }
  }
  return text;
}

}  // namespace

std::vector<size_t> OutputSizes(const Case& c) {
  std::vector<size_t> sizes;
  for (const Buffer& buffer : c.buffers) {
    if (buffer.output_bytes > 0) {
      sizes.push_back(buffer.output_bytes);
    }
  }
  for (const TextureCase& texture : c.textures) {
    if (texture.surface) {
      sizes.push_back(texture.bytes());
    }
  }
  return sizes;
}

Comparison CompareOutputs(const Case& c, const Outputs& emulated, const Outputs& gpu, size_t show) {
  Comparison result;
  std::vector<const Buffer*> results;
  for (const Buffer& buffer : c.buffers) {
    if (buffer.output_bytes > 0) {
      results.push_back(&buffer);
    }
  }
  for (size_t o = 0; o < gpu.size(); ++o) {
    const uint32_t bytes = c.ulp > 0              ? FormatOf(c.ulp_type).bytes
                           : o < results.size()   ? results[o]->element_bytes
                                                  : 4;
    const std::string name = o < results.size() ? results[o]->name : "surface";
    for (size_t at = 0; at + bytes <= gpu[o].size(); at += bytes) {
      uint64_t ours = 0;
      uint64_t theirs = 0;
      std::memcpy(&ours, emulated[o].data() + at, bytes);
      std::memcpy(&theirs, gpu[o].data() + at, bytes);
      ++result.elements;
      uint64_t apart = 0;
      if (ours != theirs) {
        apart = c.ulp > 0 ? UlpApart(ours, theirs, FormatOf(c.ulp_type)) : 1;
      }
      result.most_ulp = std::max(result.most_ulp, apart);
      if (apart > c.ulp) {
        if (++result.differences <= show) {
          const size_t thread = at / std::max<size_t>(gpu[o].size() / (size_t{c.grid} * c.block), 1);
          result.text += fmt::format("\n  {}[{}] emulator {:0{}x}, GPU {:0{}x}{}", name, at / bytes, ours, 2 * bytes,
                                     theirs, 2 * bytes, InputsOf(c, thread));
        }
      }
    }
  }
  return result;
}

std::string HashOf(const Outputs& outputs) {
  uint64_t hash = 0;
  for (const auto& output : outputs) {
    for (const std::byte b : output) {
      hash = RandomAt(hash, std::to_integer<uint64_t>(b));
    }
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace optiml::agree
