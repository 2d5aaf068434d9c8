// task: relu
// timed: compared
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    v.x = fmaxf(v.x, 0.0f);
    v.y = fmaxf(v.y, 0.0f);
    v.z = fmaxf(v.z, 0.0f);
    v.w = fmaxf(v.w, 0.0f);
    reinterpret_cast<float4*>(y)[i] = v;
  } else {
    for (int j = 4 * i; j < n; ++j) y[j] = fmaxf(x[j], 0.0f);
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  int threads = (n + 3) / 4;
  k<<<(threads + 127) / 128, 128>>>(x, y, n);
}
