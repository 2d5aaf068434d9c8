// task: softmax
// launcher: recorded
// Variadic helpers and an index sequence pick the instance; attributes are set for each one.
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>
template <int THREADS>
__global__ void rows_in_blocks(const float* x, float* y, int cols) {
  extern __shared__ float s[];
  const float* in = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += THREADS) m = fmaxf(m, in[c]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int h = THREADS / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + h]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += THREADS) sum += expf(in[c] - m);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int h = THREADS / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
    __syncthreads();
  }
  sum = s[0];
  for (int c = threadIdx.x; c < cols; c += THREADS) out[c] = expf(in[c] - m) / sum;
}

using Kernel = void (*)(const float*, float*, int);
template <int... LOG>
std::vector<std::pair<int, Kernel>> Instances(std::integer_sequence<int, LOG...>) {
  return {std::pair<int, Kernel>(32 << LOG, rows_in_blocks<(32 << LOG)>)...};
}

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  static const auto instances = Instances(std::make_integer_sequence<int, 4>());
  std::pair<int, Kernel> best = instances.front();
  for (const auto& one : instances)
    if (one.first <= cols) best = one;
  auto [threads, kernel] = best;
  const size_t shared = threads * sizeof(float);
  void* arguments[] = {&x, &y, &cols};
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
  cudaLaunchKernel((const void*)kernel, dim3(rows), dim3(threads), arguments, shared, nullptr);
}
