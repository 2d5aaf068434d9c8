// A warp transposes 32 by 32 elements through a tile of its own, behind warp synchronisations.
// n: 2048
__global__ void Transpose(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned tile[2][32][33];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < 32; ++k) {
    tile[warp][k][lane] = in[warp * 1024 + k * 32 + lane];
  }
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    out[warp * 1024 + k * 32 + lane] = tile[warp][lane][k];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Transpose<<<1, 64>>>(in, out, n);
}
