// c[t] = a[t] b[t] for each t of the batch: one thread per element of c.

{{include}}__global__ void batched_matmul_kernel(const {{type}}* a, const {{type}}* b, {{type}}* c, int m, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int t = blockIdx.z;
  if (i < m && j < n) {
    {{accum}} sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += {{load:a[(t * m + i) * k + p]}} * {{load:b[(t * k + p) * n + j]}};
    }
    c[(t * m + i) * n + j] = {{store:sum}};
  }
}

extern "C" void batched_matmul(const {{type}}* a, const {{type}}* b, {{type}}* c, int batch, int m, int n,
                               int k) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y, batch);
  batched_matmul_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
