// c = {{form.title}}: one thread per element of c.

{{include}}__global__ void {{name}}_kernel(const {{type}}* a, const {{type}}* b, {{type}}* c, int m, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    {{accum}} sum = 0;
    for (int p = 0; p < k; ++p) {
      sum += {{load:{{form.a}}}} * {{load:{{form.b}}}};
    }
    c[i * n + j] = {{store:sum}};
  }
}

extern "C" void {{name}}(const {{type}}* a, const {{type}}* b, {{type}}* c, int m, int n, int k) {
  dim3 block(16, 16);
  dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
  {{name}}_kernel<<<grid, block>>>(a, b, c, m, n, k);
}
