#ifndef OPTIML_PTX_TEXTURE_H_
#define OPTIML_PTX_TEXTURE_H_

// Texture: texels in an allocation of emulated memory, and how coordinates are turned into a value.
// A kernel gets a texture or surface object as a 64-bit handle, which DeviceMemory::AddTexture
// gives. An array of CUDA is an allocation with rows one after the other; a kernel has no address
// of it.
//
// Filtering is that of compute capability 9.0 as measured: weights in steps of 1/256, 8-bit and
// 16-bit texels that are read as numbers are summed as 16-bit integers
// (docs/emulator_arithmetic.md).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace optiml::ptx {

struct Allocation;

enum class TexelFormat : uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };
uint32_t TexelBytes(TexelFormat format);  // of one channel

enum class TextureAddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Texture {
  uint64_t address = 0;     // of the first texel
  uint32_t dimensions = 1;  // 1 to 3
  uint32_t width = 1;       // texels
  uint32_t height = 1;
  uint32_t depth = 1;
  uint64_t pitch_bytes = 0;  // from row to row; 0: rows are not padded
  TexelFormat format = TexelFormat::kF32;
  uint32_t channels = 1;       // 1, 2 or 4
  bool linear_memory = false;  // made of plain memory, 1D: integer coordinates only, never filtered
  std::array<TextureAddressMode, 3> address_mode = {
      TextureAddressMode::kClamp, TextureAddressMode::kClamp, TextureAddressMode::kClamp};
  bool linear_filter = false;
  bool normalised_coordinates = false;
  bool read_as_float = false;  // integers of 8 and 16 bits as numbers in [0, 1] or [-1, 1]
  bool surface =
      false;  // read and written by suld and sust; the fields about sampling mean nothing
  // Filled in by AddTexture.
  Allocation* allocation = nullptr;

  uint32_t texel_bytes() const { return TexelBytes(format) * channels; }
  uint64_t row_bytes() const {
    return pitch_bytes != 0 ? pitch_bytes : uint64_t{texel_bytes()} * width;
  }
  uint64_t bytes() const { return row_bytes() * height * depth; }
};

// Empty when the fields fit together; otherwise what is wrong.
std::string CheckTexture(const Texture& texture);

// One read of a texture at a place, by floating-point coordinates (in texels, or in [0, 1] when
// normalised) or by integers (exactly that texel; outside: zero).
struct TextureRead {
  std::array<double, 3> coordinates = {0, 0, 0};
  bool integer_coordinates = false;
  int gather =
      -1;  // 0 to 3: this channel of the four texels around the place, in the order of tld4
};

// Where in the texture's bytes a read looked.
struct TouchedTexels {
  std::array<uint64_t, 8> offsets = {};
  uint32_t count = 0;
};

// The four channels as 32-bit words: f32 bits, or integers as they are. Channels that the texture
// lacks are zero.
std::array<uint32_t, 4> SampleTexture(const Texture& texture, const TextureRead& read,
                                      TouchedTexels& touched);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_TEXTURE_H_
