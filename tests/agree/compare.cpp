#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

#include "base/rng.h"

namespace optiml::agree {
namespace {

constexpr size_t kKeptElements = 16;

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

bool IsNan(uint64_t bits, const Format& format) {
  const uint64_t sign = uint64_t{1} << (8 * format.bytes - 1);
  return (bits & (sign - 1)) > format.infinity;
}

// Steps between two numbers of a format.
uint64_t UlpApart(uint64_t a, uint64_t b, const Format& format) {
  const uint64_t sign = uint64_t{1} << (8 * format.bytes - 1);
  const auto ordered = [&](uint64_t x) {
    return (x & sign) != 0 ? -static_cast<int64_t>(x & (sign - 1)) : static_cast<int64_t>(x);
  };
  const int64_t distance = ordered(a) - ordered(b);
  return static_cast<uint64_t>(distance < 0 ? -distance : distance);
}

double ValueOf(uint64_t bits, const std::string& type) {
  if (type == "f64") {
    return std::bit_cast<double>(bits);
  }
  if (type == "f16") {
    const auto fraction = static_cast<double>(bits & 1023);
    const auto exponent = static_cast<int>(bits >> 10 & 31);
    const double magnitude = exponent == 31  ? INFINITY
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  }
  return static_cast<double>(
      std::bit_cast<float>(static_cast<uint32_t>(type == "bf16" ? bits << 16 : bits)));
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
      text += fmt::format("{:02x}",
                          std::to_integer<unsigned>(buffer.input[thread * per_thread + i - 1]));
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
    const bool close = !c.close_type.empty();
    const Format format = FormatOf(c.close_type);
    const uint32_t bytes = close                ? format.bytes
                           : o < results.size() ? results[o]->element_bytes
                                                : 4;
    const std::string name = o < results.size() ? results[o]->name : "surface";
    for (size_t at = 0; at + bytes <= gpu[o].size(); at += bytes) {
      uint64_t ours = 0;
      uint64_t theirs = 0;
      std::memcpy(&ours, emulated[o].data() + at, bytes);
      std::memcpy(&theirs, gpu[o].data() + at, bytes);
      ++result.elements;
      if (ours == theirs || (close && IsNan(ours, format) && IsNan(theirs, format))) {
        continue;
      }
      bool differs = true;
      if (close && !IsNan(ours, format) && !IsNan(theirs, format)) {
        const uint64_t apart = UlpApart(ours, theirs, format);
        const double difference =
            std::fabs(ValueOf(ours, c.close_type) - ValueOf(theirs, c.close_type));
        result.most_ulp = std::max(result.most_ulp, apart);
        result.most_difference = std::max(result.most_difference, difference);
        differs = apart > c.ulp && !(difference <= c.absolute);
      }
      if (differs) {
        if (++result.differences <= show) {
          const size_t thread =
              at / std::max<size_t>(gpu[o].size() / (size_t{c.grid} * c.block), 1);
          result.text += fmt::format("\n  {}[{}] emulator {:0{}x}, GPU {:0{}x}{}", name, at / bytes,
                                     ours, 2 * bytes, theirs, 2 * bytes, InputsOf(c, thread));
        }
      }
    }
  }
  return result;
}

std::string RecordOf(const Case& c, const Outputs& outputs) {
  if (!c.close_type.empty()) {
    const uint32_t bytes = FormatOf(c.close_type).bytes;
    std::string text = "~";
    for (size_t i = 0; i < kKeptElements && (i + 1) * bytes <= outputs[0].size(); ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, outputs[0].data() + i * bytes, bytes);
      text += fmt::format(" {:x}", bits);
    }
    return text;
  }
  uint64_t hash = 0;
  for (const auto& output : outputs) {
    for (const std::byte b : output) {
      hash = RandomAt(hash, std::to_integer<uint64_t>(b));
    }
  }
  return fmt::format("{:010x}", hash >> 24);
}

std::string CompareWithRecord(const Case& c, const Outputs& outputs, const std::string& record) {
  if (c.close_type.empty()) {
    const std::string ours = RecordOf(c, outputs);
    return ours == record ? ""
                          : fmt::format("outputs have the hash {}, the GPU's {}", ours, record);
  }
  std::istringstream words(record);
  std::string word;
  words >> word;
  const uint32_t bytes = FormatOf(c.close_type).bytes;
  Outputs kept(1);
  while (words >> word) {
    const uint64_t bits = std::stoull(word, nullptr, 16);
    const auto* from = reinterpret_cast<const std::byte*>(&bits);
    kept[0].insert(kept[0].end(), from, from + bytes);
  }
  Outputs ours(1);
  ours[0].assign(outputs[0].begin(),
                 outputs[0].begin() + static_cast<std::ptrdiff_t>(kept[0].size()));
  return CompareOutputs(c, ours, kept, 3).text;
}

}  // namespace optiml::agree
