// n: 32768
// A 64 x 64 x 128 product of halves by wgmma: tiles of 64 in k with the 128-byte swizzle, two stages, a
// wait that lets the last group run on. Written out swizzled by hand, so that the descriptors matter.
#include <cuda_fp16.h>

__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ unsigned long long Descriptor(const void* p) {
  // Start, 1024 bytes between groups of 8 rows, 128-byte swizzle.
  return ((Address(p) & 0x3ffffull) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

__global__ void __launch_bounds__(128) Product(const unsigned* in, unsigned* out) {
  constexpr int kRows = 64, kK = 64, kStages = 2;
  extern __shared__ __align__(1024) unsigned char shared[];
  half* const a = reinterpret_cast<half*>(shared);
  half* const b = a + kStages * kRows * kK;
  const auto fill = [&](half* tile, const unsigned* from) {
    for (int i = threadIdx.x; i < kRows * kK; i += blockDim.x) {
      const int row = i / kK;
      const int chunk = i % kK / 8;
      tile[row * kK + (chunk ^ row % 8) * 8 + i % 8] =
          __float2half((static_cast<int>(from[i] % 4001) - 2000) * 0.0009765625f);
    }
  };
  float d[32];
  for (int i = 0; i < 32; ++i) {
    d[i] = 0.125f * (i % 5);
  }
  for (int stage = 0; stage < kStages; ++stage) {
    fill(a + stage * kRows * kK, in + stage * kRows * kK);
    fill(b + stage * kRows * kK, in + (kStages + stage) * kRows * kK);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int stage = 0; stage < kStages; ++stage) {
    for (int k = 0; k < kK; k += 16) {
      const unsigned long long da = Descriptor(a + stage * kRows * kK + k);
      const unsigned long long db = Descriptor(b + stage * kRows * kK + k);
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
          "%13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, "
          "1, 1, 0, 0;"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
            "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
            "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
            "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(da), "l"(db));
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 32; ++i) {
    out[threadIdx.x * 32 + i] = __float_as_uint(d[i]);
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  cudaFuncSetAttribute(Product, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768);
  Product<<<1, 128, 32768>>>(in, out);
}
