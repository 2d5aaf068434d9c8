#ifndef OPTIML_PTX_FLOAT_LANES_H_
#define OPTIML_PTX_FLOAT_LANES_H_

// How floating-point elements are held in registers and computed. See lanes.h on what may stand
// here.

#include "ptx/lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

// How elements of a type are held in registers and computed.
struct F32 {
  using Reg = float;
  using Num = float;
  OPTIML_INLINE float Load(float x) { return x; }
  OPTIML_INLINE float Store(float x) { return Canonical(x); }
};
struct F32Ftz {
  using Reg = float;
  using Num = float;
  OPTIML_INLINE float Load(float x) { return Flush(x); }
  OPTIML_INLINE float Store(float x) { return Flush(Canonical(x)); }
};
struct F64 {
  using Reg = double;
  using Num = double;
  OPTIML_INLINE double Load(double x) { return x; }
  OPTIML_INLINE double Store(double x) { return x; }
};
struct F16 {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE float Load(u16 x) { return HalfToFloat(x); }
  OPTIML_INLINE u16 Store(float x) { return FloatToHalf(x); }
  OPTIML_INLINE u16 StoreExact(double x) { return RoundTo16<5, 10>(x, Rounding::kNearest); }
};
struct Bf16 {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE float Load(u16 x) { return Bf16ToFloat(x); }
  OPTIML_INLINE u16 Store(float x) { return FloatToBf16(x); }
  OPTIML_INLINE u16 StoreExact(double x) { return RoundTo16<8, 7>(x, Rounding::kNearest); }
};

struct Bf16Ftz {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE float Load(u16 x) { return Flush(Bf16ToFloat(x)); }
  OPTIML_INLINE u16 Store(float x) {
    const u16 r = FloatToBf16(x);
    return (r & 0x7f80u) == 0 ? static_cast<u16>(r & 0x8000u) : r;
  }
};
// Subnormal inputs and results become zero.
struct F16Ftz {
  using Reg = u16;
  using Num = float;
  OPTIML_INLINE u16 FlushHalf(u16 x) {
    return (x & 0x7c00u) == 0 ? static_cast<u16>(x & 0x8000u) : x;
  }
  OPTIML_INLINE float Load(u16 x) { return HalfToFloat(FlushHalf(x)); }
  OPTIML_INLINE u16 Store(float x) { return FlushHalf(FloatToHalf(x)); }
  OPTIML_INLINE u16 StoreExact(double x) {
    return FlushHalf(RoundTo16<5, 10>(x, Rounding::kNearest));
  }
};

template <class Num>
OPTIML_INLINE Num Clamp01(Num x) {
  return x > Num(0) ? (x < Num(1) ? x : Num(1)) : Num(0);  // NaN becomes +0
}

OPTIML_INLINE bool Directed(Rounding r) {
  return r == Rounding::kZero || r == Rounding::kDown || r == Rounding::kUp;
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_FLOAT_LANES_H_
