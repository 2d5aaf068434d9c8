// y[image][channel] = the mean of the channel's plane: one thread per plane.

{{include}}__global__ void global_average_pool_kernel(const {{type}}* x, {{type}}* y, int planes, int size) {
  int plane = blockIdx.x * blockDim.x + threadIdx.x;
  if (plane < planes) {
    float sum = 0.0f;
    for (int i = 0; i < size; ++i) {
      sum += {{load:x[plane * size + i]}};
    }
    float mean = sum / size;
    y[plane] = {{store:mean}};
  }
}

extern "C" void global_average_pool(const {{type}}* x, {{type}}* y, int images, int channels, int height,
                                    int width) {
  int planes = images * channels;
  int block = 128;
  int grid = (planes + block - 1) / block;
  global_average_pool_kernel<<<grid, block>>>(x, y, planes, height * width);
}
