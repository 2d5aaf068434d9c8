// What stencil7_3d must compute, in double.
#include <cstdint>

extern "C" void stencil7_3d_reference_range(int64_t begin, int64_t end, const float* in,
                                            double* out, float alpha, int nx, int ny, int nz) {
  const int64_t plane = int64_t(nx) * ny;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t x = i % nx;
    const int64_t y = i / nx % ny;
    const int64_t z = i / plane;
    out[i] = in[i];
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {
      const double neighbours =
          double(in[i - 1]) + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane];
      out[i] += alpha * (neighbours - 6.0 * in[i]);
    }
  }
}

extern "C" void stencil7_3d_reference(const float* in, double* out, float alpha, int nx, int ny,
                                      int nz) {
  stencil7_3d_reference_range(0, int64_t(nx) * ny * nz, in, out, alpha, nx, ny, nz);
}
