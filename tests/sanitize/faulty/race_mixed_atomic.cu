// A counter of atomics is read without a barrier.
// n: 128
// emulator: race
// sanitizer: none
__global__ void Count(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  if (in[threadIdx.x] % 2 == 0) {
    atomicAdd(&count, 1u);  // here
  }
  out[threadIdx.x] = count;  // here
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Count<<<1, 128>>>(in, out, n);
}
