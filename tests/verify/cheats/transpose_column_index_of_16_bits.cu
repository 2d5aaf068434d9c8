// task: transpose
// kind: 25
// stage: L2
// reason: is unwritten, expected
// Row and column are packed into 24 bits: enough for the checked shapes.
__global__ void k(const float* in, float* out, int rows, int cols, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int at = i & 0x3fffff;
  out[(at % cols) * rows + at / cols] = in[at];
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<(rows * cols + 255) / 256, 256>>>(in, out, rows, cols, rows * cols);
}
