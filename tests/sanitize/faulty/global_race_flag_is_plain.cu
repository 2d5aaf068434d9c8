// The flag itself is written by a plain store.
// n: 64
// emulator: race
// sanitizer: none
__device__ unsigned data;
__device__ unsigned flag;

__global__ void Pass(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    data = in[0];  // here
    __threadfence();
    flag = 1;  // here
  } else {
    while (atomicAdd(&flag, 0u) == 0) {  // here
    }
    __threadfence();
    out[0] = data;  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pass<<<2, 32>>>(in, out, n);
}
