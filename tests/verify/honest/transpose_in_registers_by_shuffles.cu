// task: transpose
// A warp holds 32 x 32 elements in registers and turns them by five rounds of exchanges.
template <int kDistance>
__device__ void exchange(float (&v)[32], int lane) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (i & kDistance) continue;
    const bool upper = lane & kDistance;
    const float give = upper ? v[i] : v[i | kDistance];
    const float got = __shfl_xor_sync(0xffffffffu, give, kDistance);
    if (upper) {
      v[i] = got;
    } else {
      v[i | kDistance] = got;
    }
  }
  if constexpr (kDistance > 1) exchange<kDistance / 2>(v, lane);
}
__global__ void k(const float* in, float* out, int rows, int cols) {
  const int lane = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  float v[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) v[i] = r0 + i < rows && c0 + lane < cols ? in[(r0 + i) * cols + c0 + lane] : 0.0f;
  exchange<16>(v, lane);
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    if (c0 + i < cols && r0 + lane < rows) out[(c0 + i) * rows + r0 + lane] = v[i];
  }
}
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  k<<<dim3((cols + 31) / 32, (rows + 31) / 32), 32>>>(in, out, rows, cols);
}
