// One thread writes, all read, and no barrier is between.
// n: 128
// emulator: race
// also: uninitialised
// sanitizer: racecheck
__global__ void Shift(const float* in, float* out, int n) {
  __shared__ float base;
  if (threadIdx.x == 0) {
    base = in[0];  // here
  }
  out[threadIdx.x] = in[threadIdx.x] - base;  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Shift<<<1, 128>>>(in, out, n);
}
