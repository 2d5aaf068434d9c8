// State and sum in one word of 64 bits, so that no fence is needed.
// n: 512
__global__ void Scan(const unsigned* in, unsigned long long* states, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  unsigned before = 0;
  volatile unsigned long long* polled = states;
  if (blockIdx.x > 0) {
    unsigned long long state = 0;
    do {
      state = polled[blockIdx.x - 1];
    } while (state >> 32 == 0);
    before = static_cast<unsigned>(state);
  }
  const unsigned sum = before + in[blockIdx.x] % 100;
  atomicExch(&states[blockIdx.x], (1ull << 32) | sum);
  out[blockIdx.x] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  unsigned long long* states = nullptr;
  cudaMalloc(&states, 16 * sizeof(unsigned long long));
  cudaMemset(states, 0, 16 * sizeof(unsigned long long));
  Scan<<<16, 32>>>(in, states, out, n);
  cudaFree(states);
}
