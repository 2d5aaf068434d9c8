#ifndef OPTIML_PTX_MATRIX_H_
#define OPTIML_PTX_MATRIX_H_

// Matrix instructions (mma, wmma, wgmma): what one of them computes, and where the elements of its
// operands lie in the registers of a warp. Internal to ptx/.
//
// The arithmetic is that of the tensor cores of compute capability 9.0 as measured
// (docs/emulator_arithmetic.md): an element of D is one fused sum of k products and C. Every term
// is aligned to the largest exponent and cut off below MatrixShape::fraction_bits bits; the sum is
// exact and then rounded once: toward zero into f32, to nearest into f16.

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace optiml::ptx {

// f64 sums are a chain of fused multiply-adds in the order of k; integers wrap, or clamp once at
// the end with `saturate`.
struct MatrixShape {
  uint32_t m = 0;  // rows that one warp computes
  uint32_t n = 0;  // a multiple of 8
  uint32_t k = 0;
  Type a = Type::kF16;  // kF16, kBf16, kTf32, kE4m3, kE5m2, kF64, kS8, kU8
  Type b = Type::kF16;
  Type c = Type::kF32;  // kF16, kF32, kF64, kS32
  Type d = Type::kF32;
  bool saturate = false;
  bool negate_a = false;
  bool negate_b = false;
  uint32_t fraction_bits = 25;         // kept of an aligned term below the leading bit's place
  uint32_t result_fraction_bits = 23;  // of an f32 result; the rest is zero
  // k of one fused sum; smaller than k: sums on top of each other (wmma of tf32: 4). 0: k.
  uint32_t step = 0;
  // 8-bit floats in mma.sync: two sums, of the first and the last two of every four in k, the
  // second on top of the first; C is added to the result in its own type.
  bool in_halves = false;
};

// Operands as raw bits, one element a word: a row-major [m][k]; b [n / 8][k][8]; c and d [n /
// 8][m][8]. Words are 64 bits wide for f64, 32 bits for all other types.
struct MatrixOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;  // null: zero
  void* d = nullptr;
};

using MatrixKernel = void (*)(const MatrixShape& shape, const MatrixOperands& operands);

// Largest sizes that MatrixOperands may have.
inline constexpr uint32_t kMatrixMaxRows = 32;
inline constexpr uint32_t kMatrixMaxColumns = 256;
inline constexpr uint32_t kMatrixMaxDepth = 32;

// Where an element lies: register, and byte in the 32 lanes of that register.
struct ElementPlace {
  uint8_t reg = 0;
  uint8_t byte = 0;
};
// Of every element, in the order of MatrixOperands.
using FragmentMap = std::vector<ElementPlace>;

using Place = uint32_t;  // as in program.h

struct MatrixSite {
  MatrixShape shape;
  MatrixKernel kernel = nullptr;
  std::vector<Place> a;  // registers; wgmma: empty when A comes from shared memory
  std::vector<Place> b;
  std::vector<Place> c;
  std::vector<Place> d;
  FragmentMap a_map;
  FragmentMap b_map;
  FragmentMap c_map;
  FragmentMap d_map;
  // wgmma: descriptors in registers, and whether an operand has its rows (A: m, B: n) contiguous.
  Place a_descriptor = 0;
  Place b_descriptor = 0;
  bool a_transposed = false;
  bool b_transposed = false;
};

enum class MatrixOperand : uint8_t { kA, kB, kC };

// Fragments of mma.sync and of the registers of wgmma: element (row, column) of the operand, whose
// registers hold elements of `bytes` in registers of `register_bytes` (PTX ISA, "Matrix fragments
// for mma"). B is given as k rows and n columns.
FragmentMap MmaFragment(MatrixOperand operand, uint32_t rows, uint32_t columns, uint32_t bytes,
                        uint32_t register_bytes);
uint32_t MmaRegisters(uint32_t rows, uint32_t columns, uint32_t bytes, uint32_t register_bytes);

// Bytes of an element in registers and memory; tf32: 4.
uint32_t MatrixElementBytes(Type type);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_MATRIX_H_
