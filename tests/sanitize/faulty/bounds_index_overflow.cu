// A product that leaves 32 bits.
// n: 4096
// emulator: out of bounds
// sanitizer: memcheck
__global__ void Gather(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = static_cast<int>(static_cast<unsigned>(i) * 1000003u) % n;
  out[i] = in[at];  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Gather<<<32, 128>>>(in, out, n);
}
