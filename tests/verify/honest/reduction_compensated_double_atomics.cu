// task: reduction
// Doubles throughout, added up by a loop of compare and swap, and a last block that rounds.
__device__ double total;
__device__ unsigned int done;
__device__ void add(double* at, double v) {
  auto* word = reinterpret_cast<unsigned long long*>(at);
  unsigned long long old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __double_as_longlong(__longlong_as_double(assumed) + v));
  } while (assumed != old);
}
__global__ void k(const float* x, float* sum, int n) {
  double v = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (threadIdx.x % 32 != 0) return;
  add(&total, v);
  __threadfence();
  const unsigned warps = gridDim.x * blockDim.x / 32;
  if (atomicInc(&done, warps - 1) == warps - 1) {
    *sum = static_cast<float>(__longlong_as_double(atomicExch(reinterpret_cast<unsigned long long*>(&total), 0ull)));
  }
}
extern "C" void reduction(const float* x, float* sum, int n) { k<<<min((n + 255) / 256, 32), 256>>>(x, sum, n); }
