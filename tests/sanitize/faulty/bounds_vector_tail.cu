// The last float4 is not whole.
// n: 1001
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Copy(const float4* in, float4* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) {
    out[i] = in[i];  // here
  }
}

extern "C" void launch(const float4* in, float4* out, int n) {
  Copy<<<2, 128>>>(in, out, (n + 3) / 4);
}
