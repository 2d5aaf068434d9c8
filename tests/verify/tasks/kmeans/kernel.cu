// A round assigns and sums, another launch moves the centres; whether something moved is read back.
struct Round {
  int centre[8];
  int sum[8];
  int count[8];
  int moved;
};

__global__ void begin(Round* round, int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cluster[i] = -1;
  if (i < 8) {
    round->centre[i] = 128 * i;
    round->sum[i] = 0;
    round->count[i] = 0;
  }
  if (i == 0) round->moved = 0;
}

__global__ void assign(const int* x, Round* round, int* cluster, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int best = 0;
  for (int k = 1; k < 8; ++k) {
    if (abs(x[i] - round->centre[k]) < abs(x[i] - round->centre[best])) best = k;
  }
  if (cluster[i] != best) atomicExch(&round->moved, 1);
  cluster[i] = best;
  atomicAdd(&round->sum[best], x[i]);
  atomicAdd(&round->count[best], 1);
}

__global__ void move(Round* round) {
  int k = threadIdx.x;
  if (round->count[k] > 0) round->centre[k] = round->sum[k] / round->count[k];
  round->sum[k] = 0;
  round->count[k] = 0;
  if (k == 0) round->moved = 0;
}

extern "C" void kmeans(const int* x, int* cluster, int n) {
  Round* round;
  cudaMalloc(&round, sizeof(Round));
  begin<<<(n + 7 + 127) / 128, 128>>>(round, cluster, n);
  int moved = 1;
  for (int r = 0; r < 64 && moved; ++r) {
    assign<<<(n + 127) / 128, 128>>>(x, round, cluster, n);
    cudaMemcpy(&moved, &round->moved, sizeof(int), cudaMemcpyDeviceToHost);
    move<<<1, 8>>>(round);
  }
  cudaFree(round);
}
