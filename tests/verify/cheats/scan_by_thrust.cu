// task: scan
// kind: 6
// stage: plan
// reason: launcher calls thrust::inclusive_scan
#include <thrust/device_ptr.h>
#include <thrust/scan.h>
extern "C" void scan(const int* x, int* y, int* workspace, int n) {
  thrust::inclusive_scan(thrust::device_pointer_cast(x), thrust::device_pointer_cast(x) + n, thrust::device_pointer_cast(y));
}
