// task: transpose
// kind: 21
// stage: L0
// reason: misaligned
__global__ void k(const float* in, float* out, int rows, int cols) {
  int r = blockIdx.x * 2;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    if (r + 1 < rows) *(float2*)&out[c * rows + r] = make_float2(in[r * cols + c], in[(r + 1) * cols + c]);
    else out[c * rows + r] = in[r * cols + c];
  }
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<(rows + 1) / 2, 64>>>(in, out, rows, cols);
}
