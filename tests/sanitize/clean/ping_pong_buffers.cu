// Several launches that read one buffer and write the other.
// n: 512
__global__ void Step(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = 0.5f * (from[i] + from[(i + 1) % n]);
}

extern "C" void launch(const float* in, float* out, int n) {
  float* other = nullptr;
  cudaMalloc(&other, n * sizeof(float));
  Step<<<4, 128>>>(in, other, n);
  Step<<<4, 128>>>(other, out, n);
  Step<<<4, 128>>>(out, other, n);
  Step<<<4, 128>>>(other, out, n);
  cudaFree(other);
}
