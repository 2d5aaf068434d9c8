// out[i][j] = sum over d of (x[i][d] - y[j][d])^2: one thread per pair.

__global__ void pairwise_distance_kernel(const {{type}}* x, const {{type}}* y, {{type}}* out, int m, int n,
                                         int dim) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    {{type}} sum = 0;
    for (int d = 0; d < dim; ++d) {
      {{type}} difference = x[i * dim + d] - y[j * dim + d];
      sum += difference * difference;
    }
    out[i * n + j] = sum;
  }
}

extern "C" void pairwise_distance(const {{type}}* x, const {{type}}* y, {{type}}* out, int m, int n, int dim) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  pairwise_distance_kernel<<<grid, block>>>(x, y, out, m, n, dim);
}
