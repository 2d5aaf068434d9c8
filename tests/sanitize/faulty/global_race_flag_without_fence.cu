// A flag says that the data is there, and no fence orders the two.
// n: 64
// emulator: race
// sanitizer: none
__device__ unsigned data;
__device__ volatile unsigned flag;

__global__ void Pass(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    data = in[0];  // here
    flag = 1;
  } else {
    while (flag == 0) {
    }
    out[0] = data;  // here
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pass<<<2, 32>>>(in, out, n);
}
