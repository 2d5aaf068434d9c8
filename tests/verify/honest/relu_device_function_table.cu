// task: relu
// Calls through a table of device functions.
using Function = float (*)(float);
__device__ float keep(float v) { return v; }
__device__ float drop(float) { return 0.0f; }
__device__ const Function table[2] = {keep, drop};
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[__float_as_uint(x[i]) >> 31](x[i]);
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 255) / 256, 256>>>(x, y, n); }
