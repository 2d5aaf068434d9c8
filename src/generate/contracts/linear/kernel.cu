// y[r][o] = f(sum over p of x[r][p] * weights[o][p] + bias[o]): one thread per element of y.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, const {{type}}* weights, const {{type}}* bias, {{type}}* y,
                                int rows, int outputs, int inputs) {
  int o = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && o < outputs) {
    float sum = 0.0f;
    for (int p = 0; p < inputs; ++p) {
      sum += {{load:x[r * inputs + p]}} * {{load:weights[o * inputs + p]}};
    }
    float v = sum + {{load:bias[o]}};
    float result = {{op.kernel}};
    y[r * outputs + o] = {{store:result}};
  }
}

extern "C" void {{name}}(const {{type}}* x, const {{type}}* weights, const {{type}}* bias, {{type}}* y, int rows,
                         int outputs, int inputs) {
  dim3 block(16, 16);
  dim3 grid((outputs + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  {{name}}_kernel<<<grid, block>>>(x, weights, bias, y, rows, outputs, inputs);
}
