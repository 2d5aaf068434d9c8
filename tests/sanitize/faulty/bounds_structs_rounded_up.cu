// Structures of three floats; the count is rounded up.
// n: 100
// emulator: out of bounds
// sanitizer: memcheck
struct Point {
  float x, y, z;
};

__global__ void Norms(const Point* in, float* out, int points) {
  const int i = threadIdx.x;
  if (i < points) {
    const Point p = in[i];                       // here
    out[i] = p.x * p.x + p.y * p.y + p.z * p.z;  // here
  }
}

extern "C" void launch(const Point* in, float* out, int n) {
  Norms<<<1, 64>>>(in, out, (n + 2) / 3);
}
