// task: relu
template <int UNROLL>
__global__ void __launch_bounds__(128) k(const float* __restrict__ x, float* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = __ldg(x + i) > 0.0f ? x[i] : 0.0f;
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  int blocks = (n + 127) / 128;
  if (blocks > 8) blocks = 8;
  k<4><<<blocks, 128>>>(x, y, n);
}
