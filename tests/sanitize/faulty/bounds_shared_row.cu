// A padded tile is read one row too far.
// n: 1024
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Rows(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  tile[y][x] = in[y * 32 + x];
  if (x == 0) {
    tile[y][32] = 0.0f;
  }
  __syncthreads();
  out[y * 32 + x] = tile[y + 1][x];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Rows<<<1, dim3(32, 32)>>>(in, out, n);
}
