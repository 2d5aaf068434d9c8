// Scratch memory that nobody wrote.
// n: 128
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Read(const float* scratch, float* out, int n) {
  out[threadIdx.x] = 2.0f * scratch[threadIdx.x];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  Read<<<1, 128>>>(scratch, out, n);
  cudaFree(scratch);
}
