// stage: L0
// reason: 
__global__ void transpose_kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    tile[threadIdx.y][threadIdx.x] = in[r * cols + c];
  }
  int oc = blockIdx.y * blockDim.y + threadIdx.x;
  int orow = blockIdx.x * blockDim.x + threadIdx.y;
  if (orow < cols && oc < rows) {
    out[orow * rows + oc] = tile[threadIdx.x][threadIdx.y];
  }
}

extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  dim3 block(16, 16);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  transpose_kernel<<<grid, block>>>(in, out, rows, cols);
}
