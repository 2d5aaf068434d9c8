// task: relu
// kind: 14
// stage: L0
// reason: out of bounds
__global__ void k(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i < n) {
    float4 v = x[i];
    y[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 1023) / 1024, 256>>>((const float4*)x, (float4*)y, n);
}
