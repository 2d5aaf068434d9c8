// task: reduction
// kind: 22
// stage: L0
// reason: uninitialised
__global__ void k(const float* x, float* sum, float* scratch, int n) {
  for (int i = 0; i < n; ++i) scratch[0] += x[i];
  *sum = scratch[0];
}
extern "C" void reduction(const float* x, float* sum, int n) {
  float* scratch;
  cudaMalloc(&scratch, sizeof(float));
  k<<<1, 1>>>(x, sum, scratch, n);
  cudaFree(scratch);
}
