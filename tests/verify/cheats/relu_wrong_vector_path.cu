// task: relu
// kind: 14
// stage: L1
// reason: n=1024
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
__global__ void k4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i < n) {
    float4 v = x[i];
    y[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), v.w);
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  if (n % 4 == 0) {
    k4<<<(n + 1023) / 1024, 256>>>((const float4*)x, (float4*)y, n);
  } else {
    k<<<(n + 255) / 256, 256>>>(x, y, n);
  }
}
