// The scratch buffer has half of the elements.
// n: 512
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Square(const float* in, float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    scratch[i] = in[i] * in[i];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, n / 2 * sizeof(float));
  Square<<<4, 128>>>(in, scratch, n);
  cudaFree(scratch);
}
