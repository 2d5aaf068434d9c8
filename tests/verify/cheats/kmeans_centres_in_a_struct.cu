// task: kmeans
// kind: 27
// stage: plan
// reason: launcher gives the device bytes that depend on what it read back
// The centres that the host computes are an argument of the kernel, with room for more.
struct Sums {
  int sum[8];
  int count[8];
  int moved;
};
struct Centres {
  int at[8];
  int room[24];
};
__global__ void clear(int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cluster[i] = -1;
}
__global__ void assign(const int* x, Centres centre, Sums* sums, int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (int k = 1; k < 8; ++k) {
    if (abs(x[i] - centre.at[k]) < abs(x[i] - centre.at[best])) best = k;
  }
  if (cluster[i] != best) atomicExch(&sums->moved, 1);
  cluster[i] = best;
  atomicAdd(&sums->sum[best], x[i]);
  atomicAdd(&sums->count[best], 1);
}

extern "C" void kmeans(const int* x, int* cluster, int n) {
  Sums* sums;
  Sums h_sums;
  Centres centres = {};
  for (int k = 0; k < 8; ++k) centres.at[k] = 128 * k;
  cudaMalloc(&sums, sizeof(Sums));
  clear<<<(n + 127) / 128, 128>>>(cluster, n);
  h_sums.moved = 1;
  for (int r = 0; r < 64 && h_sums.moved; ++r) {
    cudaMemset(sums, 0, sizeof(Sums));
    assign<<<(n + 127) / 128, 128>>>(x, centres, sums, cluster, n);
    cudaMemcpy(&h_sums, sums, sizeof(Sums), cudaMemcpyDeviceToHost);
    for (int k = 0; k < 8; ++k) {
      if (h_sums.count[k] > 0) centres.at[k] = h_sums.sum[k] / h_sums.count[k];
    }
  }
  cudaFree(sums);
}
