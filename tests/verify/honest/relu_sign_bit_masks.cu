// task: relu
// No float instruction at all: the sign is spread over the word and masks it out.
__global__ void k(const int* __restrict__ x, int* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bits = __ldg(x + i);
    y[i] = bits & ~(bits >> 31);
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<min((n + 127) / 128, 132 * 8), 128>>>(reinterpret_cast<const int*>(x), reinterpret_cast<int*>(y), n);
}
