#ifndef OPTIML_PTX_TENSOR_MAP_H_
#define OPTIML_PTX_TENSOR_MAP_H_

// TensorMap: how bulk tensor copies see a tensor in global memory: its shape, strides and the box
// that one copy moves. CUDA's CUtensorMap is opaque; this is our own encoding of what
// cuTensorMapEncodeTiled is given, in the same 128 bytes, which the kernel passes on unseen.
//
// The encoded form, little endian, offsets in bytes:
//     0  "OPTIMLTM"
//     8  u64 address of the tensor           16  5 x u32 dimensions - 1 (elements; innermost first)
//    36  5 x u16 box                         46  5 x u8 element strides
//    51  u8 rank    52  u8 data type    53  u8 interleave    54  u8 swizzle    55  u8 promotion
//    56  u8 fill    57  7 bytes of zero
//    64  4 x u64 strides (bytes; of dimensions 1 to 4)
//    96  24 bytes of zero                   120  u64 checksum of bytes 0 to 119
//
// Rules and their limits: CUDA Driver API, "Tensor Map Object Management".

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "ptx/module.h"

namespace optiml::ptx {

inline constexpr size_t kTensorMapBytes = 128;
inline constexpr size_t kMaxTensorRank = 5;

// Values are those of CUtensorMapDataType.
enum class TensorType : uint8_t {
  kU8 = 0,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz
};
// The type of an element in registers; kNone for those that nothing computes with.
Type NumberOf(TensorType type);
// Values are those of CUtensorMapSwizzle.
enum class TensorSwizzle : uint8_t { kNone = 0, k32, k64, k128 };

struct TensorMap {
  TensorType type = TensorType::kF32;
  uint32_t rank = 1;
  uint64_t address = 0;
  // [0]: of the innermost dimension, whose elements are adjacent.
  std::array<uint64_t, kMaxTensorRank> dimensions{1, 1, 1, 1, 1};  // elements
  std::array<uint64_t, kMaxTensorRank> strides{0, 0, 0, 0, 0};     // bytes; [0] unused
  std::array<uint32_t, kMaxTensorRank> box{1, 1, 1, 1, 1};         // elements
  std::array<uint32_t, kMaxTensorRank> element_strides{1, 1, 1, 1, 1};
  uint32_t interleave = 0;  // only 0, none
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  uint32_t promotion = 0;  // to L2: changes no result
  bool fill_nan = false;   // elements outside of the tensor read as NaN instead of zero

  uint32_t element_bytes() const;
  // Elements of the box along a dimension, element strides applied.
  uint32_t BoxElements(size_t dimension) const;
  // Bytes of the box in shared memory: what a copy completes at its mbarrier.
  uint32_t BoxBytes() const;
};

using EncodedTensorMap = std::array<std::byte, kTensorMapBytes>;

// Fails with kInvalidArgument, naming value and limit, for what cuTensorMapEncodeTiled refuses.
Result<EncodedTensorMap> EncodeTensorMap(const TensorMap& map);
// Fails with kInvalidArgument when the bytes are no encoded map.
Result<TensorMap> DecodeTensorMap(std::span<const std::byte> bytes);
// Another address in an encoded map. REQUIRES: `bytes` is an encoded map
void SetTensorAddress(EncodedTensorMap& bytes, uint64_t address);

// The box of one copy: a map and the coordinates of the box's first element.
struct TensorTile {
  TensorMap map;
  std::array<int64_t, kMaxTensorRank> at{};
  // The copy writes the tensor: of a row that is cut off it writes whole 16 bytes, so up to 15
  // bytes past the tensor's last element (measured on an H200:
  // tests/agree/kernels/tensor_boxes.cu).
  bool writes_tensor = false;
};

// Calls f for runs of bytes in the order of shared memory: `shared` is the address in shared memory
// (the box begins at `base`, swizzled), `global` that in the tensor, or 0 for a run outside of it.
struct TensorRun {
  uint32_t shared = 0;
  uint64_t global = 0;
  uint32_t bytes = 0;
};
void ForEachRun(const TensorTile& tile, uint32_t base,
                const std::function<void(const TensorRun&)>& f);
// Bytes [lo, hi) of global memory that the tile touches; equal when it touches none.
struct ByteRange {
  uint64_t lo = 0;
  uint64_t hi = 0;
};
ByteRange TouchedBytes(const TensorTile& tile);

// The bits of one element outside of the tensor (when the map fills with NaN).
uint64_t NanOf(TensorType type);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_TENSOR_MAP_H_
