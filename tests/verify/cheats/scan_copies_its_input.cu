// task: scan
// kind: 4
// stage: L1
// reason: expected
extern "C" void scan(const int* x, int* y, int* workspace, int n) {
  cudaMemcpyAsync(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice);
}
