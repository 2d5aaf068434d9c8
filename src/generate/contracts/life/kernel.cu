// y = the next generation of x: a cell lives with three living neighbours, or with two if it lives. The
// edges of the board meet. One thread per cell.

__global__ void life_kernel(const unsigned char* x, unsigned char* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    int neighbours = 0;
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        if (i != 0 || j != 0) {
          neighbours += x[(r + i + rows) % rows * cols + (c + j + cols) % cols];
        }
      }
    }
    bool lives = neighbours == 3 || (neighbours == 2 && x[r * cols + c] == 1);
    y[r * cols + c] = lives ? 1 : 0;
  }
}

extern "C" void life(const unsigned char* x, unsigned char* y, int rows, int cols) {
  dim3 block(32, 8);
  dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  life_kernel<<<grid, block>>>(x, y, rows, cols);
}
