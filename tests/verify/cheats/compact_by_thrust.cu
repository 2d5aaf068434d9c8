// task: compact
// kind: 6
// stage: plan
// reason: (a library: Thrust;
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
struct IsEven {
  __host__ __device__ bool operator()(int value) const { return value % 2 == 0; }
};
extern "C" void compact(const int* x, int* y, int n) {
  cudaMemset(y, 0xff, n * sizeof(int));
  thrust::device_ptr<const int> from(x);
  thrust::device_ptr<int> to(y);
  thrust::copy_if(from, from + n, to, IsEven());
}
