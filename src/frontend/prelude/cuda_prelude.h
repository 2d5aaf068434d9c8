// What CUDA C++ offers without any include, declared for parsing only: nothing here has a body that
// runs. Names and signatures follow the CUDA C++ Programming Guide and the CUDA Runtime API
// reference, version 13.0. The file is embedded in the binary.
#pragma once

#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __NVCC__ 1
#define __CUDACC__ 1

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims", __VA_ARGS__)))
#define __maxnreg__(n)
#define __block_size__(...)
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __nv_pure__
#define __nv_is_extended_device_lambda_closure_type(x) false
#define CUDART_CB
#define CUDARTAPI
// Clang refuses the C++11 spelling after __shared__.
#define alignas(x) __attribute__((aligned(x)))

#define OPTIML_HD __attribute__((host)) __attribute__((device))
#define OPTIML_D __attribute__((device))
#define OPTIML_H __attribute__((host))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long clock_t;
typedef long time_t;

#define NULL 0
#undef NULL
#define NULL __null
#define offsetof(t, m) __builtin_offsetof(t, m)
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define CUDART_INF_F __int_as_float(0x7f800000U)
#define CUDART_NAN_F __int_as_float(0x7fffffffU)
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L - 1L)
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

// ---- vector types

struct __attribute__((aligned(1))) char1 { signed char x; };
struct __attribute__((aligned(2))) char2 { signed char x, y; };
struct __attribute__((aligned(1))) char3 { signed char x, y, z; };
struct __attribute__((aligned(4))) char4 { signed char x, y, z, w; };
OPTIML_HD char1 make_char1(signed char x);
OPTIML_HD char2 make_char2(signed char x, signed char y);
OPTIML_HD char3 make_char3(signed char x, signed char y, signed char z);
OPTIML_HD char4 make_char4(signed char x, signed char y, signed char z, signed char w);
struct __attribute__((aligned(1))) uchar1 { unsigned char x; };
struct __attribute__((aligned(2))) uchar2 { unsigned char x, y; };
struct __attribute__((aligned(1))) uchar3 { unsigned char x, y, z; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
OPTIML_HD uchar1 make_uchar1(unsigned char x);
OPTIML_HD uchar2 make_uchar2(unsigned char x, unsigned char y);
OPTIML_HD uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z);
OPTIML_HD uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w);
struct __attribute__((aligned(2))) short1 { short x; };
struct __attribute__((aligned(4))) short2 { short x, y; };
struct __attribute__((aligned(2))) short3 { short x, y, z; };
struct __attribute__((aligned(8))) short4 { short x, y, z, w; };
OPTIML_HD short1 make_short1(short x);
OPTIML_HD short2 make_short2(short x, short y);
OPTIML_HD short3 make_short3(short x, short y, short z);
OPTIML_HD short4 make_short4(short x, short y, short z, short w);
struct __attribute__((aligned(2))) ushort1 { unsigned short x; };
struct __attribute__((aligned(4))) ushort2 { unsigned short x, y; };
struct __attribute__((aligned(2))) ushort3 { unsigned short x, y, z; };
struct __attribute__((aligned(8))) ushort4 { unsigned short x, y, z, w; };
OPTIML_HD ushort1 make_ushort1(unsigned short x);
OPTIML_HD ushort2 make_ushort2(unsigned short x, unsigned short y);
OPTIML_HD ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z);
OPTIML_HD ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w);
struct __attribute__((aligned(4))) int1 { int x; };
struct __attribute__((aligned(8))) int2 { int x, y; };
struct __attribute__((aligned(4))) int3 { int x, y, z; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
OPTIML_HD int1 make_int1(int x);
OPTIML_HD int2 make_int2(int x, int y);
OPTIML_HD int3 make_int3(int x, int y, int z);
OPTIML_HD int4 make_int4(int x, int y, int z, int w);
struct __attribute__((aligned(4))) uint1 { unsigned int x; };
struct __attribute__((aligned(8))) uint2 { unsigned int x, y; };
struct __attribute__((aligned(4))) uint3 { unsigned int x, y, z; };
struct __attribute__((aligned(16))) uint4 { unsigned int x, y, z, w; };
OPTIML_HD uint1 make_uint1(unsigned int x);
OPTIML_HD uint2 make_uint2(unsigned int x, unsigned int y);
OPTIML_HD uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z);
OPTIML_HD uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w);
struct __attribute__((aligned(8))) long1 { long x; };
struct __attribute__((aligned(16))) long2 { long x, y; };
struct __attribute__((aligned(8))) long3 { long x, y, z; };
struct __attribute__((aligned(16))) long4 { long x, y, z, w; };
OPTIML_HD long1 make_long1(long x);
OPTIML_HD long2 make_long2(long x, long y);
OPTIML_HD long3 make_long3(long x, long y, long z);
OPTIML_HD long4 make_long4(long x, long y, long z, long w);
struct __attribute__((aligned(8))) ulong1 { unsigned long x; };
struct __attribute__((aligned(16))) ulong2 { unsigned long x, y; };
struct __attribute__((aligned(8))) ulong3 { unsigned long x, y, z; };
struct __attribute__((aligned(16))) ulong4 { unsigned long x, y, z, w; };
OPTIML_HD ulong1 make_ulong1(unsigned long x);
OPTIML_HD ulong2 make_ulong2(unsigned long x, unsigned long y);
OPTIML_HD ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z);
OPTIML_HD ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w);
struct __attribute__((aligned(8))) longlong1 { long long x; };
struct __attribute__((aligned(16))) longlong2 { long long x, y; };
struct __attribute__((aligned(8))) longlong3 { long long x, y, z; };
struct __attribute__((aligned(16))) longlong4 { long long x, y, z, w; };
OPTIML_HD longlong1 make_longlong1(long long x);
OPTIML_HD longlong2 make_longlong2(long long x, long long y);
OPTIML_HD longlong3 make_longlong3(long long x, long long y, long long z);
OPTIML_HD longlong4 make_longlong4(long long x, long long y, long long z, long long w);
struct __attribute__((aligned(8))) ulonglong1 { unsigned long long x; };
struct __attribute__((aligned(16))) ulonglong2 { unsigned long long x, y; };
struct __attribute__((aligned(8))) ulonglong3 { unsigned long long x, y, z; };
struct __attribute__((aligned(16))) ulonglong4 { unsigned long long x, y, z, w; };
OPTIML_HD ulonglong1 make_ulonglong1(unsigned long long x);
OPTIML_HD ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y);
OPTIML_HD ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z);
OPTIML_HD ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w);
struct __attribute__((aligned(4))) float1 { float x; };
struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(4))) float3 { float x, y, z; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
OPTIML_HD float1 make_float1(float x);
OPTIML_HD float2 make_float2(float x, float y);
OPTIML_HD float3 make_float3(float x, float y, float z);
OPTIML_HD float4 make_float4(float x, float y, float z, float w);
struct __attribute__((aligned(8))) double1 { double x; };
struct __attribute__((aligned(16))) double2 { double x, y; };
struct __attribute__((aligned(8))) double3 { double x, y, z; };
struct __attribute__((aligned(16))) double4 { double x, y, z, w; };
OPTIML_HD double1 make_double1(double x);
OPTIML_HD double2 make_double2(double x, double y);
OPTIML_HD double3 make_double3(double x, double y, double z);
OPTIML_HD double4 make_double4(double x, double y, double z, double w);

struct dim3 {
  unsigned int x, y, z;
  OPTIML_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  OPTIML_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  OPTIML_HD constexpr operator uint3() const { return uint3{x, y, z}; }
};

extern const OPTIML_D uint3 threadIdx;
extern const OPTIML_D uint3 blockIdx;
extern const OPTIML_D dim3 blockDim;
extern const OPTIML_D dim3 gridDim;
extern const OPTIML_D int warpSize;

// ---- the part of namespace std that kernels and launchers use
namespace __optiml {
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <class T> struct is_integer { static constexpr bool value = __is_integral(T); };
template <class T> struct is_number { static constexpr bool value = __is_arithmetic(T); };
template <class A, class B> struct is_float_pair { static constexpr bool value = false; };
template <> struct is_float_pair<float, float> { static constexpr bool value = true; };
template <> struct is_float_pair<double, double> { static constexpr bool value = true; };
}  // namespace __optiml

// ---- mathematical functions: float and double, integers promote to double

extern "C" OPTIML_HD double sqrt(double);
extern "C" OPTIML_HD float sqrtf(float);
OPTIML_HD float sqrt(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type sqrt(T);
extern "C" OPTIML_HD double cbrt(double);
extern "C" OPTIML_HD float cbrtf(float);
OPTIML_HD float cbrt(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type cbrt(T);
extern "C" OPTIML_HD double exp(double);
extern "C" OPTIML_HD float expf(float);
OPTIML_HD float exp(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type exp(T);
extern "C" OPTIML_HD double exp2(double);
extern "C" OPTIML_HD float exp2f(float);
OPTIML_HD float exp2(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type exp2(T);
extern "C" OPTIML_HD double expm1(double);
extern "C" OPTIML_HD float expm1f(float);
OPTIML_HD float expm1(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type expm1(T);
extern "C" OPTIML_HD double log(double);
extern "C" OPTIML_HD float logf(float);
OPTIML_HD float log(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type log(T);
extern "C" OPTIML_HD double log2(double);
extern "C" OPTIML_HD float log2f(float);
OPTIML_HD float log2(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type log2(T);
extern "C" OPTIML_HD double log10(double);
extern "C" OPTIML_HD float log10f(float);
OPTIML_HD float log10(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type log10(T);
extern "C" OPTIML_HD double log1p(double);
extern "C" OPTIML_HD float log1pf(float);
OPTIML_HD float log1p(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type log1p(T);
extern "C" OPTIML_HD double sin(double);
extern "C" OPTIML_HD float sinf(float);
OPTIML_HD float sin(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type sin(T);
extern "C" OPTIML_HD double cos(double);
extern "C" OPTIML_HD float cosf(float);
OPTIML_HD float cos(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type cos(T);
extern "C" OPTIML_HD double tan(double);
extern "C" OPTIML_HD float tanf(float);
OPTIML_HD float tan(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type tan(T);
extern "C" OPTIML_HD double asin(double);
extern "C" OPTIML_HD float asinf(float);
OPTIML_HD float asin(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type asin(T);
extern "C" OPTIML_HD double acos(double);
extern "C" OPTIML_HD float acosf(float);
OPTIML_HD float acos(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type acos(T);
extern "C" OPTIML_HD double atan(double);
extern "C" OPTIML_HD float atanf(float);
OPTIML_HD float atan(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type atan(T);
extern "C" OPTIML_HD double sinh(double);
extern "C" OPTIML_HD float sinhf(float);
OPTIML_HD float sinh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type sinh(T);
extern "C" OPTIML_HD double cosh(double);
extern "C" OPTIML_HD float coshf(float);
OPTIML_HD float cosh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type cosh(T);
extern "C" OPTIML_HD double tanh(double);
extern "C" OPTIML_HD float tanhf(float);
OPTIML_HD float tanh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type tanh(T);
extern "C" OPTIML_HD double asinh(double);
extern "C" OPTIML_HD float asinhf(float);
OPTIML_HD float asinh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type asinh(T);
extern "C" OPTIML_HD double acosh(double);
extern "C" OPTIML_HD float acoshf(float);
OPTIML_HD float acosh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type acosh(T);
extern "C" OPTIML_HD double atanh(double);
extern "C" OPTIML_HD float atanhf(float);
OPTIML_HD float atanh(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type atanh(T);
extern "C" OPTIML_HD double erf(double);
extern "C" OPTIML_HD float erff(float);
OPTIML_HD float erf(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type erf(T);
extern "C" OPTIML_HD double erfc(double);
extern "C" OPTIML_HD float erfcf(float);
OPTIML_HD float erfc(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type erfc(T);
extern "C" OPTIML_HD double tgamma(double);
extern "C" OPTIML_HD float tgammaf(float);
OPTIML_HD float tgamma(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type tgamma(T);
extern "C" OPTIML_HD double lgamma(double);
extern "C" OPTIML_HD float lgammaf(float);
OPTIML_HD float lgamma(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type lgamma(T);
extern "C" OPTIML_HD double ceil(double);
extern "C" OPTIML_HD float ceilf(float);
OPTIML_HD float ceil(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type ceil(T);
extern "C" OPTIML_HD double floor(double);
extern "C" OPTIML_HD float floorf(float);
OPTIML_HD float floor(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type floor(T);
extern "C" OPTIML_HD double trunc(double);
extern "C" OPTIML_HD float truncf(float);
OPTIML_HD float trunc(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type trunc(T);
extern "C" OPTIML_HD double round(double);
extern "C" OPTIML_HD float roundf(float);
OPTIML_HD float round(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type round(T);
extern "C" OPTIML_HD double rint(double);
extern "C" OPTIML_HD float rintf(float);
OPTIML_HD float rint(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type rint(T);
extern "C" OPTIML_HD double nearbyint(double);
extern "C" OPTIML_HD float nearbyintf(float);
OPTIML_HD float nearbyint(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type nearbyint(T);
extern "C" OPTIML_HD double fabs(double);
extern "C" OPTIML_HD float fabsf(float);
OPTIML_HD float fabs(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type fabs(T);
extern "C" OPTIML_HD double logb(double);
extern "C" OPTIML_HD float logbf(float);
OPTIML_HD float logb(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type logb(T);
extern "C" OPTIML_HD double rsqrt(double);
extern "C" OPTIML_HD float rsqrtf(float);
OPTIML_HD float rsqrt(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type rsqrt(T);
extern "C" OPTIML_HD double rcbrt(double);
extern "C" OPTIML_HD float rcbrtf(float);
OPTIML_HD float rcbrt(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type rcbrt(T);
extern "C" OPTIML_HD double sinpi(double);
extern "C" OPTIML_HD float sinpif(float);
OPTIML_HD float sinpi(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type sinpi(T);
extern "C" OPTIML_HD double cospi(double);
extern "C" OPTIML_HD float cospif(float);
OPTIML_HD float cospi(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type cospi(T);
extern "C" OPTIML_HD double tanpi(double);
extern "C" OPTIML_HD float tanpif(float);
OPTIML_HD float tanpi(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type tanpi(T);
extern "C" OPTIML_HD double exp10(double);
extern "C" OPTIML_HD float exp10f(float);
OPTIML_HD float exp10(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type exp10(T);
extern "C" OPTIML_HD double erfinv(double);
extern "C" OPTIML_HD float erfinvf(float);
OPTIML_HD float erfinv(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type erfinv(T);
extern "C" OPTIML_HD double erfcinv(double);
extern "C" OPTIML_HD float erfcinvf(float);
OPTIML_HD float erfcinv(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type erfcinv(T);
extern "C" OPTIML_HD double erfcx(double);
extern "C" OPTIML_HD float erfcxf(float);
OPTIML_HD float erfcx(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type erfcx(T);
extern "C" OPTIML_HD double normcdf(double);
extern "C" OPTIML_HD float normcdff(float);
OPTIML_HD float normcdf(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type normcdf(T);
extern "C" OPTIML_HD double normcdfinv(double);
extern "C" OPTIML_HD float normcdfinvf(float);
OPTIML_HD float normcdfinv(float);
template <class T> OPTIML_HD typename __optiml::enable_if<__optiml::is_integer<T>::value, double>::type normcdfinv(T);
extern "C" OPTIML_HD double j0(double);
extern "C" OPTIML_HD float j0f(float);
extern "C" OPTIML_HD double j1(double);
extern "C" OPTIML_HD float j1f(float);
extern "C" OPTIML_HD double y0(double);
extern "C" OPTIML_HD float y0f(float);
extern "C" OPTIML_HD double y1(double);
extern "C" OPTIML_HD float y1f(float);
extern "C" OPTIML_HD double cyl_bessel_i0(double);
extern "C" OPTIML_HD float cyl_bessel_i0f(float);
extern "C" OPTIML_HD double cyl_bessel_i1(double);
extern "C" OPTIML_HD float cyl_bessel_i1f(float);
extern "C" OPTIML_HD double pow(double, double);
extern "C" OPTIML_HD float powf(float, float);
OPTIML_HD float pow(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type pow(A, B);
extern "C" OPTIML_HD double fmod(double, double);
extern "C" OPTIML_HD float fmodf(float, float);
OPTIML_HD float fmod(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type fmod(A, B);
extern "C" OPTIML_HD double atan2(double, double);
extern "C" OPTIML_HD float atan2f(float, float);
OPTIML_HD float atan2(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type atan2(A, B);
extern "C" OPTIML_HD double hypot(double, double);
extern "C" OPTIML_HD float hypotf(float, float);
OPTIML_HD float hypot(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type hypot(A, B);
extern "C" OPTIML_HD double fmax(double, double);
extern "C" OPTIML_HD float fmaxf(float, float);
OPTIML_HD float fmax(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type fmax(A, B);
extern "C" OPTIML_HD double fmin(double, double);
extern "C" OPTIML_HD float fminf(float, float);
OPTIML_HD float fmin(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type fmin(A, B);
extern "C" OPTIML_HD double fdim(double, double);
extern "C" OPTIML_HD float fdimf(float, float);
OPTIML_HD float fdim(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type fdim(A, B);
extern "C" OPTIML_HD double copysign(double, double);
extern "C" OPTIML_HD float copysignf(float, float);
OPTIML_HD float copysign(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type copysign(A, B);
extern "C" OPTIML_HD double remainder(double, double);
extern "C" OPTIML_HD float remainderf(float, float);
OPTIML_HD float remainder(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type remainder(A, B);
extern "C" OPTIML_HD double nextafter(double, double);
extern "C" OPTIML_HD float nextafterf(float, float);
OPTIML_HD float nextafter(float, float);
template <class A, class B> OPTIML_HD typename __optiml::enable_if<__optiml::is_number<A>::value && __optiml::is_number<B>::value && !__optiml::is_float_pair<A, B>::value, double>::type nextafter(A, B);
extern "C" OPTIML_HD double fma(double, double, double);
extern "C" OPTIML_HD double ldexp(double, int);
extern "C" OPTIML_HD double scalbn(double, int);
extern "C" OPTIML_HD double frexp(double, int*);
extern "C" OPTIML_HD double modf(double, double*);
extern "C" OPTIML_HD int ilogb(double);
extern "C" OPTIML_HD long lround(double);
extern "C" OPTIML_HD long lrint(double);
extern "C" OPTIML_HD long long llround(double);
extern "C" OPTIML_HD long long llrint(double);
extern "C" OPTIML_D void sincos(double, double*, double*);
extern "C" OPTIML_D void sincospi(double, double*, double*);
extern "C" OPTIML_D double norm3d(double, double, double);
extern "C" OPTIML_D double rnorm3d(double, double, double);
extern "C" OPTIML_D double rhypot(double, double);
extern "C" OPTIML_HD float fmaf(float, float, float);
extern "C" OPTIML_HD float ldexpf(float, int);
extern "C" OPTIML_HD float scalbnf(float, int);
extern "C" OPTIML_HD float frexpf(float, int*);
extern "C" OPTIML_HD float modff(float, float*);
extern "C" OPTIML_HD int ilogbf(float);
extern "C" OPTIML_HD long lroundf(float);
extern "C" OPTIML_HD long lrintf(float);
extern "C" OPTIML_HD long long llroundf(float);
extern "C" OPTIML_HD long long llrintf(float);
extern "C" OPTIML_D void sincosf(float, float*, float*);
extern "C" OPTIML_D void sincospif(float, float*, float*);
extern "C" OPTIML_D float norm3df(float, float, float);
extern "C" OPTIML_D float rnorm3df(float, float, float);
extern "C" OPTIML_D float rhypotf(float, float);
OPTIML_HD float fma(float, float, float);
OPTIML_HD float ldexp(float, int);
OPTIML_HD float scalbn(float, int);
OPTIML_HD float frexp(float, int*);
OPTIML_HD float modf(float, float*);
OPTIML_HD long lround(float);
OPTIML_HD long lrint(float);
OPTIML_HD long long llround(float);
OPTIML_HD long long llrint(float);
OPTIML_HD int ilogb(float);
OPTIML_D void sincos(float, float*, float*);
OPTIML_HD constexpr bool isnan(float);
OPTIML_HD constexpr bool isnan(double);
OPTIML_HD constexpr bool isinf(float);
OPTIML_HD constexpr bool isinf(double);
OPTIML_HD constexpr bool isfinite(float);
OPTIML_HD constexpr bool isfinite(double);
OPTIML_HD constexpr bool signbit(float);
OPTIML_HD constexpr bool signbit(double);
OPTIML_HD constexpr bool isnormal(float);
OPTIML_HD constexpr bool isnormal(double);
extern "C" OPTIML_HD int abs(int) noexcept;
extern "C" OPTIML_HD long labs(long) noexcept;
extern "C" OPTIML_HD long long llabs(long long) noexcept;
OPTIML_HD long abs(long);
OPTIML_HD long long abs(long long);
OPTIML_HD float abs(float);
OPTIML_HD double abs(double);

OPTIML_HD int min(int, int);
OPTIML_HD unsigned int min(unsigned int, unsigned int);
OPTIML_HD long min(long, long);
OPTIML_HD unsigned long min(unsigned long, unsigned long);
OPTIML_HD long long min(long long, long long);
OPTIML_HD unsigned long long min(unsigned long long, unsigned long long);
OPTIML_HD float min(float, float);
OPTIML_HD double min(double, double);
OPTIML_HD unsigned int min(int, unsigned int);
OPTIML_HD unsigned int min(unsigned int, int);
OPTIML_HD unsigned long min(long, unsigned long);
OPTIML_HD unsigned long min(unsigned long, long);
OPTIML_HD unsigned long long min(long long, unsigned long long);
OPTIML_HD unsigned long long min(unsigned long long, long long);
OPTIML_HD double min(float, double);
OPTIML_HD double min(double, float);
OPTIML_HD int max(int, int);
OPTIML_HD unsigned int max(unsigned int, unsigned int);
OPTIML_HD long max(long, long);
OPTIML_HD unsigned long max(unsigned long, unsigned long);
OPTIML_HD long long max(long long, long long);
OPTIML_HD unsigned long long max(unsigned long long, unsigned long long);
OPTIML_HD float max(float, float);
OPTIML_HD double max(double, double);
OPTIML_HD unsigned int max(int, unsigned int);
OPTIML_HD unsigned int max(unsigned int, int);
OPTIML_HD unsigned long max(long, unsigned long);
OPTIML_HD unsigned long max(unsigned long, long);
OPTIML_HD unsigned long long max(long long, unsigned long long);
OPTIML_HD unsigned long long max(unsigned long long, long long);
OPTIML_HD double max(float, double);
OPTIML_HD double max(double, float);
OPTIML_HD unsigned int umin(unsigned int, unsigned int);
OPTIML_HD unsigned int umax(unsigned int, unsigned int);
OPTIML_HD long long llmin(long long, long long);
OPTIML_HD long long llmax(long long, long long);
OPTIML_HD unsigned long long ullmin(unsigned long long, unsigned long long);
OPTIML_HD unsigned long long ullmax(unsigned long long, unsigned long long);

namespace std {
using ::size_t;
using ::ptrdiff_t;
typedef decltype(nullptr) nullptr_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  typedef T value_type;
  typedef integral_constant type;
  OPTIML_HD constexpr operator T() const { return V; }
  OPTIML_HD constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { typedef T type; };
template <class T, class F> struct conditional<false, T, F> { typedef F type; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct decay { typedef remove_cv_t<remove_reference_t<T>> type; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct is_integral : bool_constant<__is_integral(T)> {};
template <class T> struct is_floating_point : bool_constant<__is_floating_point(T)> {};
template <class T> struct is_arithmetic : bool_constant<__is_arithmetic(T)> {};
template <class T> struct is_signed : bool_constant<__is_signed(T)> {};
template <class T> struct is_unsigned : bool_constant<__is_unsigned(T)> {};
template <class T> struct is_pointer : bool_constant<__is_pointer(T)> {};
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> struct make_unsigned { typedef __make_unsigned(T) type; };
template <class T> struct make_signed { typedef __make_signed(T) type; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> struct type_identity { typedef T type; };
template <class T> OPTIML_HD constexpr remove_reference_t<T>&& move(T&& v) noexcept {
  return static_cast<remove_reference_t<T>&&>(v);
}
template <class T> OPTIML_HD constexpr T&& forward(remove_reference_t<T>& v) noexcept {
  return static_cast<T&&>(v);
}
template <class T> OPTIML_HD void swap(T& a, T& b);
template <class T> OPTIML_HD constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> OPTIML_HD constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> OPTIML_HD constexpr const T& clamp(const T& v, const T& lo, const T& hi) {
  return v < lo ? lo : hi < v ? hi : v;
}
template <class E> class initializer_list {
  const E* begin_;
  size_t size_;
 public:
  OPTIML_HD constexpr initializer_list() noexcept : begin_(nullptr), size_(0) {}
  OPTIML_HD constexpr size_t size() const noexcept { return size_; }
  OPTIML_HD constexpr const E* begin() const noexcept { return begin_; }
  OPTIML_HD constexpr const E* end() const noexcept { return begin_ + size_; }
};
template <class T> OPTIML_HD constexpr T min(initializer_list<T> list);
template <class T> OPTIML_HD constexpr T max(initializer_list<T> list);
template <class T> struct numeric_limits;
template <> struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_integer = false, has_infinity = true;
  OPTIML_HD static constexpr float min() noexcept { return FLT_MIN; }
  OPTIML_HD static constexpr float max() noexcept { return FLT_MAX; }
  OPTIML_HD static constexpr float lowest() noexcept { return -FLT_MAX; }
  OPTIML_HD static constexpr float infinity() noexcept { return __builtin_huge_valf(); }
  OPTIML_HD static constexpr float quiet_NaN() noexcept { return __builtin_nanf(""); }
  OPTIML_HD static constexpr float epsilon() noexcept { return FLT_EPSILON; }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_integer = false, has_infinity = true;
  OPTIML_HD static constexpr double min() noexcept { return DBL_MIN; }
  OPTIML_HD static constexpr double max() noexcept { return DBL_MAX; }
  OPTIML_HD static constexpr double lowest() noexcept { return -DBL_MAX; }
  OPTIML_HD static constexpr double infinity() noexcept { return __builtin_huge_val(); }
  OPTIML_HD static constexpr double quiet_NaN() noexcept { return __builtin_nan(""); }
  OPTIML_HD static constexpr double epsilon() noexcept { return DBL_EPSILON; }
};
template <> struct numeric_limits<int> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr int min() noexcept { return INT_MIN; }
  OPTIML_HD static constexpr int max() noexcept { return INT_MAX; }
  OPTIML_HD static constexpr int lowest() noexcept { return INT_MIN; }
};
template <> struct numeric_limits<unsigned int> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr unsigned int min() noexcept { return 0; }
  OPTIML_HD static constexpr unsigned int max() noexcept { return UINT_MAX; }
  OPTIML_HD static constexpr unsigned int lowest() noexcept { return 0; }
};
template <> struct numeric_limits<long> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr long min() noexcept { return LONG_MIN; }
  OPTIML_HD static constexpr long max() noexcept { return LONG_MAX; }
  OPTIML_HD static constexpr long lowest() noexcept { return LONG_MIN; }
};
template <> struct numeric_limits<unsigned long> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr unsigned long min() noexcept { return 0; }
  OPTIML_HD static constexpr unsigned long max() noexcept { return ULONG_MAX; }
  OPTIML_HD static constexpr unsigned long lowest() noexcept { return 0; }
};
template <> struct numeric_limits<long long> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr long long min() noexcept { return LLONG_MIN; }
  OPTIML_HD static constexpr long long max() noexcept { return LLONG_MAX; }
  OPTIML_HD static constexpr long long lowest() noexcept { return LLONG_MIN; }
};
template <> struct numeric_limits<unsigned long long> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr unsigned long long min() noexcept { return 0; }
  OPTIML_HD static constexpr unsigned long long max() noexcept { return ULLONG_MAX; }
  OPTIML_HD static constexpr unsigned long long lowest() noexcept { return 0; }
};
template <> struct numeric_limits<short> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr short min() noexcept { return SHRT_MIN; }
  OPTIML_HD static constexpr short max() noexcept { return SHRT_MAX; }
  OPTIML_HD static constexpr short lowest() noexcept { return SHRT_MIN; }
};
template <> struct numeric_limits<unsigned short> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr unsigned short min() noexcept { return 0; }
  OPTIML_HD static constexpr unsigned short max() noexcept { return USHRT_MAX; }
  OPTIML_HD static constexpr unsigned short lowest() noexcept { return 0; }
};
template <> struct numeric_limits<signed char> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr signed char min() noexcept { return SCHAR_MIN; }
  OPTIML_HD static constexpr signed char max() noexcept { return SCHAR_MAX; }
  OPTIML_HD static constexpr signed char lowest() noexcept { return SCHAR_MIN; }
};
template <> struct numeric_limits<unsigned char> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr unsigned char min() noexcept { return 0; }
  OPTIML_HD static constexpr unsigned char max() noexcept { return UCHAR_MAX; }
  OPTIML_HD static constexpr unsigned char lowest() noexcept { return 0; }
};
template <> struct numeric_limits<char> {
  static constexpr bool is_specialized = true, is_integer = true, has_infinity = false;
  OPTIML_HD static constexpr char min() noexcept { return CHAR_MIN; }
  OPTIML_HD static constexpr char max() noexcept { return CHAR_MAX; }
  OPTIML_HD static constexpr char lowest() noexcept { return CHAR_MIN; }
};
using ::sqrt;
using ::cbrt;
using ::exp;
using ::exp2;
using ::expm1;
using ::log;
using ::log2;
using ::log10;
using ::log1p;
using ::sin;
using ::cos;
using ::tan;
using ::asin;
using ::acos;
using ::atan;
using ::sinh;
using ::cosh;
using ::tanh;
using ::asinh;
using ::acosh;
using ::atanh;
using ::erf;
using ::erfc;
using ::tgamma;
using ::lgamma;
using ::ceil;
using ::floor;
using ::trunc;
using ::round;
using ::rint;
using ::nearbyint;
using ::fabs;
using ::logb;
using ::pow;
using ::fmod;
using ::atan2;
using ::hypot;
using ::fmax;
using ::fmin;
using ::fdim;
using ::copysign;
using ::remainder;
using ::nextafter;
using ::abs;
using ::fma;
using ::ldexp;
using ::scalbn;
using ::frexp;
using ::modf;
using ::lround;
using ::lrint;
using ::llround;
using ::llrint;
using ::ilogb;
using ::isnan;
using ::isinf;
using ::isfinite;
using ::signbit;
using ::isnormal;
using ::sqrtf;
using ::cbrtf;
using ::expf;
using ::exp2f;
using ::expm1f;
using ::logf;
using ::log2f;
using ::log10f;
using ::log1pf;
using ::sinf;
using ::cosf;
using ::tanf;
using ::asinf;
using ::acosf;
using ::atanf;
using ::sinhf;
using ::coshf;
using ::tanhf;
using ::asinhf;
using ::acoshf;
using ::atanhf;
using ::erff;
using ::erfcf;
using ::tgammaf;
using ::lgammaf;
using ::ceilf;
using ::floorf;
using ::truncf;
using ::roundf;
using ::rintf;
using ::nearbyintf;
using ::fabsf;
using ::logbf;
using ::powf;
using ::fmodf;
using ::atan2f;
using ::hypotf;
using ::fmaxf;
using ::fminf;
using ::fdimf;
using ::copysignf;
using ::remainderf;
using ::nextafterf;
}  // namespace std

// ---- device intrinsics
OPTIML_D void __syncthreads();
OPTIML_D int __syncthreads_count(int);
OPTIML_D int __syncthreads_and(int);
OPTIML_D int __syncthreads_or(int);
OPTIML_D void __syncwarp(unsigned int mask = 0xffffffffu);
OPTIML_D void __threadfence();
OPTIML_D void __threadfence_block();
OPTIML_D void __threadfence_system();
OPTIML_D unsigned int __activemask();
OPTIML_D int __all_sync(unsigned int, int);
OPTIML_D int __any_sync(unsigned int, int);
OPTIML_D unsigned int __ballot_sync(unsigned int, int);
OPTIML_D int __popc(unsigned int);
OPTIML_D int __popcll(unsigned long long);
OPTIML_D int __clz(int);
OPTIML_D int __clzll(long long);
OPTIML_D int __ffs(int);
OPTIML_D int __ffsll(long long);
OPTIML_D unsigned int __brev(unsigned int);
OPTIML_D unsigned long long __brevll(unsigned long long);
OPTIML_D unsigned int __byte_perm(unsigned int, unsigned int, unsigned int);
OPTIML_D unsigned int __funnelshift_l(unsigned int, unsigned int, unsigned int);
OPTIML_D unsigned int __funnelshift_r(unsigned int, unsigned int, unsigned int);
OPTIML_D unsigned int __funnelshift_lc(unsigned int, unsigned int, unsigned int);
OPTIML_D unsigned int __funnelshift_rc(unsigned int, unsigned int, unsigned int);
OPTIML_D int __mul24(int, int);
OPTIML_D unsigned int __umul24(unsigned int, unsigned int);
OPTIML_D int __mulhi(int, int);
OPTIML_D unsigned int __umulhi(unsigned int, unsigned int);
OPTIML_D long long __mul64hi(long long, long long);
OPTIML_D unsigned long long __umul64hi(unsigned long long, unsigned long long);
OPTIML_D unsigned int __sad(int, int, unsigned int);
OPTIML_D unsigned int __usad(unsigned int, unsigned int, unsigned int);
OPTIML_D int __hadd(int, int);
OPTIML_D int __rhadd(int, int);
OPTIML_D unsigned int __uhadd(unsigned int, unsigned int);
OPTIML_D int __dp4a(int, int, int);
OPTIML_D unsigned int __dp4a(unsigned int, unsigned int, unsigned int);
OPTIML_D int __dp2a_lo(int, int, int);
OPTIML_D int __dp2a_hi(int, int, int);
OPTIML_D float __expf(float);
OPTIML_D float __exp10f(float);
OPTIML_D float __logf(float);
OPTIML_D float __log2f(float);
OPTIML_D float __log10f(float);
OPTIML_D float __sinf(float);
OPTIML_D float __cosf(float);
OPTIML_D float __tanf(float);
OPTIML_D float __tanhf(float);
OPTIML_D float __powf(float, float);
OPTIML_D float __fdividef(float, float);
OPTIML_D double __fdividef(double, double);
OPTIML_D float __saturatef(float);
OPTIML_D void __sincosf(float, float*, float*);
OPTIML_D float __frcp_rn(float);
OPTIML_D float __frsqrt_rn(float);
OPTIML_D float __fsqrt_rn(float);
OPTIML_D float __fdiv_rn(float, float);
OPTIML_D float __fadd_rn(float, float);
OPTIML_D float __fsub_rn(float, float);
OPTIML_D float __fmul_rn(float, float);
OPTIML_D float __fmaf_rn(float, float, float);
OPTIML_D float __fadd_rz(float, float);
OPTIML_D float __fadd_ru(float, float);
OPTIML_D float __fadd_rd(float, float);
OPTIML_D float __fmul_rz(float, float);
OPTIML_D float __fmul_ru(float, float);
OPTIML_D float __fmul_rd(float, float);
OPTIML_D float __fmaf_rz(float, float, float);
OPTIML_D float __fmaf_ru(float, float, float);
OPTIML_D float __fmaf_rd(float, float, float);
OPTIML_D double __dadd_rn(double, double);
OPTIML_D double __dsub_rn(double, double);
OPTIML_D double __dmul_rn(double, double);
OPTIML_D double __ddiv_rn(double, double);
OPTIML_D double __dsqrt_rn(double);
OPTIML_D double __drcp_rn(double);
OPTIML_D double __fma_rn(double, double, double);
OPTIML_D int __float_as_int(float);
OPTIML_D unsigned int __float_as_uint(float);
OPTIML_D float __int_as_float(int);
OPTIML_D float __uint_as_float(unsigned int);
OPTIML_D long long __double_as_longlong(double);
OPTIML_D double __longlong_as_double(long long);
OPTIML_D int __double2hiint(double);
OPTIML_D int __double2loint(double);
OPTIML_D double __hiloint2double(int, int);
OPTIML_D int __float2int_rn(float);
OPTIML_D int __float2int_rz(float);
OPTIML_D int __float2int_ru(float);
OPTIML_D int __float2int_rd(float);
OPTIML_D unsigned int __float2uint_rn(float);
OPTIML_D unsigned int __float2uint_rz(float);
OPTIML_D unsigned int __float2uint_ru(float);
OPTIML_D unsigned int __float2uint_rd(float);
OPTIML_D long long __float2ll_rn(float);
OPTIML_D long long __float2ll_rz(float);
OPTIML_D float __int2float_rn(int);
OPTIML_D float __int2float_rz(int);
OPTIML_D float __uint2float_rn(unsigned int);
OPTIML_D float __uint2float_rz(unsigned int);
OPTIML_D float __ll2float_rn(long long);
OPTIML_D float __ull2float_rn(unsigned long long);
OPTIML_D float __double2float_rn(double);
OPTIML_D float __double2float_rz(double);
OPTIML_D int __double2int_rn(double);
OPTIML_D int __double2int_rz(double);
OPTIML_D double __int2double_rn(int);
OPTIML_D double __ll2double_rn(long long);
OPTIML_D long long __float2ll_ru(float);
OPTIML_D long long __float2ll_rd(float);
OPTIML_D unsigned long long __float2ull_rn(float);
OPTIML_D unsigned long long __float2ull_rz(float);
OPTIML_D unsigned long long __float2ull_ru(float);
OPTIML_D unsigned long long __float2ull_rd(float);
OPTIML_D int __double2int_ru(double);
OPTIML_D int __double2int_rd(double);
OPTIML_D unsigned int __double2uint_rn(double);
OPTIML_D unsigned int __double2uint_rz(double);
OPTIML_D unsigned int __double2uint_ru(double);
OPTIML_D unsigned int __double2uint_rd(double);
OPTIML_D long long __double2ll_rn(double);
OPTIML_D long long __double2ll_rz(double);
OPTIML_D long long __double2ll_ru(double);
OPTIML_D long long __double2ll_rd(double);
OPTIML_D unsigned long long __double2ull_rn(double);
OPTIML_D unsigned long long __double2ull_rz(double);
OPTIML_D unsigned long long __double2ull_ru(double);
OPTIML_D unsigned long long __double2ull_rd(double);
OPTIML_D float __int2float_ru(int);
OPTIML_D float __int2float_rd(int);
OPTIML_D float __uint2float_ru(unsigned int);
OPTIML_D float __uint2float_rd(unsigned int);
OPTIML_D float __ll2float_rz(long long);
OPTIML_D float __ll2float_ru(long long);
OPTIML_D float __ll2float_rd(long long);
OPTIML_D float __ull2float_rz(unsigned long long);
OPTIML_D float __ull2float_ru(unsigned long long);
OPTIML_D float __ull2float_rd(unsigned long long);
OPTIML_D float __double2float_ru(double);
OPTIML_D float __double2float_rd(double);
OPTIML_D double __uint2double_rn(unsigned int);
OPTIML_D double __ll2double_rz(long long);
OPTIML_D double __ll2double_ru(long long);
OPTIML_D double __ll2double_rd(long long);
OPTIML_D double __ull2double_rn(unsigned long long);
OPTIML_D double __ull2double_rz(unsigned long long);
OPTIML_D double __ull2double_ru(unsigned long long);
OPTIML_D double __ull2double_rd(unsigned long long);
OPTIML_D float __fsub_rz(float, float);
OPTIML_D float __fsub_ru(float, float);
OPTIML_D float __fsub_rd(float, float);
OPTIML_D float __fdiv_rz(float, float);
OPTIML_D float __fdiv_ru(float, float);
OPTIML_D float __fdiv_rd(float, float);
OPTIML_D double __dadd_rz(double, double);
OPTIML_D double __dadd_ru(double, double);
OPTIML_D double __dadd_rd(double, double);
OPTIML_D double __dsub_rz(double, double);
OPTIML_D double __dsub_ru(double, double);
OPTIML_D double __dsub_rd(double, double);
OPTIML_D double __dmul_rz(double, double);
OPTIML_D double __dmul_ru(double, double);
OPTIML_D double __dmul_rd(double, double);
OPTIML_D double __ddiv_rz(double, double);
OPTIML_D double __ddiv_ru(double, double);
OPTIML_D double __ddiv_rd(double, double);
OPTIML_D float __fsqrt_rz(float);
OPTIML_D float __fsqrt_ru(float);
OPTIML_D float __fsqrt_rd(float);
OPTIML_D float __frcp_rz(float);
OPTIML_D float __frcp_ru(float);
OPTIML_D float __frcp_rd(float);
OPTIML_D double __dsqrt_rz(double);
OPTIML_D double __dsqrt_ru(double);
OPTIML_D double __dsqrt_rd(double);
OPTIML_D double __drcp_rz(double);
OPTIML_D double __drcp_ru(double);
OPTIML_D double __drcp_rd(double);
OPTIML_D double __fma_rz(double, double, double);
OPTIML_D double __fma_ru(double, double, double);
OPTIML_D double __fma_rd(double, double, double);
OPTIML_D unsigned int __reduce_add_sync(unsigned int, unsigned int);
OPTIML_D unsigned int __reduce_min_sync(unsigned int, unsigned int);
OPTIML_D unsigned int __reduce_max_sync(unsigned int, unsigned int);
OPTIML_D int __reduce_add_sync(unsigned int, int);
OPTIML_D int __reduce_min_sync(unsigned int, int);
OPTIML_D int __reduce_max_sync(unsigned int, int);
OPTIML_D unsigned int __reduce_and_sync(unsigned int, unsigned int);
OPTIML_D unsigned int __reduce_or_sync(unsigned int, unsigned int);
OPTIML_D unsigned int __reduce_xor_sync(unsigned int, unsigned int);
OPTIML_D void __nanosleep(unsigned int);
OPTIML_D void __trap();
OPTIML_D void __brkpt();
OPTIML_D void __prof_trigger(int);
OPTIML_D long long clock64();
OPTIML_D clock_t clock();
OPTIML_D long long globaltimer();
OPTIML_D size_t __cvta_generic_to_shared(const void*);
OPTIML_D size_t __cvta_generic_to_global(const void*);
OPTIML_D void* __cvta_shared_to_generic(size_t);
OPTIML_D void* __cvta_global_to_generic(size_t);
OPTIML_D unsigned int __isShared(const void*);
OPTIML_D unsigned int __isGlobal(const void*);
OPTIML_D unsigned int __isConstant(const void*);
OPTIML_D unsigned int __isLocal(const void*);
OPTIML_D void __pipeline_memcpy_async(void*, const void*, size_t, size_t zfill = 0);
OPTIML_D void __pipeline_commit();
OPTIML_D void __pipeline_wait_prior(size_t);
OPTIML_D void __barrier_sync(unsigned int);
OPTIML_D void __barrier_sync_count(unsigned int, unsigned int);
OPTIML_D void __assertfail(const char*, const char*, unsigned int, const char*, size_t);
OPTIML_D unsigned int __vadd2(unsigned int, unsigned int);
OPTIML_D unsigned int __vsub2(unsigned int, unsigned int);
OPTIML_D unsigned int __vmaxs2(unsigned int, unsigned int);
OPTIML_D unsigned int __vmaxu2(unsigned int, unsigned int);
OPTIML_D unsigned int __vmins2(unsigned int, unsigned int);
OPTIML_D unsigned int __vminu2(unsigned int, unsigned int);
OPTIML_D unsigned int __vadd4(unsigned int, unsigned int);
OPTIML_D unsigned int __vsub4(unsigned int, unsigned int);
OPTIML_D unsigned int __vmaxs4(unsigned int, unsigned int);
OPTIML_D unsigned int __vmaxu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vmins4(unsigned int, unsigned int);
OPTIML_D unsigned int __vminu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vavgu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vabsdiffu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vsadu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vcmpeq4(unsigned int, unsigned int);
OPTIML_D unsigned int __vcmpgtu4(unsigned int, unsigned int);
OPTIML_D unsigned int __vseteq4(unsigned int, unsigned int);
OPTIML_D int __shfl_sync(unsigned int mask, int value, int lane, int width = 32);
OPTIML_D unsigned int __shfl_sync(unsigned int mask, unsigned int value, int lane, int width = 32);
OPTIML_D long __shfl_sync(unsigned int mask, long value, int lane, int width = 32);
OPTIML_D unsigned long __shfl_sync(unsigned int mask, unsigned long value, int lane, int width = 32);
OPTIML_D long long __shfl_sync(unsigned int mask, long long value, int lane, int width = 32);
OPTIML_D unsigned long long __shfl_sync(unsigned int mask, unsigned long long value, int lane, int width = 32);
OPTIML_D float __shfl_sync(unsigned int mask, float value, int lane, int width = 32);
OPTIML_D double __shfl_sync(unsigned int mask, double value, int lane, int width = 32);
OPTIML_D int __shfl_up_sync(unsigned int mask, int value, unsigned int lane, int width = 32);
OPTIML_D unsigned int __shfl_up_sync(unsigned int mask, unsigned int value, unsigned int lane, int width = 32);
OPTIML_D long __shfl_up_sync(unsigned int mask, long value, unsigned int lane, int width = 32);
OPTIML_D unsigned long __shfl_up_sync(unsigned int mask, unsigned long value, unsigned int lane, int width = 32);
OPTIML_D long long __shfl_up_sync(unsigned int mask, long long value, unsigned int lane, int width = 32);
OPTIML_D unsigned long long __shfl_up_sync(unsigned int mask, unsigned long long value, unsigned int lane, int width = 32);
OPTIML_D float __shfl_up_sync(unsigned int mask, float value, unsigned int lane, int width = 32);
OPTIML_D double __shfl_up_sync(unsigned int mask, double value, unsigned int lane, int width = 32);
OPTIML_D int __shfl_down_sync(unsigned int mask, int value, unsigned int lane, int width = 32);
OPTIML_D unsigned int __shfl_down_sync(unsigned int mask, unsigned int value, unsigned int lane, int width = 32);
OPTIML_D long __shfl_down_sync(unsigned int mask, long value, unsigned int lane, int width = 32);
OPTIML_D unsigned long __shfl_down_sync(unsigned int mask, unsigned long value, unsigned int lane, int width = 32);
OPTIML_D long long __shfl_down_sync(unsigned int mask, long long value, unsigned int lane, int width = 32);
OPTIML_D unsigned long long __shfl_down_sync(unsigned int mask, unsigned long long value, unsigned int lane, int width = 32);
OPTIML_D float __shfl_down_sync(unsigned int mask, float value, unsigned int lane, int width = 32);
OPTIML_D double __shfl_down_sync(unsigned int mask, double value, unsigned int lane, int width = 32);
OPTIML_D int __shfl_xor_sync(unsigned int mask, int value, int lane, int width = 32);
OPTIML_D unsigned int __shfl_xor_sync(unsigned int mask, unsigned int value, int lane, int width = 32);
OPTIML_D long __shfl_xor_sync(unsigned int mask, long value, int lane, int width = 32);
OPTIML_D unsigned long __shfl_xor_sync(unsigned int mask, unsigned long value, int lane, int width = 32);
OPTIML_D long long __shfl_xor_sync(unsigned int mask, long long value, int lane, int width = 32);
OPTIML_D unsigned long long __shfl_xor_sync(unsigned int mask, unsigned long long value, int lane, int width = 32);
OPTIML_D float __shfl_xor_sync(unsigned int mask, float value, int lane, int width = 32);
OPTIML_D double __shfl_xor_sync(unsigned int mask, double value, int lane, int width = 32);
OPTIML_D unsigned int __match_any_sync(unsigned int, int);
OPTIML_D unsigned int __match_all_sync(unsigned int, int, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, unsigned int);
OPTIML_D unsigned int __match_all_sync(unsigned int, unsigned int, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, long);
OPTIML_D unsigned int __match_all_sync(unsigned int, long, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, unsigned long);
OPTIML_D unsigned int __match_all_sync(unsigned int, unsigned long, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, long long);
OPTIML_D unsigned int __match_all_sync(unsigned int, long long, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, unsigned long long);
OPTIML_D unsigned int __match_all_sync(unsigned int, unsigned long long, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, float);
OPTIML_D unsigned int __match_all_sync(unsigned int, float, int*);
OPTIML_D unsigned int __match_any_sync(unsigned int, double);
OPTIML_D unsigned int __match_all_sync(unsigned int, double, int*);
OPTIML_D signed char __ldg(const signed char*);
OPTIML_D signed char __ldca(const signed char*);
OPTIML_D signed char __ldcg(const signed char*);
OPTIML_D signed char __ldcs(const signed char*);
OPTIML_D signed char __ldcv(const signed char*);
OPTIML_D signed char __ldlu(const signed char*);
OPTIML_D void __stwb(signed char*, signed char);
OPTIML_D void __stcg(signed char*, signed char);
OPTIML_D void __stcs(signed char*, signed char);
OPTIML_D void __stwt(signed char*, signed char);
OPTIML_D unsigned char __ldg(const unsigned char*);
OPTIML_D unsigned char __ldca(const unsigned char*);
OPTIML_D unsigned char __ldcg(const unsigned char*);
OPTIML_D unsigned char __ldcs(const unsigned char*);
OPTIML_D unsigned char __ldcv(const unsigned char*);
OPTIML_D unsigned char __ldlu(const unsigned char*);
OPTIML_D void __stwb(unsigned char*, unsigned char);
OPTIML_D void __stcg(unsigned char*, unsigned char);
OPTIML_D void __stcs(unsigned char*, unsigned char);
OPTIML_D void __stwt(unsigned char*, unsigned char);
OPTIML_D short __ldg(const short*);
OPTIML_D short __ldca(const short*);
OPTIML_D short __ldcg(const short*);
OPTIML_D short __ldcs(const short*);
OPTIML_D short __ldcv(const short*);
OPTIML_D short __ldlu(const short*);
OPTIML_D void __stwb(short*, short);
OPTIML_D void __stcg(short*, short);
OPTIML_D void __stcs(short*, short);
OPTIML_D void __stwt(short*, short);
OPTIML_D unsigned short __ldg(const unsigned short*);
OPTIML_D unsigned short __ldca(const unsigned short*);
OPTIML_D unsigned short __ldcg(const unsigned short*);
OPTIML_D unsigned short __ldcs(const unsigned short*);
OPTIML_D unsigned short __ldcv(const unsigned short*);
OPTIML_D unsigned short __ldlu(const unsigned short*);
OPTIML_D void __stwb(unsigned short*, unsigned short);
OPTIML_D void __stcg(unsigned short*, unsigned short);
OPTIML_D void __stcs(unsigned short*, unsigned short);
OPTIML_D void __stwt(unsigned short*, unsigned short);
OPTIML_D int __ldg(const int*);
OPTIML_D int __ldca(const int*);
OPTIML_D int __ldcg(const int*);
OPTIML_D int __ldcs(const int*);
OPTIML_D int __ldcv(const int*);
OPTIML_D int __ldlu(const int*);
OPTIML_D void __stwb(int*, int);
OPTIML_D void __stcg(int*, int);
OPTIML_D void __stcs(int*, int);
OPTIML_D void __stwt(int*, int);
OPTIML_D unsigned int __ldg(const unsigned int*);
OPTIML_D unsigned int __ldca(const unsigned int*);
OPTIML_D unsigned int __ldcg(const unsigned int*);
OPTIML_D unsigned int __ldcs(const unsigned int*);
OPTIML_D unsigned int __ldcv(const unsigned int*);
OPTIML_D unsigned int __ldlu(const unsigned int*);
OPTIML_D void __stwb(unsigned int*, unsigned int);
OPTIML_D void __stcg(unsigned int*, unsigned int);
OPTIML_D void __stcs(unsigned int*, unsigned int);
OPTIML_D void __stwt(unsigned int*, unsigned int);
OPTIML_D long __ldg(const long*);
OPTIML_D long __ldca(const long*);
OPTIML_D long __ldcg(const long*);
OPTIML_D long __ldcs(const long*);
OPTIML_D long __ldcv(const long*);
OPTIML_D long __ldlu(const long*);
OPTIML_D void __stwb(long*, long);
OPTIML_D void __stcg(long*, long);
OPTIML_D void __stcs(long*, long);
OPTIML_D void __stwt(long*, long);
OPTIML_D unsigned long __ldg(const unsigned long*);
OPTIML_D unsigned long __ldca(const unsigned long*);
OPTIML_D unsigned long __ldcg(const unsigned long*);
OPTIML_D unsigned long __ldcs(const unsigned long*);
OPTIML_D unsigned long __ldcv(const unsigned long*);
OPTIML_D unsigned long __ldlu(const unsigned long*);
OPTIML_D void __stwb(unsigned long*, unsigned long);
OPTIML_D void __stcg(unsigned long*, unsigned long);
OPTIML_D void __stcs(unsigned long*, unsigned long);
OPTIML_D void __stwt(unsigned long*, unsigned long);
OPTIML_D long long __ldg(const long long*);
OPTIML_D long long __ldca(const long long*);
OPTIML_D long long __ldcg(const long long*);
OPTIML_D long long __ldcs(const long long*);
OPTIML_D long long __ldcv(const long long*);
OPTIML_D long long __ldlu(const long long*);
OPTIML_D void __stwb(long long*, long long);
OPTIML_D void __stcg(long long*, long long);
OPTIML_D void __stcs(long long*, long long);
OPTIML_D void __stwt(long long*, long long);
OPTIML_D unsigned long long __ldg(const unsigned long long*);
OPTIML_D unsigned long long __ldca(const unsigned long long*);
OPTIML_D unsigned long long __ldcg(const unsigned long long*);
OPTIML_D unsigned long long __ldcs(const unsigned long long*);
OPTIML_D unsigned long long __ldcv(const unsigned long long*);
OPTIML_D unsigned long long __ldlu(const unsigned long long*);
OPTIML_D void __stwb(unsigned long long*, unsigned long long);
OPTIML_D void __stcg(unsigned long long*, unsigned long long);
OPTIML_D void __stcs(unsigned long long*, unsigned long long);
OPTIML_D void __stwt(unsigned long long*, unsigned long long);
OPTIML_D float __ldg(const float*);
OPTIML_D float __ldca(const float*);
OPTIML_D float __ldcg(const float*);
OPTIML_D float __ldcs(const float*);
OPTIML_D float __ldcv(const float*);
OPTIML_D float __ldlu(const float*);
OPTIML_D void __stwb(float*, float);
OPTIML_D void __stcg(float*, float);
OPTIML_D void __stcs(float*, float);
OPTIML_D void __stwt(float*, float);
OPTIML_D double __ldg(const double*);
OPTIML_D double __ldca(const double*);
OPTIML_D double __ldcg(const double*);
OPTIML_D double __ldcs(const double*);
OPTIML_D double __ldcv(const double*);
OPTIML_D double __ldlu(const double*);
OPTIML_D void __stwb(double*, double);
OPTIML_D void __stcg(double*, double);
OPTIML_D void __stcs(double*, double);
OPTIML_D void __stwt(double*, double);
OPTIML_D char __ldg(const char*);
OPTIML_D char __ldca(const char*);
OPTIML_D char __ldcg(const char*);
OPTIML_D char __ldcs(const char*);
OPTIML_D char __ldcv(const char*);
OPTIML_D char __ldlu(const char*);
OPTIML_D void __stwb(char*, char);
OPTIML_D void __stcg(char*, char);
OPTIML_D void __stcs(char*, char);
OPTIML_D void __stwt(char*, char);
OPTIML_D char2 __ldg(const char2*);
OPTIML_D char2 __ldca(const char2*);
OPTIML_D char2 __ldcg(const char2*);
OPTIML_D char2 __ldcs(const char2*);
OPTIML_D char2 __ldcv(const char2*);
OPTIML_D char2 __ldlu(const char2*);
OPTIML_D void __stwb(char2*, char2);
OPTIML_D void __stcg(char2*, char2);
OPTIML_D void __stcs(char2*, char2);
OPTIML_D void __stwt(char2*, char2);
OPTIML_D char4 __ldg(const char4*);
OPTIML_D char4 __ldca(const char4*);
OPTIML_D char4 __ldcg(const char4*);
OPTIML_D char4 __ldcs(const char4*);
OPTIML_D char4 __ldcv(const char4*);
OPTIML_D char4 __ldlu(const char4*);
OPTIML_D void __stwb(char4*, char4);
OPTIML_D void __stcg(char4*, char4);
OPTIML_D void __stcs(char4*, char4);
OPTIML_D void __stwt(char4*, char4);
OPTIML_D uchar2 __ldg(const uchar2*);
OPTIML_D uchar2 __ldca(const uchar2*);
OPTIML_D uchar2 __ldcg(const uchar2*);
OPTIML_D uchar2 __ldcs(const uchar2*);
OPTIML_D uchar2 __ldcv(const uchar2*);
OPTIML_D uchar2 __ldlu(const uchar2*);
OPTIML_D void __stwb(uchar2*, uchar2);
OPTIML_D void __stcg(uchar2*, uchar2);
OPTIML_D void __stcs(uchar2*, uchar2);
OPTIML_D void __stwt(uchar2*, uchar2);
OPTIML_D uchar4 __ldg(const uchar4*);
OPTIML_D uchar4 __ldca(const uchar4*);
OPTIML_D uchar4 __ldcg(const uchar4*);
OPTIML_D uchar4 __ldcs(const uchar4*);
OPTIML_D uchar4 __ldcv(const uchar4*);
OPTIML_D uchar4 __ldlu(const uchar4*);
OPTIML_D void __stwb(uchar4*, uchar4);
OPTIML_D void __stcg(uchar4*, uchar4);
OPTIML_D void __stcs(uchar4*, uchar4);
OPTIML_D void __stwt(uchar4*, uchar4);
OPTIML_D short2 __ldg(const short2*);
OPTIML_D short2 __ldca(const short2*);
OPTIML_D short2 __ldcg(const short2*);
OPTIML_D short2 __ldcs(const short2*);
OPTIML_D short2 __ldcv(const short2*);
OPTIML_D short2 __ldlu(const short2*);
OPTIML_D void __stwb(short2*, short2);
OPTIML_D void __stcg(short2*, short2);
OPTIML_D void __stcs(short2*, short2);
OPTIML_D void __stwt(short2*, short2);
OPTIML_D short4 __ldg(const short4*);
OPTIML_D short4 __ldca(const short4*);
OPTIML_D short4 __ldcg(const short4*);
OPTIML_D short4 __ldcs(const short4*);
OPTIML_D short4 __ldcv(const short4*);
OPTIML_D short4 __ldlu(const short4*);
OPTIML_D void __stwb(short4*, short4);
OPTIML_D void __stcg(short4*, short4);
OPTIML_D void __stcs(short4*, short4);
OPTIML_D void __stwt(short4*, short4);
OPTIML_D ushort2 __ldg(const ushort2*);
OPTIML_D ushort2 __ldca(const ushort2*);
OPTIML_D ushort2 __ldcg(const ushort2*);
OPTIML_D ushort2 __ldcs(const ushort2*);
OPTIML_D ushort2 __ldcv(const ushort2*);
OPTIML_D ushort2 __ldlu(const ushort2*);
OPTIML_D void __stwb(ushort2*, ushort2);
OPTIML_D void __stcg(ushort2*, ushort2);
OPTIML_D void __stcs(ushort2*, ushort2);
OPTIML_D void __stwt(ushort2*, ushort2);
OPTIML_D ushort4 __ldg(const ushort4*);
OPTIML_D ushort4 __ldca(const ushort4*);
OPTIML_D ushort4 __ldcg(const ushort4*);
OPTIML_D ushort4 __ldcs(const ushort4*);
OPTIML_D ushort4 __ldcv(const ushort4*);
OPTIML_D ushort4 __ldlu(const ushort4*);
OPTIML_D void __stwb(ushort4*, ushort4);
OPTIML_D void __stcg(ushort4*, ushort4);
OPTIML_D void __stcs(ushort4*, ushort4);
OPTIML_D void __stwt(ushort4*, ushort4);
OPTIML_D int2 __ldg(const int2*);
OPTIML_D int2 __ldca(const int2*);
OPTIML_D int2 __ldcg(const int2*);
OPTIML_D int2 __ldcs(const int2*);
OPTIML_D int2 __ldcv(const int2*);
OPTIML_D int2 __ldlu(const int2*);
OPTIML_D void __stwb(int2*, int2);
OPTIML_D void __stcg(int2*, int2);
OPTIML_D void __stcs(int2*, int2);
OPTIML_D void __stwt(int2*, int2);
OPTIML_D int4 __ldg(const int4*);
OPTIML_D int4 __ldca(const int4*);
OPTIML_D int4 __ldcg(const int4*);
OPTIML_D int4 __ldcs(const int4*);
OPTIML_D int4 __ldcv(const int4*);
OPTIML_D int4 __ldlu(const int4*);
OPTIML_D void __stwb(int4*, int4);
OPTIML_D void __stcg(int4*, int4);
OPTIML_D void __stcs(int4*, int4);
OPTIML_D void __stwt(int4*, int4);
OPTIML_D uint2 __ldg(const uint2*);
OPTIML_D uint2 __ldca(const uint2*);
OPTIML_D uint2 __ldcg(const uint2*);
OPTIML_D uint2 __ldcs(const uint2*);
OPTIML_D uint2 __ldcv(const uint2*);
OPTIML_D uint2 __ldlu(const uint2*);
OPTIML_D void __stwb(uint2*, uint2);
OPTIML_D void __stcg(uint2*, uint2);
OPTIML_D void __stcs(uint2*, uint2);
OPTIML_D void __stwt(uint2*, uint2);
OPTIML_D uint4 __ldg(const uint4*);
OPTIML_D uint4 __ldca(const uint4*);
OPTIML_D uint4 __ldcg(const uint4*);
OPTIML_D uint4 __ldcs(const uint4*);
OPTIML_D uint4 __ldcv(const uint4*);
OPTIML_D uint4 __ldlu(const uint4*);
OPTIML_D void __stwb(uint4*, uint4);
OPTIML_D void __stcg(uint4*, uint4);
OPTIML_D void __stcs(uint4*, uint4);
OPTIML_D void __stwt(uint4*, uint4);
OPTIML_D float2 __ldg(const float2*);
OPTIML_D float2 __ldca(const float2*);
OPTIML_D float2 __ldcg(const float2*);
OPTIML_D float2 __ldcs(const float2*);
OPTIML_D float2 __ldcv(const float2*);
OPTIML_D float2 __ldlu(const float2*);
OPTIML_D void __stwb(float2*, float2);
OPTIML_D void __stcg(float2*, float2);
OPTIML_D void __stcs(float2*, float2);
OPTIML_D void __stwt(float2*, float2);
OPTIML_D float4 __ldg(const float4*);
OPTIML_D float4 __ldca(const float4*);
OPTIML_D float4 __ldcg(const float4*);
OPTIML_D float4 __ldcs(const float4*);
OPTIML_D float4 __ldcv(const float4*);
OPTIML_D float4 __ldlu(const float4*);
OPTIML_D void __stwb(float4*, float4);
OPTIML_D void __stcg(float4*, float4);
OPTIML_D void __stcs(float4*, float4);
OPTIML_D void __stwt(float4*, float4);
OPTIML_D longlong2 __ldg(const longlong2*);
OPTIML_D longlong2 __ldca(const longlong2*);
OPTIML_D longlong2 __ldcg(const longlong2*);
OPTIML_D longlong2 __ldcs(const longlong2*);
OPTIML_D longlong2 __ldcv(const longlong2*);
OPTIML_D longlong2 __ldlu(const longlong2*);
OPTIML_D void __stwb(longlong2*, longlong2);
OPTIML_D void __stcg(longlong2*, longlong2);
OPTIML_D void __stcs(longlong2*, longlong2);
OPTIML_D void __stwt(longlong2*, longlong2);
OPTIML_D ulonglong2 __ldg(const ulonglong2*);
OPTIML_D ulonglong2 __ldca(const ulonglong2*);
OPTIML_D ulonglong2 __ldcg(const ulonglong2*);
OPTIML_D ulonglong2 __ldcs(const ulonglong2*);
OPTIML_D ulonglong2 __ldcv(const ulonglong2*);
OPTIML_D ulonglong2 __ldlu(const ulonglong2*);
OPTIML_D void __stwb(ulonglong2*, ulonglong2);
OPTIML_D void __stcg(ulonglong2*, ulonglong2);
OPTIML_D void __stcs(ulonglong2*, ulonglong2);
OPTIML_D void __stwt(ulonglong2*, ulonglong2);
OPTIML_D double2 __ldg(const double2*);
OPTIML_D double2 __ldca(const double2*);
OPTIML_D double2 __ldcg(const double2*);
OPTIML_D double2 __ldcs(const double2*);
OPTIML_D double2 __ldcv(const double2*);
OPTIML_D double2 __ldlu(const double2*);
OPTIML_D void __stwb(double2*, double2);
OPTIML_D void __stcg(double2*, double2);
OPTIML_D void __stcs(double2*, double2);
OPTIML_D void __stwt(double2*, double2);
OPTIML_D int atomicAdd(int*, int);
OPTIML_D int atomicAdd_block(int*, int);
OPTIML_D int atomicAdd_system(int*, int);
OPTIML_D unsigned int atomicAdd(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicAdd_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicAdd_system(unsigned int*, unsigned int);
OPTIML_D unsigned long long atomicAdd(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicAdd_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicAdd_system(unsigned long long*, unsigned long long);
OPTIML_D float atomicAdd(float*, float);
OPTIML_D float atomicAdd_block(float*, float);
OPTIML_D float atomicAdd_system(float*, float);
OPTIML_D double atomicAdd(double*, double);
OPTIML_D double atomicAdd_block(double*, double);
OPTIML_D double atomicAdd_system(double*, double);
OPTIML_D float2 atomicAdd(float2*, float2);
OPTIML_D float4 atomicAdd(float4*, float4);
OPTIML_D int atomicSub(int*, int);
OPTIML_D int atomicSub_block(int*, int);
OPTIML_D int atomicSub_system(int*, int);
OPTIML_D unsigned int atomicSub(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicSub_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicSub_system(unsigned int*, unsigned int);
OPTIML_D int atomicExch(int*, int);
OPTIML_D int atomicExch_block(int*, int);
OPTIML_D int atomicExch_system(int*, int);
OPTIML_D unsigned int atomicExch(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicExch_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicExch_system(unsigned int*, unsigned int);
OPTIML_D unsigned long long atomicExch(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicExch_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicExch_system(unsigned long long*, unsigned long long);
OPTIML_D float atomicExch(float*, float);
OPTIML_D float atomicExch_block(float*, float);
OPTIML_D float atomicExch_system(float*, float);
OPTIML_D int atomicMin(int*, int);
OPTIML_D int atomicMin_block(int*, int);
OPTIML_D int atomicMin_system(int*, int);
OPTIML_D unsigned int atomicMin(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicMin_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicMin_system(unsigned int*, unsigned int);
OPTIML_D long long atomicMin(long long*, long long);
OPTIML_D long long atomicMin_block(long long*, long long);
OPTIML_D long long atomicMin_system(long long*, long long);
OPTIML_D unsigned long long atomicMin(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicMin_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicMin_system(unsigned long long*, unsigned long long);
OPTIML_D int atomicMax(int*, int);
OPTIML_D int atomicMax_block(int*, int);
OPTIML_D int atomicMax_system(int*, int);
OPTIML_D unsigned int atomicMax(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicMax_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicMax_system(unsigned int*, unsigned int);
OPTIML_D long long atomicMax(long long*, long long);
OPTIML_D long long atomicMax_block(long long*, long long);
OPTIML_D long long atomicMax_system(long long*, long long);
OPTIML_D unsigned long long atomicMax(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicMax_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicMax_system(unsigned long long*, unsigned long long);
OPTIML_D unsigned int atomicInc(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicInc_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicInc_system(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicDec(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicDec_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicDec_system(unsigned int*, unsigned int);
OPTIML_D int atomicCAS(int*, int, int);
OPTIML_D int atomicCAS_block(int*, int, int);
OPTIML_D int atomicCAS_system(int*, int, int);
OPTIML_D unsigned int atomicCAS(unsigned int*, unsigned int, unsigned int);
OPTIML_D unsigned int atomicCAS_block(unsigned int*, unsigned int, unsigned int);
OPTIML_D unsigned int atomicCAS_system(unsigned int*, unsigned int, unsigned int);
OPTIML_D unsigned long long atomicCAS(unsigned long long*, unsigned long long, unsigned long long);
OPTIML_D unsigned long long atomicCAS_block(unsigned long long*, unsigned long long, unsigned long long);
OPTIML_D unsigned long long atomicCAS_system(unsigned long long*, unsigned long long, unsigned long long);
OPTIML_D unsigned short atomicCAS(unsigned short*, unsigned short, unsigned short);
OPTIML_D unsigned short atomicCAS_block(unsigned short*, unsigned short, unsigned short);
OPTIML_D unsigned short atomicCAS_system(unsigned short*, unsigned short, unsigned short);
OPTIML_D int atomicAnd(int*, int);
OPTIML_D int atomicAnd_block(int*, int);
OPTIML_D int atomicAnd_system(int*, int);
OPTIML_D unsigned int atomicAnd(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicAnd_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicAnd_system(unsigned int*, unsigned int);
OPTIML_D unsigned long long atomicAnd(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicAnd_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicAnd_system(unsigned long long*, unsigned long long);
OPTIML_D int atomicOr(int*, int);
OPTIML_D int atomicOr_block(int*, int);
OPTIML_D int atomicOr_system(int*, int);
OPTIML_D unsigned int atomicOr(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicOr_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicOr_system(unsigned int*, unsigned int);
OPTIML_D unsigned long long atomicOr(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicOr_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicOr_system(unsigned long long*, unsigned long long);
OPTIML_D int atomicXor(int*, int);
OPTIML_D int atomicXor_block(int*, int);
OPTIML_D int atomicXor_system(int*, int);
OPTIML_D unsigned int atomicXor(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicXor_block(unsigned int*, unsigned int);
OPTIML_D unsigned int atomicXor_system(unsigned int*, unsigned int);
OPTIML_D unsigned long long atomicXor(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicXor_block(unsigned long long*, unsigned long long);
OPTIML_D unsigned long long atomicXor_system(unsigned long long*, unsigned long long);

extern "C" OPTIML_HD int printf(const char*, ...);
extern "C" OPTIML_HD void* malloc(size_t);
extern "C" OPTIML_HD void free(void*);
extern "C" OPTIML_HD void* memcpy(void*, const void*, size_t);
extern "C" OPTIML_HD void* memset(void*, int, size_t);
OPTIML_D void* operator new(size_t);
OPTIML_D void* operator new[](size_t);
OPTIML_D void operator delete(void*) noexcept;
OPTIML_D void operator delete[](void*) noexcept;
OPTIML_HD inline void* operator new(size_t, void* p) noexcept { return p; }

// ---- host functions of the C library
struct _IO_FILE;
typedef _IO_FILE FILE;
extern FILE* stdin;
extern FILE* stdout;
extern FILE* stderr;
#define stdin stdin
#define stdout stdout
#define stderr stderr
extern "C" OPTIML_H int fprintf(FILE*, const char*, ...);
extern "C" OPTIML_H int snprintf(char*, size_t, const char*, ...);
extern "C" OPTIML_H int sprintf(char*, const char*, ...);
extern "C" OPTIML_H int puts(const char*);
extern "C" OPTIML_H int putchar(int);
extern "C" OPTIML_H int fputs(const char*, FILE*);
extern "C" OPTIML_H int fflush(FILE*);
extern "C" OPTIML_H void perror(const char*);
extern "C" OPTIML_H void* calloc(size_t, size_t);
extern "C" OPTIML_H void* realloc(void*, size_t);
extern "C" [[noreturn]] OPTIML_H void exit(int);
extern "C" [[noreturn]] OPTIML_HD void abort();
extern "C" OPTIML_H int atoi(const char*);
extern "C" OPTIML_H double atof(const char*);
extern "C" OPTIML_H char* getenv(const char*);
extern "C" OPTIML_H int rand();
extern "C" OPTIML_H void srand(unsigned int);
extern "C" OPTIML_H size_t strlen(const char*);
extern "C" OPTIML_H int strcmp(const char*, const char*);
extern "C" OPTIML_H int strncmp(const char*, const char*, size_t);
extern "C" OPTIML_H void* memmove(void*, const void*, size_t);
extern "C" OPTIML_H int memcmp(const void*, const void*, size_t);
extern "C" OPTIML_H time_t time(time_t*);
#define RAND_MAX 2147483647
namespace std {
using ::printf; using ::fprintf; using ::snprintf; using ::puts; using ::exit; using ::abort; using ::malloc;
using ::free; using ::calloc; using ::memcpy; using ::memset; using ::memmove; using ::getenv; using ::rand;
using ::srand; using ::strlen; using ::strcmp; using ::memcmp; using ::time; using ::fflush; using ::atoi;
using ::FILE;
}  // namespace std
extern "C" OPTIML_HD void __optiml_assertion_failed();
#define assert(...) ((__VA_ARGS__) ? (void)0 : __optiml_assertion_failed())

#include "cuda_runtime_calls.h"
