// task: scan
// kind: 22
// stage: L0
// reason: uninitialised
__global__ void k(const int* x, int* y, int* total, int n) {
  for (int i = 0; i < n; ++i) y[i] = *total += x[i];
}
extern "C" void scan(const int* x, int* y, int* workspace, int n) {
  k<<<1, 1>>>(x, y, workspace, n);
}
