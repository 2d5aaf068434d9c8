// One thread per element.

__global__ void quantize_kernel(const float* x, signed char* q, float scale, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    q[i] = (signed char)fminf(fmaxf(rintf(x[i] * scale), -128.0f), 127.0f);
  }
}

extern "C" void quantize(const float* x, signed char* q, float scale, int n) {
  quantize_kernel<<<(n + 255) / 256, 256>>>(x, q, scale, n);
}
