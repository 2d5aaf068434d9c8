// Two phases in one kernel; the second reads what other blocks write in the first.
// n: 512
// emulator: race
// sanitizer: none
__global__ void Reverse(const double* in, double* scratch, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  scratch[i] = 2.0 * in[i];  // here
  __syncthreads();
  out[i] = scratch[n - 1 - i];  // here
}

extern "C" void launch(const double* in, double* out, int n) {
  double* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  cudaMemset(scratch, 0, n * sizeof(float));
  Reverse<<<4, 64>>>(in, scratch, out, n / 2);
  cudaFree(scratch);
}
