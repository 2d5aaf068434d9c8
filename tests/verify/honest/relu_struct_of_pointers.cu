// task: relu
// Views by value, as most libraries hand their tensors to kernels.
template <typename T>
struct View {
  T* data;
  int size;
  __device__ T& operator[](int i) const { return data[i]; }
};
__global__ void k(View<const float> x, View<float> y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < y.size) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) {
  View<const float> in{x, n};
  View<float> out{y, n};
  k<<<(n + 255) / 256, 256>>>(in, out);
}
