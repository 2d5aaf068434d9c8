// Added to CUDA's own headers when a file is parsed with them: what Clang 19's wrapper leaves out.
#pragma once
#include <cassert>
#undef __cluster_dims__
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims", __VA_ARGS__)))

#define OPTIML_CACHE_HINTS(T)        \
  __device__ T __ldca(const T*);     \
  __device__ T __ldcg(const T*);     \
  __device__ T __ldcs(const T*);     \
  __device__ T __ldcv(const T*);     \
  __device__ T __ldlu(const T*);     \
  __device__ void __stwb(T*, T);     \
  __device__ void __stcg(T*, T);     \
  __device__ void __stcs(T*, T);     \
  __device__ void __stwt(T*, T);
OPTIML_CACHE_HINTS(char)
OPTIML_CACHE_HINTS(signed char)
OPTIML_CACHE_HINTS(unsigned char)
OPTIML_CACHE_HINTS(short)
OPTIML_CACHE_HINTS(unsigned short)
OPTIML_CACHE_HINTS(int)
OPTIML_CACHE_HINTS(unsigned int)
OPTIML_CACHE_HINTS(long)
OPTIML_CACHE_HINTS(unsigned long)
OPTIML_CACHE_HINTS(long long)
OPTIML_CACHE_HINTS(unsigned long long)
OPTIML_CACHE_HINTS(float)
OPTIML_CACHE_HINTS(double)
OPTIML_CACHE_HINTS(int2)
OPTIML_CACHE_HINTS(int4)
OPTIML_CACHE_HINTS(uint2)
OPTIML_CACHE_HINTS(uint4)
OPTIML_CACHE_HINTS(float2)
OPTIML_CACHE_HINTS(float4)
OPTIML_CACHE_HINTS(double2)

// nvcc's host code has these too.
#define OPTIML_MIN_MAX(R, A, B)         \
  __host__ R min(A, B);                 \
  __host__ R max(A, B);
OPTIML_MIN_MAX(int, int, int)
OPTIML_MIN_MAX(unsigned int, unsigned int, unsigned int)
OPTIML_MIN_MAX(long, long, long)
OPTIML_MIN_MAX(unsigned long, unsigned long, unsigned long)
OPTIML_MIN_MAX(long long, long long, long long)
OPTIML_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
OPTIML_MIN_MAX(float, float, float)
OPTIML_MIN_MAX(double, double, double)
OPTIML_MIN_MAX(unsigned int, int, unsigned int)
OPTIML_MIN_MAX(unsigned int, unsigned int, int)
OPTIML_MIN_MAX(unsigned long, long, unsigned long)
OPTIML_MIN_MAX(unsigned long, unsigned long, long)
OPTIML_MIN_MAX(unsigned long long, long long, unsigned long long)
OPTIML_MIN_MAX(unsigned long long, unsigned long long, long long)
OPTIML_MIN_MAX(double, float, double)
OPTIML_MIN_MAX(double, double, float)
#undef OPTIML_MIN_MAX
