#ifndef OPTIML_TESTS_AGREE_CORPUS_H_
#define OPTIML_TESTS_AGREE_CORPUS_H_

// The corpus of small kernels that the emulator and a GPU both run, as data: each case is a PTX
// text, its launch, its inputs and how close the outputs must be. Cases are read from lists
// (*.txt):
//
//   case d:f32 a:f32:exp:-3:3 b:f32:bits [ulp 2 f32] [absolute 1e-6 f32] [nan f64] [block 128]
//   [grid 8]
//     add.rn.f32 %d, %a, %b;
//
// makes one kernel in which every thread loads its operands, runs the lines, and stores `d`. The
// first letters say what an operand is: names from 'd' to 'g' are results, all others sources.
//
//   NAME:TYPE[*COUNT][:FILL]   registers %NAME, or %NAME0 %NAME1 ... and {NAME} for "{%NAME0, ...}"
//   shared:BYTES[:TYPE:FILL]   bytes at `smem` of each block, filled before the lines run
//   dump:BYTES                 those bytes of `smem` are stored after the lines ran
//   texture:... surface:...    a handle in %NAME; see TextureCase
//
// FILL: bits (random bits, every eighth an edge value), exp:LO:HI (random sign and fraction,
// exponent between), sparse:LO:HI (the same, but half of them zero), range:LO:HI (real numbers),
// below:N, index (the thread's number), zero.
//
// `<x|y>` in a line stands for one case with x and one with y; all `<#x|y>` of a case choose
// alike, and so do all `<@x|y>`.
//
// Registers for the lines' own use: %p<8>, %t<16> (32 bits), %u<8> (64 bits), %h<8> (16 bits),
// %lane.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml::agree {

// A texture or surface of a case, in the words of the driver's interface.
struct TextureCase {
  std::string name;
  bool surface = false;
  std::string kind = "array";  // array, linear (1d, memory), pitch (2d, memory)
  uint32_t dimensions = 1;     // 1 to 3
  std::string format = "f32";  // u8 s8 u16 s16 u32 s32 f16 f32
  uint32_t channels = 1;       // 1, 2 or 4
  uint32_t width = 1, height = 1, depth = 1;
  std::string address = "clamp";  // wrap, clamp, mirror, border: of all dimensions
  bool linear_filter = false;
  bool normalised = false;
  bool read_as_float = false;  // integers as numbers in [0, 1] or [-1, 1]
  size_t texel_bytes() const;
  size_t bytes() const { return texel_bytes() * width * height * depth; }
};

struct Buffer {
  std::string name;
  std::vector<std::byte> input;  // empty for results
  size_t output_bytes = 0;
  uint32_t element_bytes = 4;
};

struct Case {
  std::string name;  // "matrix/12 mma.sync...": list, number, first opcode
  std::string ptx;   // a module with the kernel `k`; buffers, then textures are its parameters
  uint32_t grid = 8;
  uint32_t block = 128;
  std::vector<Buffer> buffers;
  std::vector<TextureCase> textures;
  std::vector<std::vector<std::byte>> texels;  // of each texture
  // How close results must be: equal bits, unless `close_type` (f16, bf16, f32, f64) is set. Then
  // NaNs of any payload are equal, and numbers may differ by `ulp` units in the last place or by
  // `absolute`.
  std::string close_type;
  uint64_t ulp = 0;
  double absolute = 0;
};

// The cases of a list, expanded. `topic` is put before the names. Fails with kParse, naming the
// line.
Result<std::vector<Case>> ParseCases(std::string_view text, std::string_view topic, uint64_t seed);

// A case as its outputs: of every result in order, then of the surfaces.
using Outputs = std::vector<std::vector<std::byte>>;

}  // namespace optiml::agree

#endif  // OPTIML_TESTS_AGREE_CORPUS_H_
