// task: matmul
// Every block gets the same number of steps of k, across the borders of tiles; the parts of a tile
// that several blocks share are added in scratch memory by the block that began it.
constexpr int kT = 16;
__global__ void k(const float* a, const float* b, float* c, float* parts, unsigned* ready, int m, int n,
                  int p, int per_block) {
  __shared__ float sa[kT][kT + 1], sb[kT][kT + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int tiles_n = (n + kT - 1) / kT, tiles_m = (m + kT - 1) / kT, steps = (p + kT - 1) / kT;
  const int all = tiles_m * tiles_n * steps;
  int at = blockIdx.x * per_block;
  const int end = min(all, at + per_block);
  while (at < end) {
    const int tile = at / steps, first = at % steps, last = min(steps, first + end - at);
    const int i = tile / tiles_n * kT + ty, j = tile % tiles_n * kT + tx;
    float sum = 0.0f;
    for (int s = first; s < last; ++s) {
      sa[ty][tx] = i < m && s * kT + tx < p ? a[i * p + s * kT + tx] : 0.0f;
      sb[ty][tx] = s * kT + ty < p && j < n ? b[(s * kT + ty) * n + j] : 0.0f;
      __syncthreads();
#pragma unroll 4
      for (int q = 0; q < kT; ++q) sum += sa[ty][q] * sb[q][tx];
      __syncthreads();
    }
    if (first == 0) {
      for (int done = last; done < steps;) {  // wait for the later parts, which other blocks have
        const int other = (tile * steps + done) / per_block;
        if (tx == 0 && ty == 0) {
          while (atomicAdd(ready + other, 0u) == 0) __nanosleep(20);
          __threadfence();
        }
        __syncthreads();
        sum += __ldcg(parts + other * kT * kT + ty * kT + tx);
        done = min(steps, (other + 1) * per_block - tile * steps);
      }
      if (i < m && j < n) c[i * n + j] = sum;
    } else {
      parts[blockIdx.x * kT * kT + ty * kT + tx] = sum;
      __threadfence();
      __syncthreads();
      if (tx == 0 && ty == 0) atomicExch(ready + blockIdx.x, 1u);
    }
    at += last - first;
  }
}
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k_) {
  const int all = ((m + kT - 1) / kT) * ((n + kT - 1) / kT) * ((k_ + kT - 1) / kT);
  int blocks = all < 132 ? (all + 1) / 2 : 132;
  const int per_block = (all + blocks - 1) / blocks;
  blocks = (all + per_block - 1) / per_block;
  float* parts;
  cudaMallocAsync(&parts, (kT * kT * sizeof(float) + sizeof(unsigned)) * blocks, cudaStreamPerThread);
  unsigned* ready = reinterpret_cast<unsigned*>(parts + kT * kT * blocks);
  cudaMemsetAsync(ready, 0, blocks * sizeof(unsigned), cudaStreamPerThread);
  k<<<blocks, dim3(kT, kT), 0, cudaStreamPerThread>>>(a, b, c, parts, ready, m, n, k_, per_block);
  cudaFreeAsync(parts, cudaStreamPerThread);
  cudaStreamSynchronize(cudaStreamPerThread);
}
