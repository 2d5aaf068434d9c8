// y = the {{kind.title}} of each window x window square of x, whose corners are `stride` apart: one thread
// per output.

{{include}}__global__ void {{name}}_kernel(const {{type}}* x, {{type}}* y, int height, int width, int out_height,
                                int out_width, int window, int stride, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= count) {
    return;
  }
  int c = index % out_width;
  int r = index / out_width % out_height;
  int plane = index / (out_width * out_height);
  {{accum}} result = {{kind.start}};
  for (int i = 0; i < window; ++i) {
    for (int j = 0; j < window; ++j) {
      {{accum}} v = {{load:x[(plane * height + r * stride + i) * width + c * stride + j]}};
      result = {{kind.combine}};
    }
  }
  {{accum}} total = {{kind.finish}};
  y[index] = {{store:total}};
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int images, int channels, int height, int width,
                         int window, int stride) {
  int out_height = (height - window) / stride + 1;
  int out_width = (width - window) / stride + 1;
  int count = images * channels * out_height * out_width;
  int block = 256;
  int grid = (count + block - 1) / block;
  {{name}}_kernel<<<grid, block>>>(x, y, height, width, out_height, out_width, window, stride, count);
}
