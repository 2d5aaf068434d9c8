// A counter at an odd half word.
// n: 32
// emulator: misaligned
// sanitizer: memcheck
__global__ void Count(const unsigned* in, char* out, int n) {
  atomicAdd(reinterpret_cast<unsigned*>(out + 2), in[threadIdx.x]);  // here
}

extern "C" void launch(const unsigned* in, char* out, int n) {
  cudaMemset(out, 0, 128);
  Count<<<1, 32>>>(in, out, n);
}
