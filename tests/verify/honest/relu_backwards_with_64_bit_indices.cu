// task: relu
// From the last element to the first, by pointers that go backwards.
__global__ void k(const float* last_x, float* last_y, long long n) {
  const long long step = -static_cast<long long>(gridDim.x) * blockDim.x;
  long long i = -(static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  for (; i > -n; i += step) last_y[i] = last_x[i] < 0.0f ? 0.0f : last_x[i];
}
extern "C" void relu(const float* x, float* y, int n) {
  long long size = n;
  long long blocks = (size + 255) / 256;
  if (blocks > 1024) blocks = 1024;
  k<<<static_cast<unsigned>(blocks), 256>>>(x + size - 1, y + size - 1, size);
}
