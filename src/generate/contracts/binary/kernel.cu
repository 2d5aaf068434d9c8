// z = the {{op.title}} of x and y, element by element: one thread per element.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, const {{type}}* y, {{type}}* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {{accum}} v = {{load:x[i]}};
    {{accum}} w = {{load:y[i]}};
    {{accum}} result = {{op.kernel}};
    z[i] = {{store:result}};
  }
}

extern "C" void {{name}}(const {{type}}* x, const {{type}}* y, {{type}}* z, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, z, n);
}
