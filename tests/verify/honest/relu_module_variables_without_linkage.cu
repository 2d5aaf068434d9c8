// task: relu
// Static module variables, and those of namespaces without a name: NVRTC spells them in its own way.
static __constant__ float floor_of_all[2];
namespace {
__constant__ float one[1];
namespace inner {
__device__ float zero[4];
}
}  // namespace
namespace named {
static __device__ float none;
}
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = fmaxf(x[i], floor_of_all[1]) * one[0] + inner::zero[3] + named::none;
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  const float lowest[2] = {9.0f, 0.0f};
  const float unit = 1.0f;
  cudaMemcpyToSymbol(floor_of_all, lowest, sizeof(lowest));
  cudaMemcpyToSymbol(one, &unit, sizeof(unit));
  const float zeros[4] = {};
  cudaMemcpyToSymbol(inner::zero, zeros, sizeof(zeros));
  cudaMemcpyToSymbol(named::none, zeros, sizeof(float));
  k<<<(n + 255) / 256, 256>>>(x, y, n);
}
