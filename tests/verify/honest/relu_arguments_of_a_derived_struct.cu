// task: relu
// launcher: recorded
// Kernel arguments whose struct has base classes and bit-fields.
struct Empty {};
struct From {
  const float* x;
  float lowest;
};
struct Shape {
  unsigned count : 25;
  unsigned by : 6;
  unsigned plain : 1;
};
struct Work : Empty, From, Shape {
  float* y;
};
__global__ void k(Work work) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < static_cast<int>(work.count) && work.plain) {
    work.y[i] = fmaxf(work.x[i], work.lowest) * static_cast<float>(work.by);
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  Work work = {};
  work.x = x;
  work.lowest = 0.0f;
  work.count = static_cast<unsigned>(n);
  work.by = 1;
  work.plain = 1;
  work.y = y;
  k<<<(n + 255) / 256, 256>>>(work);
}
