// task: relu
// kind: 33
// stage: plan
// reason: launch
__global__ void make(float* table) { table[threadIdx.x] = threadIdx.x ? 1.0f : 0.0f; }
__global__ void k(const float* x, float* y, const float* table, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] * table[1] : 0.0f;
}
struct Table {
  float* values;
  Table() {
    cudaMalloc(&values, 32 * sizeof(float));
    make<<<1, 32>>>(values);
  }
};
static Table table;
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 255) / 256, 256>>>(x, y, table.values, n);
}
