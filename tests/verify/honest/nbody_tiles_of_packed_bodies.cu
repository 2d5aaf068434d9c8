// task: suite/nbody
// Bodies as float4 in shared tiles; the reciprocal root is the fast one with a Newton step.
__global__ void k(const float* positions, const float* masses, float* accelerations, float softening, int n) {
  __shared__ float4 bodies[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float3 p = i < n ? make_float3(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2])
                         : make_float3(0.0f, 0.0f, 0.0f);
  float3 sum = {};
  for (int base = 0; base < n; base += 64) {
    const int j = base + threadIdx.x;
    bodies[threadIdx.x] = j < n ? make_float4(positions[3 * j], positions[3 * j + 1], positions[3 * j + 2], masses[j])
                                : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    __syncthreads();
#pragma unroll 8
    for (int q = 0; q < 64; ++q) {
      const float4 b = bodies[q];
      const float dx = b.x - p.x, dy = b.y - p.y, dz = b.z - p.z;
      const float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
      float r;
      asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(square));
      r = r * fmaf(-0.5f * square * r, r, 1.5f);
      const float s = b.w * (r * r * r);
      sum.x = fmaf(s, dx, sum.x);
      sum.y = fmaf(s, dy, sum.y);
      sum.z = fmaf(s, dz, sum.z);
    }
    __syncthreads();
  }
  if (i >= n) return;
  accelerations[3 * i] = sum.x;
  accelerations[3 * i + 1] = sum.y;
  accelerations[3 * i + 2] = sum.z;
}
extern "C" void nbody(const float* positions, const float* masses, float* accelerations, float softening,
                      int n) {
  k<<<(n + 63) / 64, 64>>>(positions, masses, accelerations, softening, n);
}
