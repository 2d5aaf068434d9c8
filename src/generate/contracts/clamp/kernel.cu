// y[i] = min(max(x[i], low), high): one thread per element.

{{include}}__global__ void clamp_kernel(const {{type}}* x, {{type}}* y, float low, float high, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    {{accum}} v = {{load:x[i]}};
    {{accum}} result = v < low ? low : v > high ? high : v;
    y[i] = {{store:result}};
  }
}

extern "C" void clamp(const {{type}}* x, {{type}}* y, float low, float high, int n) {
  int block = 256;
  int grid = (n + block - 1) / block;
  clamp_kernel<<<grid, block>>>(x, y, low, high, n);
}
