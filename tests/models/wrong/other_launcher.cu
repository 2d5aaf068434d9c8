// stage: plan
// reason: transpose
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols, float tolerance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    out[i % cols * rows + i / cols] = in[i] + tolerance;
  }
}

extern "C" void transpose(const float* in, float* out, int rows, int cols, float tolerance) {
  transpose_kernel<<<(rows * cols + 255) / 256, 256>>>(in, out, rows, cols, tolerance);
}
