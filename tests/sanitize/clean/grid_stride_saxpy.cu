// A grid-stride loop over a size that nothing divides.
// n: 1013
__global__ void Axpy(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = in[i];
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] += 3.0f * in[i];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Axpy<<<3, 96>>>(in, out, n);
}
