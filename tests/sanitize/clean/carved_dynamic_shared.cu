// Three arrays of different types in one piece of dynamic shared memory.
// n: 256
__global__ void Carve(const float* in, float* out, int n) {
  extern __shared__ __align__(16) char memory[];
  double* sums = reinterpret_cast<double*>(memory);
  float* values = reinterpret_cast<float*>(sums + 128);
  unsigned char* marks = reinterpret_cast<unsigned char*>(values + 128);
  const int t = threadIdx.x;
  const int i = blockIdx.x * 128 + t;
  values[t] = in[i];
  marks[t] = in[i] > 0.0f;
  sums[t] = 2.0 * in[i];
  __syncthreads();
  out[i] = values[127 - t] + static_cast<float>(sums[t ^ 1]) + marks[(t + 64) % 128];
}

extern "C" void launch(const float* in, float* out, int n) {
  Carve<<<2, 128, 128 * (8 + 4 + 1)>>>(in, out, n);
}
