// task: relu
// Scalar elements up to the first aligned one, vectors, and a scalar tail.
__global__ void k(const float* x, float* y, int n) {
  const int rank = blockIdx.x * blockDim.x + threadIdx.x;
  const int all = gridDim.x * blockDim.x;
  const unsigned long long a = reinterpret_cast<unsigned long long>(x);
  const unsigned long long b = reinterpret_cast<unsigned long long>(y);
  if ((a & 15) != (b & 15)) {
    for (int i = rank; i < n; i += all) y[i] = fmaxf(x[i], 0.0f);
    return;
  }
  const int head = min(n, static_cast<int>((16 - (a & 15)) & 15) / 4);
  const int vectors = (n - head) / 4;
  for (int i = rank; i < head; i += all) y[i] = fmaxf(x[i], 0.0f);
  for (int i = rank; i < vectors; i += all) {
    float4 v = reinterpret_cast<const float4*>(x + head)[i];
    v = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
    reinterpret_cast<float4*>(y + head)[i] = v;
  }
  for (int i = head + vectors * 4 + rank; i < n; i += all) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n / 4 + 256) / 256, 256>>>(x, y, n); }
