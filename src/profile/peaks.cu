// Kernels that use one resource of the GPU as much as it goes, for MeasurePeaks (peaks.h). Loads
// are written out so that none of them is left out or shared; results go where nobody looks.

// One vector of 16 bytes, past L1.
__device__ __forceinline__ uint4 Load(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

__device__ __forceinline__ unsigned Folded(const uint4& v) { return v.x ^ v.y ^ v.z ^ v.w; }

constexpr unsigned kNobodyHas = 0x7fc51e3bu;

// `vectors` is a multiple of four times the threads of the grid. All of it, `passes` times.
extern "C" __global__ void peak_read(const uint4* data, unsigned* sink, unsigned long long vectors,
                                     int passes) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long first =
      static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned folded = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (unsigned long long i = first; i < vectors; i += 4 * threads) {
      const uint4 a = Load(data + i);
      const uint4 b = Load(data + i + threads);
      const uint4 c = Load(data + i + 2 * threads);
      const uint4 d = Load(data + i + 3 * threads);
      folded |= Folded(a) ^ Folded(b) ^ Folded(c) ^ Folded(d);
    }
  }
  if (folded == kNobodyHas) {
    *sink = folded;
  }
}

// Likewise, once.
extern "C" __global__ void peak_copy(const uint4* from, uint4* to, unsigned long long vectors) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long first =
      static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (unsigned long long i = first; i < vectors; i += 4 * threads) {
    const uint4 a = Load(from + i);
    const uint4 b = Load(from + i + threads);
    const uint4 c = Load(from + i + 2 * threads);
    const uint4 d = Load(from + i + 3 * threads);
    to[i] = a;
    to[i + threads] = b;
    to[i + 2 * threads] = c;
    to[i + 3 * threads] = d;
  }
}

// Each thread 64 multiply-adds a round, eight of them independent.
extern "C" __global__ void peak_fma(float* sink, float a, float b, int rounds) {
  float x[8];
  for (int k = 0; k < 8; ++k) {
    x[k] = static_cast<float>(threadIdx.x + k);
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        x[k] = fmaf(x[k], a, b);
      }
    }
  }
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) {
    sum += x[k];
  }
  if (sum == 12345.678f) {
    *sink = sum;
  }
}

// Each warp 16 products of 16 x 16 and 16 x 8 matrices a round, eight of them independent: f16 with
// sums in f32. `bits`: two numbers of f16.
extern "C" __global__ void peak_tensor(float* sink, unsigned bits, int rounds) {
#if __CUDA_ARCH__ >= 800
  float c[8][4];
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 4; ++i) {
      c[k][i] = static_cast<float>(threadIdx.x);
    }
  }
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
            : "+f"(c[k][0]), "+f"(c[k][1]), "+f"(c[k][2]), "+f"(c[k][3])
            : "r"(bits));
      }
    }
  }
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 4; ++i) {
      sum += c[k][i];
    }
  }
  if (sum == 12345.678f) {
    *sink = sum;
  }
#endif
}

// Each thread 8 vectors of shared memory a round, warps without conflicts. `step` is a multiple of
// 16: how far the next vector is.
extern "C" __global__ void peak_shared(unsigned* sink, unsigned step, int rounds) {
  constexpr unsigned kVectors = 1024;
  __shared__ uint4 tile[kVectors];
  for (unsigned i = threadIdx.x; i < kVectors; i += blockDim.x) {
    tile[i] = make_uint4(i, i, i, i);
  }
  __syncthreads();
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  unsigned at = threadIdx.x * 16;
  unsigned folded = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      uint4 v;
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(base + at));
      folded ^= Folded(v);
      at = (at + step) & (16 * kVectors - 1);
    }
  }
  if (folded == kNobodyHas) {
    *sink = folded;
  }
}

extern "C" __global__ void peak_nothing() {}
