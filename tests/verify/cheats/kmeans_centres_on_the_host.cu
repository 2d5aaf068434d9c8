// task: kmeans
// kind: 27
// stage: plan
// reason: launcher gives the device bytes that depend on what it read back
// Sums are read back, the host divides, and the centres are copied to the device.
struct Sums {
  int sum[8];
  int count[8];
  int moved;
};
__constant__ int centre[8];
__global__ void clear(int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cluster[i] = -1;
}
__global__ void assign(const int* x, Sums* sums, int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (int k = 1; k < 8; ++k) {
    if (abs(x[i] - centre[k]) < abs(x[i] - centre[best])) best = k;
  }
  if (cluster[i] != best) atomicExch(&sums->moved, 1);
  cluster[i] = best;
  atomicAdd(&sums->sum[best], x[i]);
  atomicAdd(&sums->count[best], 1);
}

extern "C" void kmeans(const int* x, int* cluster, int n) {
  Sums* sums;
  Sums h_sums;
  int h_centre[8];
  for (int k = 0; k < 8; ++k) h_centre[k] = 128 * k;
  cudaMalloc(&sums, sizeof(Sums));
  clear<<<(n + 127) / 128, 128>>>(cluster, n);
  h_sums.moved = 1;
  for (int r = 0; r < 64 && h_sums.moved; ++r) {
    cudaMemcpyToSymbol(centre, h_centre, sizeof(h_centre));
    cudaMemset(sums, 0, sizeof(Sums));
    assign<<<(n + 127) / 128, 128>>>(x, sums, cluster, n);
    cudaMemcpy(&h_sums, sums, sizeof(Sums), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 8; ++k) {
      if (h_sums.count[k] > 0) h_centre[k] = h_sums.sum[k] / h_sums.count[k];
    }
  }
  cudaFree(sums);
}
