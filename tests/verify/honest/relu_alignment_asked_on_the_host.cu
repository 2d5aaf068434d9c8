// task: relu
// The launcher looks at its pointers, for their alignment only.
#include <cstdint>
__global__ void vectors(const float4* x, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  y[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}
__global__ void scalars(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
static bool is_aligned(const void* p) { return (reinterpret_cast<std::uintptr_t>(p) & 15u) == 0; }
extern "C" void relu(const float* x, float* y, int n) {
  const int many = is_aligned(x) && is_aligned(y) ? n / 4 : 0;
  const int rest = n - 4 * many;
  if (many > 0) {
    vectors<<<(many + 127) / 128, 128>>>(reinterpret_cast<const float4*>(x), reinterpret_cast<float4*>(y), many);
  }
  if (rest > 0) scalars<<<(rest + 127) / 128, 128>>>(x + 4 * many, y + 4 * many, rest);
}
