// gray[p] = 0.299 red + 0.587 green + 0.114 blue of pixel p: one thread per pixel.

__global__ void rgb_to_gray_kernel(const float* rgb, float* gray, int pixels) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < pixels) {
    gray[p] = 0.299f * rgb[3 * p] + 0.587f * rgb[3 * p + 1] + 0.114f * rgb[3 * p + 2];
  }
}

extern "C" void rgb_to_gray(const float* rgb, float* gray, int pixels) {
  int block = 256;
  int grid = (pixels + block - 1) / block;
  rgb_to_gray_kernel<<<grid, block>>>(rgb, gray, pixels);
}
