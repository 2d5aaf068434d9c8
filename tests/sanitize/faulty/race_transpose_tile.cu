// A transposition through a tile without a barrier.
// n: 1024
// emulator: race
// also: uninitialised
// sanitizer: racecheck
__global__ void Transpose(const float* in, float* out, int size) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  tile[y][x] = in[y * size + x];   // here
  out[y * size + x] = tile[x][y];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Transpose<<<1, dim3(32, 32)>>>(in, out, 32);
}
