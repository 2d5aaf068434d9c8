// A table in constant memory that is too short.
// n: 64
// emulator: out of bounds
// sanitizer: none
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void Weigh(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    out[i] = in[i] * weights[i % 9];  // here
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Weigh<<<1, 64>>>(in, out, n);
}
