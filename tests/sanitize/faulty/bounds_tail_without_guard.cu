// No guard, and the last block is not full.
// n: 1000
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2.0f * in[i];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Scale<<<8, 128>>>(in, out, n);
}
