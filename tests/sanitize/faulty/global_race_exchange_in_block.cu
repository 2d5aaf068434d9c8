// Threads of one block exchange through global memory without a barrier.
// n: 128
// emulator: race
// sanitizer: none
__global__ void Swap(const float* in, float* scratch, float* out, int n) {
  const int t = threadIdx.x;
  scratch[t] = in[t];        // here
  out[t] = scratch[t ^ 64];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  cudaMemset(scratch, 0, n * sizeof(float));
  Swap<<<1, 128>>>(in, scratch, out, n);
  cudaFree(scratch);
}
