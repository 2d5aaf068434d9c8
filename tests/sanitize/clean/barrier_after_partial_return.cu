// Some threads of a warp leave before the barrier: it waits for those that have not exited.
// n: 200
__global__ void Reverse(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  if (i >= n) {
    return;
  }
  tile[t] = in[i];
  __syncthreads();
  const int count = min(64, n - blockIdx.x * 64);
  out[blockIdx.x * 64 + count - 1 - t] = tile[t];
}

extern "C" void launch(const float* in, float* out, int n) {
  Reverse<<<4, 64>>>(in, out, n);
}
