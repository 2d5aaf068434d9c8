#ifndef OPTIML_PTX_CONVERT_LANES_H_
#define OPTIML_PTX_CONVERT_LANES_H_

// What the conversions share. See lanes.h on what may stand here.

#include "ptx/lanes.h"

namespace optiml::ptx::OPTIML_PTX_ISA {

template <class N>
OPTIML_INLINE N Saturate(N x) {
  return x > N(0) ? (x < N(1) ? x : N(1)) : N(0);
}

template <int kExponentBits, int kFractionBits>
OPTIML_INLINE u16 Narrow16(double x, Rounding mode, u32 flags) {
  if ((flags & 1) != 0) {
    x = Saturate(x);
  }
  if ((flags & 4) != 0) {
    x = x > 0 || x != x ? x : 0;
  }
  u16 h = RoundTo16<kExponentBits, kFractionBits>(x, mode);
  constexpr u16 kInfinity = static_cast<u16>(((1 << kExponentBits) - 1) << kFractionBits);
  if ((flags & 8) != 0 && (h & 0x7fff) == kInfinity) {
    h = static_cast<u16>(h - 1);
  }
  return h;
}
OPTIML_INLINE Rounding AsIeee(Rounding r) {
  return r == Rounding::kNone ? Rounding::kNearest : r;
}
}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_CONVERT_LANES_H_
