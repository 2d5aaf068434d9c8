// Columns are guarded, rows are not.
// n: 900
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Negate(const float* in, float* out, int size) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  if (x < size) {
    out[y * size + x] = -in[y * size + x];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Negate<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 30);
}
