// task: relu
// A launcher as careful code has it: a macro around each call, and a look at the launch's status.
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t status = (call);                                                        \
    if (status != cudaSuccess) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));   \
      return;                                                                           \
    }                                                                                   \
  } while (0)
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  int device = 0, processors = 0, resident = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, k, 256, 0));
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, device));
  int blocks = (n + 255) / 256;
  if (properties.multiProcessorCount != processors || resident < 1) return;
  k<<<blocks, 256>>>(x, y, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}
