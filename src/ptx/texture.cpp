#include "ptx/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ptx/memory.h"

namespace optiml::ptx {
namespace {

// Texel numbers stay far inside this after clamping, whatever the coordinate.
constexpr double kFarAway = 1 << 24;
constexpr int64_t kWeightOne = 256;

// One axis of a read: two neighbours and the weight of the second, in 256ths. -1: outside, the
// border's zero.
struct Axis {
  int64_t first = 0;
  int64_t second = 0;
  int64_t weight = 0;
};

int64_t Address(int64_t texel, int64_t size, TextureAddressMode mode) {
  switch (mode) {
    case TextureAddressMode::kWrap:
      return (texel % size + size) % size;
    case TextureAddressMode::kMirror: {
      const int64_t period = (texel % (2 * size) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    case TextureAddressMode::kBorder:
      return texel >= 0 && texel < size ? texel : -1;
    default:
      return std::clamp<int64_t>(texel, 0, size - 1);
  }
}

// The coordinate in texels, clamped so that it fits an integer. NaN, subnormal numbers and
// infinities that would be wrapped are 0. Wrapping itself is done on texel numbers: the weights are
// those of the coordinate as it is.
double InTexels(double x, double size, TextureAddressMode mode, bool normalised) {
  if (std::isnan(x) || std::fabs(x) < 0x1p-126) {
    return 0;
  }
  if (normalised) {
    if (mode == TextureAddressMode::kWrap || mode == TextureAddressMode::kMirror) {
      x = std::isinf(x) ? 0 : std::fmod(x, 2.0);  // whole periods of both
    }
    x *= size;
  }
  return std::clamp(x, -kFarAway, kFarAway);
}

float FromHalf(uint16_t h) {
  const int exponent = h >> 10 & 31;
  const int fraction = h & 1023;
  const double magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return static_cast<float>((h & 0x8000) != 0 ? -magnitude : magnitude);
}

// To `bits` fraction bits, halves away from zero.
double RoundTo(double x, int bits) {
  if (x == 0 || !std::isfinite(x)) {
    return x;
  }
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, exponent - 1 - bits);
  return std::round(x / unit) * unit;
}

bool IsSigned(TexelFormat format) {
  return format == TexelFormat::kS8 || format == TexelFormat::kS16 || format == TexelFormat::kS32;
}

bool IsInteger(TexelFormat format) {
  return format != TexelFormat::kF16 && format != TexelFormat::kF32;
}

class Sampler {
 public:
  Sampler(const Texture& texture, TouchedTexels& touched) : t_(texture), touched_(touched) {}

  // A channel of a texel as it lies in memory, sign-extended; false outside.
  bool Raw(int64_t x, int64_t y, int64_t z, uint32_t channel, uint32_t& value) {
    value = 0;
    if (x < 0 || y < 0 || z < 0) {
      return false;
    }
    const uint64_t offset =
        (static_cast<uint64_t>(z) * t_.height + static_cast<uint64_t>(y)) * t_.row_bytes() +
        static_cast<uint64_t>(x) * t_.texel_bytes();
    if (channel == 0 && touched_.count < touched_.offsets.size()) {
      touched_.offsets[touched_.count++] = offset;
    }
    const std::byte* from = t_.allocation->host + (t_.address - t_.allocation->address) + offset +
                            uint64_t{channel} * TexelBytes(t_.format);
    std::memcpy(&value, from, TexelBytes(t_.format));
    if (t_.format == TexelFormat::kS8) {
      value = static_cast<uint32_t>(static_cast<int8_t>(value));
    } else if (t_.format == TexelFormat::kS16) {
      value = static_cast<uint32_t>(static_cast<int16_t>(value));
    }
    return true;
  }

  // What the kernel gets of an unfiltered channel.
  uint32_t Point(int64_t x, int64_t y, int64_t z, uint32_t channel) {
    uint32_t raw = 0;
    Raw(x, y, z, channel, raw);
    if (t_.format == TexelFormat::kF16) {
      return std::bit_cast<uint32_t>(FromHalf(static_cast<uint16_t>(raw)));
    }
    if (!IsInteger(t_.format) || !t_.read_as_float) {
      return raw;
    }
    const double most = Most();
    const double number =
        IsSigned(t_.format) ? static_cast<int32_t>(raw) : static_cast<double>(raw);
    return std::bit_cast<uint32_t>(static_cast<float>(std::max(number / most, -1.0)));
  }

  uint32_t Filtered(const Axis (&axes)[3], uint32_t channel) {
    int64_t weights[8];
    Weights(axes, weights);
    double sum = 0;
    for (int i = 0; i < 8; ++i) {
      if (weights[i] == 0 && i >= 4) {
        continue;
      }
      uint32_t raw = 0;
      Raw((i & 1) != 0 ? axes[0].second : axes[0].first,
          (i & 2) != 0 ? axes[1].second : axes[1].first,
          (i & 4) != 0 ? axes[2].second : axes[2].first, channel, raw);
      sum += static_cast<double>(weights[i]) * Term(raw);
    }
    sum /= static_cast<double>(kWeightOne);
    double result = 0;
    switch (t_.format) {
      case TexelFormat::kF32:
        result = RoundTo(sum, 23);
        break;
      case TexelFormat::kF16:
        result = RoundTo(sum, 10);
        break;
      case TexelFormat::kS8:
        result = std::floor(sum * (32767.0 / 127) + 0.5) / 32767;
        break;
      case TexelFormat::kS16:
        result = std::floor(sum + 0.5) / 32767;
        break;
      default:
        result = std::floor(sum + 0.5) / 65535;
        break;
    }
    return std::bit_cast<uint32_t>(
        static_cast<float>(std::max(result, IsInteger(t_.format) ? -1.0 : result)));
  }

 private:
  double Most() const {
    return t_.format == TexelFormat::kU8    ? 255
           : t_.format == TexelFormat::kS8  ? 127
           : t_.format == TexelFormat::kU16 ? 65535
                                            : 32767;
  }

  // A texel as the filter adds it up: numbers as they are, integers widened to 16 bits.
  double Term(uint32_t raw) const {
    switch (t_.format) {
      case TexelFormat::kF32:
        return std::bit_cast<float>(raw);
      case TexelFormat::kF16:
        return FromHalf(static_cast<uint16_t>(raw));
      case TexelFormat::kU8:
        return raw * 257.0;
      case TexelFormat::kS8:
        return static_cast<int32_t>(raw);
      case TexelFormat::kS16:
        return static_cast<int32_t>(raw);
      default:
        return raw;
    }
  }

  // Of the eight corners, x fastest: whole 256ths that add up to 256. In a plane only the product
  // of the two weights is rounded.
  static void Weights(const Axis (&axes)[3], int64_t (&w)[8]) {
    const int64_t a = axes[0].weight;
    const int64_t b = axes[1].weight;
    const int64_t c = axes[2].weight;
    const auto product = [](int64_t x, int64_t y) { return (x * y + kWeightOne / 2) / kWeightOne; };
    const int64_t ab = product(a, b);
    const int64_t ac = product(a, c);
    const int64_t bc = product(b, c);
    const int64_t abc = product(ab, c);
    w[7] = abc;
    w[3] = ab - abc;
    w[5] = ac - abc;
    w[6] = bc - abc;
    w[1] = a - ab - ac + abc;
    w[2] = b - ab - bc + abc;
    w[4] = c - ac - bc + abc;
    w[0] = kWeightOne - a - b - c + ab + ac + bc - abc;
  }

  const Texture& t_;
  TouchedTexels& touched_;
};

}  // namespace

uint32_t TexelBytes(TexelFormat format) {
  switch (format) {
    case TexelFormat::kU8:
    case TexelFormat::kS8:
      return 1;
    case TexelFormat::kU16:
    case TexelFormat::kS16:
    case TexelFormat::kF16:
      return 2;
    default:
      return 4;
  }
}

std::string CheckTexture(const Texture& t) {
  if (t.dimensions < 1 || t.dimensions > 3) {
    return fmt::format("texture of {} dimensions (allowed: 1 to 3)", t.dimensions);
  }
  if (t.width == 0 || t.height == 0 || t.depth == 0 || (t.dimensions < 2 && t.height != 1) ||
      (t.dimensions < 3 && t.depth != 1)) {
    return fmt::format("texture of {} x {} x {} texels in {} dimensions", t.width, t.height,
                       t.depth, t.dimensions);
  }
  if (t.channels != 1 && t.channels != 2 && t.channels != 4) {
    return fmt::format("texture of {} channels (allowed: 1 2 4)", t.channels);
  }
  if (t.pitch_bytes != 0 && t.pitch_bytes < uint64_t{t.texel_bytes()} * t.width) {
    return fmt::format("texture pitch of {} bytes for rows of {}", t.pitch_bytes,
                       uint64_t{t.texel_bytes()} * t.width);
  }
  const bool small_integer = IsInteger(t.format) && TexelBytes(t.format) < 4;
  if (t.read_as_float && !small_integer) {
    return "only texels of 8 and 16 bits can be read as numbers in [0, 1]";
  }
  if (t.linear_filter && IsInteger(t.format) && !t.read_as_float) {
    return "integers are not filtered unless read as numbers";
  }
  if (t.linear_memory && (t.linear_filter || t.normalised_coordinates || t.dimensions != 1)) {
    return "a texture of plain memory has one dimension, no filter and no normalised coordinates";
  }
  for (const TextureAddressMode mode : t.address_mode) {
    if (!t.normalised_coordinates &&
        (mode == TextureAddressMode::kWrap || mode == TextureAddressMode::kMirror)) {
      return "wrap and mirror need normalised coordinates";
    }
  }
  return {};
}

std::array<uint32_t, 4> SampleTexture(const Texture& t, const TextureRead& read,
                                      TouchedTexels& touched) {
  Sampler sampler(t, touched);
  std::array<uint32_t, 4> result{};
  const int64_t sizes[3] = {t.width, t.height, t.depth};
  if (read.integer_coordinates) {
    int64_t texel[3] = {0, 0, 0};
    for (uint32_t d = 0; d < t.dimensions; ++d) {
      texel[d] = static_cast<int64_t>(read.coordinates[d]);
      if (texel[d] < 0 || texel[d] >= sizes[d]) {
        return result;
      }
    }
    for (uint32_t channel = 0; channel < t.channels; ++channel) {
      result[channel] = sampler.Point(texel[0], texel[1], texel[2], channel);
    }
    return result;
  }
  const bool between = t.linear_filter || read.gather >= 0;
  Axis axes[3];
  for (uint32_t d = 0; d < 3; ++d) {
    const TextureAddressMode mode = t.address_mode[d];
    // A texture of one dimension is filtered like one row of a plane, at height 0.
    if (d >= t.dimensions && !(d == 1 && between)) {
      continue;
    }
    const double x = d >= t.dimensions
                         ? 0
                         : InTexels(read.coordinates[d], static_cast<double>(sizes[d]), mode,
                                    t.normalised_coordinates);
    if (!between) {
      axes[d].first = Address(static_cast<int64_t>(std::floor(x)), sizes[d], mode);
      continue;
    }
    // 8 bits of fraction.
    const auto place = static_cast<int64_t>(std::floor((x - 0.5) * kWeightOne + 0.5));
    const int64_t texel = place >> 8;
    axes[d].first = Address(texel, sizes[d], mode);
    axes[d].second = Address(texel + 1, sizes[d], mode);
    axes[d].weight = place & (kWeightOne - 1);
  }
  if (read.gather >= 0) {
    const auto channel = static_cast<uint32_t>(read.gather);
    const Axis& x = axes[0];
    const Axis& y = axes[1];
    if (channel < t.channels) {
      result = {sampler.Point(x.first, y.second, 0, channel),
                sampler.Point(x.second, y.second, 0, channel),
                sampler.Point(x.second, y.first, 0, channel),
                sampler.Point(x.first, y.first, 0, channel)};
    }
    return result;
  }
  for (uint32_t channel = 0; channel < t.channels; ++channel) {
    result[channel] = t.linear_filter
                          ? sampler.Filtered(axes, channel)
                          : sampler.Point(axes[0].first, axes[1].first, axes[2].first, channel);
  }
  return result;
}

}  // namespace optiml::ptx
