#ifndef OPTIML_PTX_INTEGER_LANES_H_
#define OPTIML_PTX_INTEGER_LANES_H_

// Loops over lanes that the integer handlers share, and the high half of a product. See lanes.h on
// what may stand here.

#include "ptx/lanes.h"

#define OPTIML_BY_BYTES(bytes, function) \
  ((bytes) == 2   ? &function<u16>       \
   : (bytes) == 4 ? &function<u32>       \
   : (bytes) == 8 ? &function<u64>       \
                  : Handler{nullptr})

namespace optiml::ptx::OPTIML_PTX_ISA {

template <class T, class F>
OPTIML_INLINE const Op* Unary(Warp& w, const Op* op, F f) {
  const T* a = Reg<T>(w, op->a);
  return Each<T>(w, op, [=](u32 l) { return static_cast<T>(f(a[l])); });
}

template <class T, class F>
OPTIML_INLINE const Op* Binary(Warp& w, const Op* op, F f) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  return Each<T>(w, op, [=](u32 l) { return static_cast<T>(f(a[l], b[l])); });
}

template <class T, class F>
OPTIML_INLINE const Op* Ternary(Warp& w, const Op* op, F f) {
  const T* a = Reg<T>(w, op->a);
  const T* b = Reg<T>(w, op->b);
  const T* c = Reg<T>(w, op->c);
  return Each<T>(w, op, [=](u32 l) { return static_cast<T>(f(a[l], b[l], c[l])); });
}

template <class T>
OPTIML_INLINE T MulHigh(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (kSigned<T>) {
      return static_cast<T>((static_cast<__int128>(a) * b) >> 64);
    } else {
      return static_cast<T>((static_cast<unsigned __int128>(a) * b) >> 64);
    }
  } else if constexpr (kSigned<T>) {
    return static_cast<T>((static_cast<s64>(a) * b) >> (8 * sizeof(T)));
  } else {
    return static_cast<T>((static_cast<u64>(a) * b) >> (8 * sizeof(T)));
  }
}

template <class T>
OPTIML_INLINE T MulLow(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
}
template <>
inline __attribute__((always_inline)) s32 MulLow(s32 a, s32 b) {
  return static_cast<s32>(static_cast<u32>(a) * static_cast<u32>(b));
}
template <>
inline __attribute__((always_inline)) u32 MulLow(u32 a, u32 b) {
  return a * b;
}

}  // namespace optiml::ptx::OPTIML_PTX_ISA

#endif  // OPTIML_PTX_INTEGER_LANES_H_
