// Sums of floats by atomics from all blocks.
// n: 1024
// out: 4
__global__ void Sum(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(out, in[i] * 1e-30f);
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  Sum<<<8, 128>>>(in, out, n);
}
