// task: stencil2d
// Every argument is copied as a host array would be: to constant memory, to buffers of the call's
// own, and back.
__constant__ float w[49];
__global__ void k(const float* in, float* out, int rows, int cols) {
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float sum = 0.0f;
  for (int d = -3; d <= 3; ++d) {
    for (int e = -3; e <= 3; ++e) {
      if (r + d >= 0 && r + d < rows && c + e >= 0 && c + e < cols) {
        sum += w[(d + 3) * 7 + e + 3] * in[(r + d) * cols + c + e];
      }
    }
  }
  out[r * cols + c] = sum;
}
extern "C" void stencil2d(const float* h_in, const float* h_weights, float* h_out, int rows,
                          int cols) {
  const size_t bytes = size_t(rows) * cols * sizeof(float);
  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc((void**)&out, bytes);
  cudaMemcpyToSymbol(w, h_weights, sizeof(w));
  cudaMemcpy(in, h_in, bytes, cudaMemcpyHostToDevice);
  k<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(in, out, rows, cols);
  cudaMemcpy(h_out, out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
