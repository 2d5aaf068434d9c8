// task: relu
// Another way to load for newer architectures, in device code alone.
__device__ float load(const float* at) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float v;
  asm volatile("ld.global.nc.L2::128B.f32 %0, [%1];" : "=f"(v) : "l"(at));
  return v;
#else
  return __ldg(at);
#endif
}
__global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(load(x + i), 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 255) / 256, 256>>>(x, y, n); }
