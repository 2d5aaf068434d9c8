// y = {{op.title}}: one thread per element.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int n{{op.params}}) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {{accum}} v = {{load:x[i]}};
    {{accum}} result = {{op.kernel}};
    y[i] = {{store:result}};
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int n{{op.params}}) {
  int block = 256;
  int grid = (n + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, n{{op.pass}});
}
