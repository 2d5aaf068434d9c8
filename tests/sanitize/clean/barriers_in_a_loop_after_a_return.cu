// Threads leave before a loop of barriers; a count over those that are left.
// n: 250
// out: 1000
__global__ void Sums(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  if (i >= n || t == 5) {
    return;
  }
  const int left = min(64, n - static_cast<int>(blockIdx.x) * 64);
  unsigned sum = 0;
  for (int round = 0; round < 8; ++round) {
    tile[t] = in[i] % 7 + round;
    __syncthreads();
    const int other = (t + round + 1) % left;
    if (other != 5) {
      sum += tile[other];
    }
    sum += __syncthreads_count(in[i] % 2 == 0);
  }
  out[i] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Sums<<<4, 64>>>(in, out, n);
}
