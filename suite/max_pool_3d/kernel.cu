// The maximum over each kernel x kernel x kernel window, whose elements are `dilation` apart;
// windows start `stride` apart, `padding` before the tensor. One thread per output.

__global__ void max_pool_3d_kernel(const float* x, float* y, int planes, int depth, int height,
                                   int width, int out_depth, int out_height, int out_width,
                                   int kernel, int stride, int padding, int dilation) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= planes * out_depth * out_height * out_width) {
    return;
  }
  int ow = index % out_width;
  int oh = index / out_width % out_height;
  int od = index / (out_width * out_height) % out_depth;
  int plane = index / (out_width * out_height * out_depth);
  float largest = -INFINITY;
  for (int i = 0; i < kernel; ++i) {
    for (int j = 0; j < kernel; ++j) {
      for (int k = 0; k < kernel; ++k) {
        int d = od * stride - padding + i * dilation;
        int h = oh * stride - padding + j * dilation;
        int w = ow * stride - padding + k * dilation;
        if (d >= 0 && d < depth && h >= 0 && h < height && w >= 0 && w < width) {
          largest = fmaxf(largest, x[((plane * depth + d) * height + h) * width + w]);
        }
      }
    }
  }
  y[index] = largest;
}

extern "C" void max_pool_3d(const float* x, float* y, int batch, int channels, int depth,
                            int height, int width, int kernel, int stride, int padding,
                            int dilation) {
  int reach = dilation * (kernel - 1) + 1;
  int out_depth = (depth + 2 * padding - reach) / stride + 1;
  int out_height = (height + 2 * padding - reach) / stride + 1;
  int out_width = (width + 2 * padding - reach) / stride + 1;
  int planes = batch * channels;
  int outputs = planes * out_depth * out_height * out_width;
  int block = 256;
  int grid = (outputs + block - 1) / block;
  max_pool_3d_kernel<<<grid, block>>>(x, y, planes, depth, height, width, out_depth, out_height,
                                      out_width, kernel, stride, padding, dilation);
}
