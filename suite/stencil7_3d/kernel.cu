// One explicit step of the heat equation: out = in + alpha * (the six neighbours - 6 in), cells on
// the boundary stay as they are: one thread per cell.

__global__ void stencil7_3d_kernel(const float* in, float* out, float alpha, int nx, int ny,
                                   int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= nx || y >= ny || z >= nz) {
    return;
  }
  int i = (z * ny + y) * nx + x;
  if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1) {
    out[i] = in[i];
  } else {
    float neighbours =
        in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny];
    out[i] = in[i] + alpha * (neighbours - 6.0f * in[i]);
  }
}

extern "C" void stencil7_3d(const float* in, float* out, float alpha, int nx, int ny, int nz) {
  dim3 block(8, 8, 8);
  dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y,
            (nz + block.z - 1) / block.z);
  stencil7_3d_kernel<<<grid, block>>>(in, out, alpha, nx, ny, nz);
}
