// One thread stores four elements of which another stores one.
// n: 512
// emulator: race
// sanitizer: none
__global__ void Store(const float4* in, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];  // here
  if (i > 0) {
    reinterpret_cast<float*>(out)[4 * i - 1] = 0.0f;  // here
  }
}

extern "C" void launch(const float4* in, float4* out, int n) {
  Store<<<1, 128>>>(in, out, n);
}
