// A stencil in place inside of one block: all reads, a barrier, all writes.
// n: 128
__global__ void Blur(const float* in, float* out, int n) {
  const int t = threadIdx.x;
  out[t] = in[t];
  __syncthreads();
  const float left = t > 0 ? out[t - 1] : 0.0f;
  const float right = t < n - 1 ? out[t + 1] : 0.0f;
  __syncthreads();
  out[t] = 0.5f * (left + right);
}

extern "C" void launch(const float* in, float* out, int n) {
  Blur<<<1, 128>>>(in, out, n);
}
