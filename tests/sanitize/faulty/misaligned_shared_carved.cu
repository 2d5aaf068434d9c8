// Doubles after an odd number of floats in dynamic shared memory.
// n: 33
// emulator: misaligned
// sanitizer: memcheck
__global__ void Carve(const float* in, float* out, int n) {
  extern __shared__ __align__(16) char memory[];
  float* floats = reinterpret_cast<float*>(memory);
  double* doubles = reinterpret_cast<double*>(floats + n);
  const int t = threadIdx.x;
  floats[t] = in[t];
  doubles[t] = in[t];  // here
  __syncthreads();
  out[t] = floats[n - 1 - t] + static_cast<float>(doubles[t]);
}

extern "C" void launch(const float* in, float* out, int n) {
  Carve<<<1, 33, 512>>>(in, out, n);
}
