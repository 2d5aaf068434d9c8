// task: reduction
// kind: 6
// stage: plan
// reason: launcher calls cub::DeviceReduce
#include <cub/cub.cuh>
extern "C" void reduction(const float* x, float* sum, int n) {
  void* temp = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(temp, bytes, x, sum, n);
  cudaMalloc(&temp, bytes);
  cub::DeviceReduce::Sum(temp, bytes, x, sum, n);
}
