// task: relu
// kind: 33
// stage: plan
// reason: the launch of make is missing
__global__ void make(float* table) { table[threadIdx.x] = threadIdx.x ? 1.0f : 0.0f; }
__global__ void k(const float* x, float* y, const float* table, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] * table[1] : 0.0f;
}
extern "C" void relu(const float* x, float* y, int n) {
  static float* table = nullptr;
  if (table == nullptr) {
    cudaMalloc(&table, 32 * sizeof(float));
    make<<<1, 32>>>(table);
  }
  k<<<(n + 255) / 256, 256>>>(x, y, table, n);
}
