// task: layernorm
// Several blocks a row: partial moments, then a second launch that merges them and writes.
struct Moments {
  float count, mean, m2;
  __host__ __device__ Moments() : count(0), mean(0), m2(0) {}
  __device__ Moments(float c, float m, float s) : count(c), mean(m), m2(s) {}
  __device__ Moments& operator+=(const Moments& o) {
    if (o.count == 0.0f) return *this;
    const float all = count + o.count, delta = o.mean - mean, share = o.count / all;
    mean += delta * share;
    m2 += o.m2 + delta * delta * count * share;
    count = all;
    return *this;
  }
};
__global__ void partial(const float* x, Moments* parts, int cols, int piece) {
  __shared__ char storage[64 * sizeof(Moments)];
  Moments* s = reinterpret_cast<Moments*>(storage);
  const float* row = x + blockIdx.y * cols;
  Moments m;
  for (int c = blockIdx.x * piece + threadIdx.x; c < min(cols, (static_cast<int>(blockIdx.x) + 1) * piece); c += 64) {
    m += Moments(1.0f, row[c], 0.0f);
  }
  s[threadIdx.x] = m;
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = s[0];
}
__global__ void finish(const float* x, const float* gamma, const float* beta, float* y, const Moments* parts,
                       int cols, int pieces, float eps) {
  Moments m;
  for (int p = 0; p < pieces; ++p) m += parts[blockIdx.y * pieces + p];
  const float scale = rsqrtf(m.m2 / cols + eps);
  const int c = blockIdx.x * 64 + threadIdx.x;
  if (c < cols) y[blockIdx.y * cols + c] = (x[blockIdx.y * cols + c] - m.mean) * scale * gamma[c] + beta[c];
}
extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows,
                          int cols, float eps) {
  const int piece = 256, pieces = (cols + piece - 1) / piece;
  Moments* parts;
  cudaMalloc(&parts, sizeof(Moments) * rows * pieces);
  partial<<<dim3(pieces, rows), 64>>>(x, parts, cols, piece);
  finish<<<dim3((cols + 63) / 64, rows), 64>>>(x, gamma, beta, y, parts, cols, pieces, eps);
  cudaFree(parts);
}
