// A shared sum that nobody zeroed.
// n: 128
// emulator: uninitialised
// sanitizer: none
__global__ void Sum(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned sum;
  atomicAdd(&sum, in[threadIdx.x]);  // here
  __syncthreads();
  out[threadIdx.x] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Sum<<<1, 128>>>(in, out, n);
}
