// task: dot_i8
// SIMD in a word: bytes are made unsigned by 128, whose share is taken off again at the end.
__global__ void k(const unsigned char* a, const unsigned char* b, int* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  unsigned products = 0, of_a = 0, of_b = 0;
  for (int c = 0; c < cols; ++c) {
    const unsigned u = a[r * cols + c] ^ 0x80u, v = __ldg(b + c) ^ 0x80u;
    products += u * v;
    of_a += u;
    of_b += v;
  }
  y[r] = static_cast<int>(products - 128u * of_a - 128u * of_b + 16384u * static_cast<unsigned>(cols));
}
extern "C" void dot_i8(const signed char* a, const signed char* b, int* y, int rows, int cols) {
  k<<<(rows + 63) / 64, 64>>>((const unsigned char*)a, (const unsigned char*)b, y, rows, cols);
}
