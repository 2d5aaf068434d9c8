// Included before every candidate: what nvcc's own implicit cuda_runtime.h brings into scope and NVRTC does not.
#ifndef OPTIML_STUB_PRELUDE_H_
#define OPTIML_STUB_PRELUDE_H_
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#endif
