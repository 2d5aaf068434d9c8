// Blocks wait for two earlier ones by flags that are set with atomicOr.
// n: 256
__device__ unsigned ready;

__global__ void Levels(const unsigned* in, unsigned* values, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  const unsigned b = blockIdx.x;
  unsigned sum = in[b] % 10;
  const unsigned needed = b < 2 ? 0u : 3u << (b - 2);
  while ((atomicOr(&ready, 0u) & needed) != needed) {
  }
  __threadfence();
  if (b >= 2) {
    sum += values[b - 1] + values[b - 2];
  }
  values[b] = sum;
  __threadfence();
  atomicOr(&ready, 1u << b);
  out[b] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned* values = nullptr;
  cudaMalloc(&values, 8 * sizeof(unsigned));
  Levels<<<8, 32>>>(in, values, out, n);
  cudaFree(values);
}
