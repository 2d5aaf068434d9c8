// The second kernel reads what the first one's guard left out.
// n: 256
// emulator: uninitialised
// sanitizer: initcheck
__global__ void First(const double* in, double* scratch, int n) {
  const int i = threadIdx.x;
  if (i < n - 1) {
    scratch[i] = in[i] * 0.5;
  }
}

__global__ void Second(const double* scratch, double* out, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    out[i] = scratch[i];  // here
  }
}

extern "C" void launch(const double* in, double* out, int n) {
  double* scratch = nullptr;
  cudaMalloc(&scratch, n / 2 * sizeof(double));
  First<<<1, 128>>>(in, scratch, n / 2);
  Second<<<1, 128>>>(scratch, out, n / 2);
  cudaFree(scratch);
}
