// out[image][filter][y][x] = sum over channel, i, j of in[image][channel][y + i - size / 2][x + j -
// size / 2] * weights[filter][channel][i][j]: one thread per output.

{{include}}__global__ void conv2d_channels_kernel(const {{type}}* in, const {{type}}* weights, {{type}}* out,
                                       int channels, int filters, int height, int width, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int filter = blockIdx.z % filters;
  int image = blockIdx.z / filters;
  if (x >= width || y >= height) {
    return;
  }
  float sum = 0.0f;
  for (int channel = 0; channel < channels; ++channel) {
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        int from_y = y + i - size / 2;
        int from_x = x + j - size / 2;
        if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
          sum += {{load:in[((image * channels + channel) * height + from_y) * width + from_x]}} *
                 {{load:weights[((filter * channels + channel) * size + i) * size + j]}};
        }
      }
    }
  }
  out[((image * filters + filter) * height + y) * width + x] = {{store:sum}};
}

extern "C" void conv2d_channels(const {{type}}* in, const {{type}}* weights, {{type}}* out, int images,
                                int channels, int filters, int height, int width, int size) {
  dim3 block(16, 16);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y, images * filters);
  conv2d_channels_kernel<<<grid, block>>>(in, weights, out, channels, filters, height, width, size);
}
