// The flag is stored with release and loaded with acquire; no fence is needed.
// n: 64
__device__ unsigned data;
__device__ unsigned flag;

__global__ void Pass(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    data = in[0];
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&flag), "r"(1u) : "memory");
  } else {
    unsigned seen = 0;
    while (seen == 0) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    }
    out[0] = data;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pass<<<2, 32>>>(in, out, n);
}
