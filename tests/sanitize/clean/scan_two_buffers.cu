// A scan with two buffers in turn.
// n: 128
__global__ void Scan(const int* in, int* out, int n) {
  __shared__ int tile[2][128];
  const int t = threadIdx.x;
  int from = 0;
  tile[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    tile[1 - from][t] = tile[from][t] + (t >= d ? tile[from][t - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[t] = tile[from][t];
}

extern "C" void launch(const int* in, int* out, int n) {
  Scan<<<1, 128>>>(in, out, n);
}
