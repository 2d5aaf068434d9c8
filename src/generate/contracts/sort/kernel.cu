// y = the elements of x in {{order}} order, by a bitonic network: one launch per step, one thread per
// pair. Sorted runs of `half` elements are merged into runs of twice the length. The first step of a
// merge compares each element with its mirror image, the others with the one `stride` further on; a
// partner beyond the end is left alone.

__global__ void mirror_step({{type}}* y, int n, int half) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = t / half * (2 * half);
  int low = begin + t % half;
  int high = begin + 2 * half - 1 - t % half;
  if (high < n && y[low] {{order.wrong}} y[high]) {
    {{type}} moved = y[low];
    y[low] = y[high];
    y[high] = moved;
  }
}

__global__ void stride_step({{type}}* y, int n, int stride) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int low = t / stride * (2 * stride) + t % stride;
  int high = low + stride;
  if (high < n && y[low] {{order.wrong}} y[high]) {
    {{type}} moved = y[low];
    y[low] = y[high];
    y[high] = moved;
  }
}

extern "C" void {{name}}(const {{type}}* x, {{type}}* y, int n) {
  cudaMemcpyAsync(y, x, n * sizeof({{type}}), cudaMemcpyDeviceToDevice);
  int padded = 1;
  while (padded < n) {
    padded *= 2;
  }
  int block = 256;
  int grid = (padded / 2 + block - 1) / block;
  for (int half = 1; half < padded; half *= 2) {
    mirror_step<<<grid, block>>>(y, n, half);
    for (int stride = half / 2; stride > 0; stride /= 2) {
      stride_step<<<grid, block>>>(y, n, stride);
    }
  }
}
