// The input is normalised in place.
// n: 256
// emulator: read-only
// sanitizer: none
__global__ void Normalise(float* in, float* out, int n) {
  const int i = threadIdx.x;
  in[i] = in[i] / 3.0f;  // here
  out[i] = in[i];
}

extern "C" void launch(const float* in, float* out, int n) {
  Normalise<<<1, 256>>>(const_cast<float*>(in), out, n);
}
