// The scratch memory is freed before the kernel that uses it.
// n: 256
// emulator: refused
// sanitizer: memcheck
__global__ void Fill(float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    scratch[i] = 1.0f;
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  cudaFree(scratch);
  Fill<<<2, 128>>>(scratch, n);  // here
}
