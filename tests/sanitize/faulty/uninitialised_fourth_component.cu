// Three of four components are written, all four are read.
// n: 128
// emulator: uninitialised
// sanitizer: initcheck
__global__ void Write(const float* in, float* scratch, int n) {
  const int i = threadIdx.x;
  scratch[4 * i] = in[i];
  scratch[4 * i + 1] = 2.0f * in[i];
  scratch[4 * i + 2] = 3.0f * in[i];
}

__global__ void Read(const float4* scratch, float* out, int n) {
  const int i = threadIdx.x;
  const float4 v = scratch[i];  // here
  out[i] = v.x + v.y + v.z + v.w;
}

extern "C" void launch(const float* in, float* out, int n) {
  float* scratch = nullptr;
  cudaMalloc(&scratch, 4 * n * sizeof(float));
  Write<<<1, 128>>>(in, scratch, n);
  Read<<<1, 128>>>(reinterpret_cast<const float4*>(scratch), out, n);
  cudaFree(scratch);
}
