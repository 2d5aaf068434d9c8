// What a launcher's host text begins with when it is recorded: CUDA's own declarations, what nvcc
// adds to them, and the calls that clang_host_text.cpp puts in place of launches. OPTIML_SPACE
// stands for a name that is made of the launcher's text. Defines no macros that a launcher could
// ask for.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __cluster_dims__
#define __cluster_dims__(...)
#undef __block_size__
#define __block_size__(...)
#undef __maxnreg__
#define __maxnreg__(...)
#undef __grid_constant__
#define __grid_constant__
#undef __managed__
#define __managed__

extern "C" {
void OPTIML_SPACE_at(int line);
void OPTIML_SPACE_configure(int line, dim3 grid, dim3 block, unsigned long long shared,
                            cudaStream_t stream);
void OPTIML_SPACE_hand(const void* tag, const void* const* values, const unsigned long long* sizes,
                       int count);
// The kernel's stub is called right after this with arguments of zeros, so that its tag is known.
void OPTIML_SPACE_kernel(int index, const void* address, const unsigned long long* sizes, int count,
                         unsigned long long shared, int bound);
void OPTIML_SPACE_symbol(int index, const void* address, unsigned long long size);
cudaError_t OPTIML_SPACE_potential(int* grid, int* block, const void* kernel, size_t shared,
                                   int limit);
}

namespace OPTIML_SPACE {

inline void At(int line) {
  OPTIML_SPACE_at(line);
}

inline void Configure(int line, dim3 grid, dim3 block, size_t shared = 0,
                      cudaStream_t stream = nullptr) {
  OPTIML_SPACE_configure(line, grid, block, shared, stream);
}

template <class... P>
inline void Hand(const void* tag, const P&... values) {
  const void* at[] = {nullptr, static_cast<const void*>(__builtin_addressof(values))...};
  const unsigned long long sizes[] = {0, sizeof(P)...};
  OPTIML_SPACE_hand(tag, at + 1, sizes + 1, sizeof...(P));
}

template <class P>
union Zeros {
  unsigned char bytes[sizeof(P)];
  P value;
  Zeros() { std::memset(bytes, 0, sizeof(bytes)); }
  ~Zeros() {}
};

template <class... P>
inline void Kernel(int index, unsigned long long shared, int bound, void (*kernel)(P...)) {
  const unsigned long long sizes[] = {0, sizeof(P)...};
  OPTIML_SPACE_kernel(index, reinterpret_cast<const void*>(kernel), sizes + 1, sizeof...(P), shared,
                      bound);
  kernel(Zeros<std::remove_cv_t<P>>().value...);
}

struct Argument {
  uint64_t kind;
  uint64_t value;
  uint64_t size_bytes;
};

template <class T>
inline T Get(const Argument& argument) {
  using V = std::remove_cv_t<std::remove_reference_t<T>>;
  double real = 0;
  std::memcpy(&real, &argument.value, sizeof(real));
  const bool is_real = argument.kind == 1;
  if constexpr (std::is_pointer_v<V>) {
    return reinterpret_cast<V>(argument.value);
  } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
    return is_real ? static_cast<V>(real) : static_cast<V>(static_cast<int64_t>(argument.value));
  } else {
    return V(static_cast<float>(
        is_real ? real : static_cast<double>(static_cast<int64_t>(argument.value))));
  }
}

template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
  template <int I>
  using Parameter = std::tuple_element_t<I, std::tuple<P...>>;
};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};

}  // namespace OPTIML_SPACE

// What cuda_runtime.h declares for nvcc alone.
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t size,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(static_cast<const void*>(__builtin_addressof(symbol)), source, size,
                              offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t size,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = nullptr) {
  return ::cudaMemcpyToSymbolAsync(static_cast<const void*>(__builtin_addressof(symbol)), source,
                                   size, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t size, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, static_cast<const void*>(__builtin_addressof(symbol)), size,
                                offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t size,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = nullptr) {
  return ::cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(__builtin_addressof(symbol)),
                                     size, offset, kind, stream);
}
template <class P, class T>
inline cudaError_t cudaGetSymbolAddress(P** pointer, const T& symbol) {
  void* address = nullptr;
  const cudaError_t error =
      ::cudaGetSymbolAddress(&address, static_cast<const void*>(__builtin_addressof(symbol)));
  *pointer = static_cast<P*>(address);
  return error;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return ::cudaGetSymbolSize(size, static_cast<const void*>(__builtin_addressof(symbol)));
}
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute,
                                        int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <class... P>
inline cudaError_t cudaFuncSetCacheConfig(void (*kernel)(P...), cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}
template <class... P>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(P...),
                                                                 int threads, size_t shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, shared);
}
template <class... P>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*kernel)(P...),
                                                      size_t shared = 0, int limit = 0) {
  return OPTIML_SPACE_potential(grid, block, reinterpret_cast<const void*>(kernel), shared, limit);
}

// Of CUDA's mathematics for host code. Ties with the standard library's go to the standard library.
template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B,
          class = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
inline double rsqrt(double x) {
  return 1.0 / std::sqrt(x);
}

// Namespaces of device code whose names launchers' files open.
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
