// half and half2 for parsing: the storage, the operators and the functions of CUDA Math API 13.0.
#pragma once

struct __half_raw { unsigned short x; };
struct __align__(2) __half {
  unsigned short __x;
  __half() = default;
  OPTIML_HD constexpr __half(const __half_raw& r) : __x(r.x) {}
  OPTIML_HD __half(float);
  OPTIML_HD __half(double);
  OPTIML_HD __half(int);
  OPTIML_HD __half(unsigned int);
  OPTIML_HD __half(long);
  OPTIML_HD __half(unsigned long);
  OPTIML_HD __half(short);
  OPTIML_HD __half(unsigned short);
  OPTIML_HD __half(long long);
  OPTIML_HD __half(unsigned long long);
  OPTIML_HD operator float() const;
  OPTIML_HD operator __half_raw() const;
  OPTIML_HD __half& operator=(float);
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  OPTIML_HD __half2(const __half& a, const __half& b);
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

#define OPTIML_FLOAT_LIKE_OPERATORS(T)       \
  OPTIML_HD T operator+(const T&, const T&); \
  OPTIML_HD T operator-(const T&, const T&); \
  OPTIML_HD T operator*(const T&, const T&); \
  OPTIML_HD T operator/(const T&, const T&); \
  OPTIML_HD T operator+(const T&);           \
  OPTIML_HD T operator-(const T&);           \
  OPTIML_HD T& operator+=(T&, const T&);     \
  OPTIML_HD T& operator-=(T&, const T&);     \
  OPTIML_HD T& operator*=(T&, const T&);     \
  OPTIML_HD T& operator/=(T&, const T&);     \
  OPTIML_HD bool operator==(const T&, const T&); \
  OPTIML_HD bool operator!=(const T&, const T&); \
  OPTIML_HD bool operator<(const T&, const T&);  \
  OPTIML_HD bool operator>(const T&, const T&);  \
  OPTIML_HD bool operator<=(const T&, const T&); \
  OPTIML_HD bool operator>=(const T&, const T&);

// Functions that half and bfloat16 share; S is a scalar type, V its vector of two.
#define OPTIML_FLOAT_LIKE_FUNCTIONS(S, V)                                                     \
  OPTIML_HD S __hadd(S, S); OPTIML_HD S __hsub(S, S); OPTIML_HD S __hmul(S, S);               \
  OPTIML_HD S __hdiv(S, S); OPTIML_HD S __hadd_rn(S, S); OPTIML_HD S __hmul_rn(S, S);         \
  OPTIML_HD S __hadd_sat(S, S); OPTIML_HD S __hmul_sat(S, S); OPTIML_D S __hfma(S, S, S);     \
  OPTIML_D S __hfma_sat(S, S, S); OPTIML_D S __hfma_relu(S, S, S); OPTIML_HD S __hneg(S);     \
  OPTIML_HD S __habs(S); OPTIML_HD S __hmax(S, S); OPTIML_HD S __hmin(S, S);                  \
  OPTIML_HD S __hmax_nan(S, S); OPTIML_HD S __hmin_nan(S, S);                                 \
  OPTIML_HD bool __heq(S, S); OPTIML_HD bool __hne(S, S); OPTIML_HD bool __hlt(S, S);         \
  OPTIML_HD bool __hle(S, S); OPTIML_HD bool __hgt(S, S); OPTIML_HD bool __hge(S, S);         \
  OPTIML_HD bool __hisnan(S); OPTIML_HD int __hisinf(S);                                      \
  OPTIML_D S hexp(S); OPTIML_D S hexp2(S); OPTIML_D S hexp10(S); OPTIML_D S hlog(S);          \
  OPTIML_D S hlog2(S); OPTIML_D S hlog10(S); OPTIML_D S hsqrt(S); OPTIML_D S hrsqrt(S);       \
  OPTIML_D S hrcp(S); OPTIML_D S hsin(S); OPTIML_D S hcos(S); OPTIML_D S htanh(S);            \
  OPTIML_D S hceil(S); OPTIML_D S hfloor(S); OPTIML_D S htrunc(S); OPTIML_D S hrint(S);       \
  OPTIML_HD V __hadd2(V, V); OPTIML_HD V __hsub2(V, V); OPTIML_HD V __hmul2(V, V);            \
  OPTIML_HD V __h2div(V, V); OPTIML_D V __hfma2(V, V, V); OPTIML_D V __hfma2_relu(V, V, V);   \
  OPTIML_HD V __hneg2(V); OPTIML_HD V __habs2(V); OPTIML_HD V __hmax2(V, V);                  \
  OPTIML_HD V __hmin2(V, V); OPTIML_HD V __hgt2(V, V); OPTIML_HD V __hlt2(V, V);              \
  OPTIML_HD V __heq2(V, V); OPTIML_HD V __hge2(V, V); OPTIML_HD V __hle2(V, V);               \
  OPTIML_D V h2exp(V); OPTIML_D V h2exp2(V); OPTIML_D V h2log(V); OPTIML_D V h2sqrt(V);       \
  OPTIML_D V h2rsqrt(V); OPTIML_D V h2rcp(V); OPTIML_D V h2tanh(V);                           \
  OPTIML_D S __shfl_sync(unsigned int, S, int, int width = 32);                               \
  OPTIML_D S __shfl_up_sync(unsigned int, S, unsigned int, int width = 32);                   \
  OPTIML_D S __shfl_down_sync(unsigned int, S, unsigned int, int width = 32);                 \
  OPTIML_D S __shfl_xor_sync(unsigned int, S, int, int width = 32);                           \
  OPTIML_D V __shfl_sync(unsigned int, V, int, int width = 32);                               \
  OPTIML_D V __shfl_up_sync(unsigned int, V, unsigned int, int width = 32);                   \
  OPTIML_D V __shfl_down_sync(unsigned int, V, unsigned int, int width = 32);                 \
  OPTIML_D V __shfl_xor_sync(unsigned int, V, int, int width = 32);                           \
  OPTIML_D S __ldg(const S*); OPTIML_D V __ldg(const V*); OPTIML_D S __ldcs(const S*);        \
  OPTIML_D V __ldcs(const V*); OPTIML_D S __ldcg(const S*); OPTIML_D V __ldcg(const V*);      \
  OPTIML_D void __stcs(S*, S); OPTIML_D void __stcs(V*, V); OPTIML_D void __stcg(S*, S);      \
  OPTIML_D void __stcg(V*, V); OPTIML_D S atomicAdd(S*, S); OPTIML_D V atomicAdd(V*, V);

OPTIML_FLOAT_LIKE_OPERATORS(__half)
OPTIML_FLOAT_LIKE_OPERATORS(__half2)
OPTIML_FLOAT_LIKE_FUNCTIONS(__half, __half2)

OPTIML_HD __half __float2half(float);
OPTIML_HD __half __float2half_rn(float);
OPTIML_HD __half __float2half_rz(float);
OPTIML_HD __half __float2half_ru(float);
OPTIML_HD __half __float2half_rd(float);
OPTIML_HD __half __double2half(double);
OPTIML_HD float __half2float(__half);
OPTIML_HD __half2 __float2half2_rn(float);
OPTIML_HD __half2 __floats2half2_rn(float, float);
OPTIML_HD __half2 __float22half2_rn(float2);
OPTIML_HD float2 __half22float2(__half2);
OPTIML_HD __half2 __half2half2(__half);
OPTIML_HD __half2 __halves2half2(__half, __half);
OPTIML_HD __half2 make_half2(__half, __half);
OPTIML_HD __half __low2half(__half2);
OPTIML_HD __half __high2half(__half2);
OPTIML_HD float __low2float(__half2);
OPTIML_HD float __high2float(__half2);
OPTIML_HD __half2 __low2half2(__half2);
OPTIML_HD __half2 __high2half2(__half2);
OPTIML_HD __half2 __lowhigh2highlow(__half2);
OPTIML_HD short __half_as_short(__half);
OPTIML_HD unsigned short __half_as_ushort(__half);
OPTIML_HD __half __short_as_half(short);
OPTIML_HD __half __ushort_as_half(unsigned short);
OPTIML_HD int __half2int_rn(__half);
OPTIML_HD int __half2int_rz(__half);
OPTIML_HD int __half2int_rd(__half);
OPTIML_HD int __half2int_ru(__half);
OPTIML_HD __half __int2half_rn(int);
OPTIML_HD __half __uint2half_rn(unsigned int);
OPTIML_HD __half __int2half_rz(int);
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
