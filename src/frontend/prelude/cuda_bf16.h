// __nv_bfloat16 for parsing: the storage, the operators and the functions of CUDA Math API 13.0.
#pragma once
#include <cuda_fp16.h>

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  OPTIML_HD __nv_bfloat16(float);
  OPTIML_HD __nv_bfloat16(double);
  OPTIML_HD __nv_bfloat16(int);
  OPTIML_HD __nv_bfloat16(unsigned int);
  OPTIML_HD __nv_bfloat16(long);
  OPTIML_HD __nv_bfloat16(unsigned long);
  OPTIML_HD __nv_bfloat16(short);
  OPTIML_HD __nv_bfloat16(unsigned short);
  OPTIML_HD operator float() const;
  OPTIML_HD __nv_bfloat16& operator=(float);
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  OPTIML_HD __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b);
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

OPTIML_FLOAT_LIKE_OPERATORS(__nv_bfloat16)
OPTIML_FLOAT_LIKE_OPERATORS(__nv_bfloat162)
OPTIML_FLOAT_LIKE_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)

OPTIML_HD __nv_bfloat16 __float2bfloat16(float);
OPTIML_HD __nv_bfloat16 __float2bfloat16_rn(float);
OPTIML_HD __nv_bfloat16 __float2bfloat16_rz(float);
OPTIML_HD __nv_bfloat16 __double2bfloat16(double);
OPTIML_HD __nv_bfloat16 __int2bfloat16_rn(int);
OPTIML_HD float __bfloat162float(__nv_bfloat16);
OPTIML_HD __nv_bfloat162 __float2bfloat162_rn(float);
OPTIML_HD __nv_bfloat162 __floats2bfloat162_rn(float, float);
OPTIML_HD __nv_bfloat162 __float22bfloat162_rn(float2);
OPTIML_HD float2 __bfloat1622float2(__nv_bfloat162);
OPTIML_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
OPTIML_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
OPTIML_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
OPTIML_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162);
OPTIML_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162);
OPTIML_HD float __low2float(__nv_bfloat162);
OPTIML_HD float __high2float(__nv_bfloat162);
OPTIML_HD short __bfloat16_as_short(__nv_bfloat16);
OPTIML_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16);
OPTIML_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short);
OPTIML_HD int __bfloat162int_rn(__nv_bfloat16);
