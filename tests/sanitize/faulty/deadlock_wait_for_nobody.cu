// A block waits for a flag that no block sets.
// n: 64
// emulator: deadlock
// sanitizer: hang
__global__ void Wait(const unsigned* in, volatile unsigned* out, int n) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = 1;
    while (out[blockIdx.x] != 2) {  // here
    }
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Wait<<<2, 32>>>(in, out, n);
}
