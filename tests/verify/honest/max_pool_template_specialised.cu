// task: suite/max_pool_3d
// Constants for the common windows, a general instance for the rest; divisions by multiplication.
struct Division {
  unsigned divisor, multiplier, shift;
};
static Division by(unsigned d) {
  Division division{d, 0, 0};
  while ((1u << division.shift) < d) ++division.shift;
  division.multiplier = static_cast<unsigned>(((1ull << 32) * ((1ull << division.shift) - d)) / d + 1);
  return division;
}
__device__ unsigned divide(unsigned v, const Division& d) {
  return (__umulhi(v, d.multiplier) + v) >> d.shift;
}
template <int kKernel, int kDilation>
__global__ void k(const float* x, float* y, int planes, int depth, int height, int width, Division od, Division oh,
                  Division ow, int kernel, int stride, int padding, int dilation) {
  const int size = kKernel > 0 ? kKernel : kernel, apart = kDilation > 0 ? kDilation : dilation;
  const unsigned index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= planes * od.divisor * oh.divisor * ow.divisor) return;
  const unsigned a = divide(index, ow), b = divide(a, oh), plane = divide(b, od);
  const int w0 = static_cast<int>(index - a * ow.divisor) * stride - padding;
  const int h0 = static_cast<int>(a - b * oh.divisor) * stride - padding;
  const int d0 = static_cast<int>(b - plane * od.divisor) * stride - padding;
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < size; ++i) {
    const int d = d0 + i * apart;
    if (static_cast<unsigned>(d) >= static_cast<unsigned>(depth)) continue;
    for (int j = 0; j < size; ++j) {
      const int h = h0 + j * apart;
      if (static_cast<unsigned>(h) >= static_cast<unsigned>(height)) continue;
      for (int q = 0; q < size; ++q) {
        const int w = w0 + q * apart;
        if (static_cast<unsigned>(w) < static_cast<unsigned>(width)) {
          largest = fmaxf(largest, x[((plane * depth + d) * height + h) * width + w]);
        }
      }
    }
  }
  y[index] = largest;
}
extern "C" void max_pool_3d(const float* x, float* y, int batch, int channels, int depth, int height,
                            int width, int kernel, int stride, int padding, int dilation) {
  const int reach = dilation * (kernel - 1) + 1, planes = batch * channels;
  const Division od = by((depth + 2 * padding - reach) / stride + 1), oh = by((height + 2 * padding - reach) / stride + 1),
                 ow = by((width + 2 * padding - reach) / stride + 1);
  const int grid = (planes * od.divisor * oh.divisor * ow.divisor + 127) / 128;
#define LAUNCH(K, D) \
  k<K, D><<<grid, 128>>>(x, y, planes, depth, height, width, od, oh, ow, kernel, stride, padding, dilation)
  if (kernel == 3 && dilation == 1) {
    LAUNCH(3, 1);
  } else if (kernel == 3 && dilation == 3) {
    LAUNCH(3, 3);
  } else {
    LAUNCH(0, 0);
  }
}
