// y[r][c] = f(x[r][c] + bias[c]): one thread per element.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, const {{type}}* bias, {{type}}* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    {{accum}} v = {{load:x[r * cols + c]}} + {{load:bias[c]}};
    {{accum}} result = {{op.kernel}};
    y[r * cols + c] = {{store:result}};
  }
}

extern "C" void {{name}}(const {{type}}* x, const {{type}}* bias, {{type}}* y, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  {{name}}_kernel<<<grid, block>>>(x, bias, y, rows, cols);
}
