// task: suite/stencil7_3d
// Two planes in registers, the middle one in shared memory, marching along z.
constexpr int kX = 16, kY = 8;
__global__ void k(const float* __restrict__ in, float* __restrict__ out, float alpha, int nx, int ny, int nz) {
  __shared__ float plane[kY + 2][kX + 2];
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  const bool inside = x < nx && y < ny;
  const int layer = nx * ny, at = y * nx + x;
  float below = 0.0f, here = inside ? in[at] : 0.0f;
  for (int z = 0; z < nz; ++z) {
    const float above = inside && z + 1 < nz ? in[(z + 1) * layer + at] : 0.0f;
    __syncthreads();
    plane[threadIdx.y + 1][threadIdx.x + 1] = here;
    if (threadIdx.x == 0) plane[threadIdx.y + 1][0] = inside && x > 0 ? in[z * layer + at - 1] : 0.0f;
    if (threadIdx.x == kX - 1) {
      plane[threadIdx.y + 1][threadIdx.x + 2] = inside && x + 1 < nx ? in[z * layer + at + 1] : 0.0f;
    }
    if (threadIdx.y == 0) plane[0][threadIdx.x + 1] = inside && y > 0 ? in[z * layer + at - nx] : 0.0f;
    if (threadIdx.y == kY - 1) {
      plane[threadIdx.y + 2][threadIdx.x + 1] = inside && y + 1 < ny ? in[z * layer + at + nx] : 0.0f;
    }
    __syncthreads();
    if (inside) {
      const bool border = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
      const float around = plane[threadIdx.y + 1][threadIdx.x] + plane[threadIdx.y + 1][threadIdx.x + 2] +
                           plane[threadIdx.y][threadIdx.x + 1] + plane[threadIdx.y + 2][threadIdx.x + 1] +
                           below + above;
      out[z * layer + at] = border ? here : fmaf(alpha, around - 6.0f * here, here);
    }
    below = here;
    here = above;
  }
}
extern "C" void stencil7_3d(const float* in, float* out, float alpha, int nx, int ny, int nz) {
  k<<<dim3((nx + kX - 1) / kX, (ny + kY - 1) / kY), dim3(kX, kY)>>>(in, out, alpha, nx, ny, nz);
}
