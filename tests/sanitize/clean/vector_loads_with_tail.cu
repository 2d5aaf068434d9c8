// Quads for what is whole, single elements for the rest.
// n: 1003
__global__ void Scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<const float4*>(in)[i];
    v.x *= 2;
    v.y *= 2;
    v.z *= 2;
    v.w *= 2;
    reinterpret_cast<float4*>(out)[i] = v;
  }
  const int tail = n / 4 * 4 + i;
  if (tail < n) {
    out[tail] = 2 * in[tail];
  }
}

extern "C" void launch(const float* in, float* out, int n) {
  Scale<<<2, 128>>>(in, out, n);
}
