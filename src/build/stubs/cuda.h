// Of the driver's interface, what a kernel's parameters may be made of.
#ifndef OPTIML_STUB_CUDA_H_
#define OPTIML_STUB_CUDA_H_
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef struct CUtensorMap_st {
  alignas(128) cuuint64_t opaque[16];
} CUtensorMap;
#endif
