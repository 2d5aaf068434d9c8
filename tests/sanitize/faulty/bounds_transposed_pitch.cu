// The transposed store uses the pitch of the input.
// n: 1536
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Transpose(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * 16 + threadIdx.x;
  const int y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows) {
    out[x * columns + y] = in[y * columns + x];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Transpose<<<dim3(3, 2), dim3(16, 16)>>>(in, out, 32, 48);
}
