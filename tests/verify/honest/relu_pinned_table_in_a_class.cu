// task: relu
// launcher: recorded
// Pinned memory that is filled anew after the host has waited for its last upload, and freed.
namespace {
__constant__ float factors[2];
}
__global__ void k(const float* x, float* y, int n, const float* lowest) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], lowest[0]) * factors[1];
}
class Pinned {
 public:
  Pinned() { cudaMallocHost(&host_, 2 * sizeof(float)); }
  ~Pinned() { cudaFreeHost(host_); }
  float& operator[](int i) { return host_[i]; }
  const float* data() const { return host_; }

 private:
  float* host_ = nullptr;
};
extern "C" void relu(const float* x, float* y, int n) {
  Pinned table;
  float* lowest = nullptr;
  cudaMalloc(&lowest, sizeof(float));
  cudaEvent_t uploaded;
  cudaEventCreate(&uploaded);
  table[0] = 0.0f;
  table[1] = 1.0f;
  cudaMemcpyAsync(lowest, table.data(), sizeof(float), cudaMemcpyHostToDevice, 0);
  cudaEventRecord(uploaded, 0);
  cudaEventSynchronize(uploaded);
  table[0] = 7.0f;
  cudaMemcpyToSymbol(factors, table.data(), 2 * sizeof(float));
  table[1] = 5.0f;
  k<<<(n + 255) / 256, 256>>>(x, y, n, lowest);
  cudaEventDestroy(uploaded);
  cudaFree(lowest);
}
