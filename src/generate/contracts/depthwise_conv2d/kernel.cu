// out[image][channel][y][x] = sum over i, j of in[image][channel][y + i - size / 2][x + j - size / 2] *
// weights[channel][i][j]: one thread per output.

{{include}}__global__ void depthwise_conv2d_kernel(const {{type}}* in, const {{type}}* weights, {{type}}* out,
                                        int channels, int height, int width, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int plane = blockIdx.z;
  int channel = plane % channels;
  if (x >= width || y >= height) {
    return;
  }
  float sum = 0.0f;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      int from_y = y + i - size / 2;
      int from_x = x + j - size / 2;
      if (from_y >= 0 && from_y < height && from_x >= 0 && from_x < width) {
        sum += {{load:in[(plane * height + from_y) * width + from_x]}} *
               {{load:weights[(channel * size + i) * size + j]}};
      }
    }
  }
  out[(plane * height + y) * width + x] = {{store:sum}};
}

extern "C" void depthwise_conv2d(const {{type}}* in, const {{type}}* weights, {{type}}* out, int images,
                                 int channels, int height, int width, int size) {
  dim3 block(16, 16);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y, images * channels);
  depthwise_conv2d_kernel<<<grid, block>>>(in, weights, out, channels, height, width, size);
}
