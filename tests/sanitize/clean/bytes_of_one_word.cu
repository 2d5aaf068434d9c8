// Neighbouring threads of different blocks write different bytes of one word.
// n: 300
// in: 300
// out: 300
__global__ void Negate(const signed char* in, signed char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = static_cast<signed char>(-in[i]);
  }
}

extern "C" void launch(const signed char* in, signed char* out, int n) {
  Negate<<<61, 5>>>(in, out, n);
}
