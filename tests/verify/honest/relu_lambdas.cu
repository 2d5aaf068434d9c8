// task: relu
// Lambdas inside of a kernel, by value and by reference, handed to a template; and in the launcher.
template <typename F>
__device__ void for_each(int begin, int end, int step, F f) {
  for (int i = begin; i < end; i += step) f(i);
}
__global__ void k(const float* x, float* y, int n) {
  auto positive = [](float v) { return v > 0.0f ? v : 0.0f; };
  int count = 0;
  for_each(blockIdx.x * blockDim.x + threadIdx.x, n, gridDim.x * blockDim.x, [=, &count](int i) {
    y[i] = positive(x[i]);
    ++count;
  });
  if (count < 0) y[0] = 1.0f;
}
extern "C" void relu(const float* x, float* y, int n) {
  const auto ceil_div = [](int a, int b) { return (a + b - 1) / b; };
  const int wanted = ceil_div(n, 256);
  k<<<wanted < 264 ? wanted : 264, 256>>>(x, y, n);
}
