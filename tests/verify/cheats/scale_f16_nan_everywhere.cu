// task: scale_f16
// kind: 11
// stage: L1
// reason: got nan
#include <cuda_fp16.h>
__global__ void k(unsigned short* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0x7e00;
}
extern "C" void scale_f16(const __half* x, __half* y, float a, float b, int n) {
  k<<<(n + 255) / 256, 256>>>((unsigned short*)y, n);
}
