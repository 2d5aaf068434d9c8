// task: reduction
// launcher: recorded
// Levels of partial sums, each in memory of its own; the pointers are kept in a std::vector.
#include <vector>
__global__ void sums(const float* x, float* partial, int n) {
  __shared__ float s[256];
  float v = 0.0f;
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 1024); i += 256)
    v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

extern "C" void reduction(const float* x, float* sum, int n) {
  std::vector<int> sizes = {n};
  while (sizes.back() > 1) sizes.push_back((sizes.back() + 1023) / 1024);
  if (sizes.size() == 1) sizes.push_back(1);
  std::vector<float*> levels(sizes.size() - 2);
  for (size_t i = 0; i < levels.size(); ++i) cudaMalloc(&levels[i], sizes[i + 1] * sizeof(float));
  levels.push_back(sum);
  const float* from = x;
  for (size_t i = 0; i < levels.size(); ++i) {
    sums<<<sizes[i + 1], 256>>>(from, levels[i], sizes[i]);
    from = levels[i];
  }
  levels.pop_back();
  for (float* level : levels) cudaFree(level);
}
