// Small kernels whose counters are known by reasoning: each does one thing to memory or arithmetic. They
// calibrate the emulator's counters against a GPU's (bench/counters/README.md).

#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
constexpr int kBlock = 256;

__global__ void load_coalesced_kernel(const float* x, float* y) { y[GLOBAL_ID] = x[GLOBAL_ID]; }
extern "C" void load_coalesced(const float* x, float* y, int n) { load_coalesced_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void load_stride2_kernel(const float* x, float* y) { y[GLOBAL_ID] = x[2 * GLOBAL_ID]; }
extern "C" void load_stride2(const float* x, float* y, int n) { load_stride2_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void load_stride32_kernel(const float* x, float* y) { y[GLOBAL_ID] = x[32 * GLOBAL_ID]; }
extern "C" void load_stride32(const float* x, float* y, int n) { load_stride32_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void store_stride8_kernel(const float* x, float* y) { y[8 * GLOBAL_ID] = x[GLOBAL_ID]; }
extern "C" void store_stride8(const float* x, float* y, int n) { store_stride8_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void load_misaligned_kernel(const float* x, float* y) { y[GLOBAL_ID] = x[GLOBAL_ID + 1]; }
extern "C" void load_misaligned(const float* x, float* y, int n) { load_misaligned_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void load_float4_kernel(const float4* x, float4* y) { y[GLOBAL_ID] = x[GLOBAL_ID]; }
extern "C" void load_float4(const float* x, float* y, int n) {
  load_float4_kernel<<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}

__global__ void load_double_kernel(const double* x, double* y) { y[GLOBAL_ID] = x[GLOBAL_ID]; }
extern "C" void load_double(const double* x, double* y, int n) { load_double_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void load_bytes_kernel(const unsigned char* x, unsigned char* y) { y[GLOBAL_ID] = x[GLOBAL_ID]; }
extern "C" void load_bytes(const unsigned char* x, unsigned char* y, int n) {
  load_bytes_kernel<<<n / kBlock, kBlock>>>(x, y);
}

__global__ void load_broadcast_kernel(const float* x, float* y) { y[GLOBAL_ID] = x[blockIdx.x]; }
extern "C" void load_broadcast(const float* x, float* y, int n) { load_broadcast_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void gather_kernel(const int* index, const float* x, float* y) { y[GLOBAL_ID] = x[index[GLOBAL_ID]]; }
extern "C" void gather(const int* index, const float* x, float* y, int n) {
  gather_kernel<<<n / kBlock, kBlock>>>(index, x, y);
}

__global__ void half_warp_kernel(const float* x, float* y) {
  if (threadIdx.x % 32 < 16) {
    y[GLOBAL_ID] = x[GLOBAL_ID];
  }
}
extern "C" void half_warp(const float* x, float* y, int n) { half_warp_kernel<<<n / kBlock, kBlock>>>(x, y); }

// Shared memory: each thread writes and reads one word, at a stride.
template <int STRIDE>
__global__ void shared_stride_kernel(const float* x, float* y) {
  __shared__ float tile[kBlock * STRIDE];
  tile[threadIdx.x * STRIDE] = x[GLOBAL_ID];
  __syncthreads();
  y[GLOBAL_ID] = tile[(kBlock - 1 - threadIdx.x) * STRIDE];
}
extern "C" void shared_stride1(const float* x, float* y, int n) { shared_stride_kernel<1><<<n / kBlock, kBlock>>>(x, y); }
extern "C" void shared_stride2(const float* x, float* y, int n) { shared_stride_kernel<2><<<n / kBlock, kBlock>>>(x, y); }
extern "C" void shared_stride32(const float* x, float* y, int n) { shared_stride_kernel<32><<<n / kBlock, kBlock>>>(x, y); }

// Shared memory in wide words: 8 and 16 bytes a thread.
template <typename WIDE>
__global__ void shared_wide_kernel(const WIDE* x, WIDE* y) {
  __shared__ WIDE tile[kBlock];
  tile[threadIdx.x] = x[GLOBAL_ID];
  __syncthreads();
  y[GLOBAL_ID] = tile[threadIdx.x ^ 1];
}
extern "C" void shared_float2(const float* x, float* y, int n) {
  shared_wide_kernel<<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float4(const float* x, float* y, int n) {
  shared_wide_kernel<<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}

__global__ void shared_uniform_float4_kernel(const float4* x, float4* y) {
  __shared__ float4 tile[kBlock];
  tile[threadIdx.x] = x[GLOBAL_ID];
  __syncthreads();
  y[GLOBAL_ID] = tile[threadIdx.x / 32];
}
extern "C" void shared_uniform_float4(const float* x, float* y, int n) {
  shared_uniform_float4_kernel<<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}

// Wide words that neighbouring lanes share.
template <typename WIDE, int SHARE>
__global__ void shared_group_kernel(const WIDE* x, WIDE* y) {
  __shared__ WIDE tile[kBlock];
  tile[threadIdx.x] = x[GLOBAL_ID];
  __syncthreads();
  y[GLOBAL_ID] = tile[threadIdx.x / SHARE];
}
extern "C" void shared_float2_by2(const float* x, float* y, int n) {
  shared_group_kernel<float2, 2><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float2_by4(const float* x, float* y, int n) {
  shared_group_kernel<float2, 4><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float2_by16(const float* x, float* y, int n) {
  shared_group_kernel<float2, 16><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float2_by32(const float* x, float* y, int n) {
  shared_group_kernel<float2, 32><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float4_by2(const float* x, float* y, int n) {
  shared_group_kernel<float4, 2><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_by4(const float* x, float* y, int n) {
  shared_group_kernel<float4, 4><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_by8(const float* x, float* y, int n) {
  shared_group_kernel<float4, 8><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_by16(const float* x, float* y, int n) {
  shared_group_kernel<float4, 16><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}

// Lanes 0-7 read eight words that lanes 8-15 (16-23, 24-31) read too: the columns of a tiled product.
template <typename WIDE, int PERIOD>
__global__ void shared_period_kernel(const WIDE* x, WIDE* y) {
  __shared__ WIDE tile[kBlock];
  tile[threadIdx.x] = x[GLOBAL_ID];
  __syncthreads();
  y[GLOBAL_ID] = tile[threadIdx.x % PERIOD];
}
extern "C" void shared_float2_mod2(const float* x, float* y, int n) {
  shared_period_kernel<float2, 2><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float2_mod8(const float* x, float* y, int n) {
  shared_period_kernel<float2, 8><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float2_mod16(const float* x, float* y, int n) {
  shared_period_kernel<float2, 16><<<n / (2 * kBlock), kBlock>>>((const float2*)x, (float2*)y);
}
extern "C" void shared_float4_mod2(const float* x, float* y, int n) {
  shared_period_kernel<float4, 2><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_mod4(const float* x, float* y, int n) {
  shared_period_kernel<float4, 4><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_mod8(const float* x, float* y, int n) {
  shared_period_kernel<float4, 8><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}
extern "C" void shared_float4_mod16(const float* x, float* y, int n) {
  shared_period_kernel<float4, 16><<<n / (4 * kBlock), kBlock>>>((const float4*)x, (float4*)y);
}

// A transposed tile without and with padding.
template <int PAD>
__global__ void transpose_tile_kernel(const float* x, float* y, int n) {
  __shared__ float tile[32][32 + PAD];
  int column = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) {
    tile[r][threadIdx.x] = x[(blockIdx.y * 32 + r) * n + column];
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    y[(blockIdx.x * 32 + r) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][r];
  }
}
extern "C" void transpose_tile(const float* x, float* y, int n) {
  transpose_tile_kernel<0><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(x, y, n);
}
extern "C" void transpose_padded(const float* x, float* y, int n) {
  transpose_tile_kernel<1><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(x, y, n);
}

__global__ void atomic_one_address_kernel(const int* x, int* sum) { atomicAdd(sum, x[GLOBAL_ID]); }
extern "C" void atomic_one_address(const int* x, int* sum, int n) {
  cudaMemsetAsync(sum, 0, sizeof(int));
  atomic_one_address_kernel<<<n / kBlock, kBlock>>>(x, sum);
}

__global__ void atomic_own_address_kernel(const int* x, int* y) { atomicAdd(&y[GLOBAL_ID], x[GLOBAL_ID]); }
extern "C" void atomic_own_address(const int* x, int* y, int n) {
  cudaMemsetAsync(y, 0, n * sizeof(int));
  atomic_own_address_kernel<<<n / kBlock, kBlock>>>(x, y);
}

__global__ void atomic_shared_kernel(const int* x, int* y) {
  __shared__ int bins[32];
  if (threadIdx.x < 32) {
    bins[threadIdx.x] = 0;
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 32], x[GLOBAL_ID]);
  __syncthreads();
  if (threadIdx.x < 32) {
    y[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
  }
}
extern "C" void atomic_shared(const int* x, int* y, int n) { atomic_shared_kernel<<<n / kBlock, kBlock>>>(x, y); }

// An array whose index is data: local memory.
__global__ void local_array_kernel(const int* x, int* y) {
  int values[16];
  for (int i = 0; i < 16; ++i) {
    values[i] = x[GLOBAL_ID] * i;
  }
  y[GLOBAL_ID] = values[x[GLOBAL_ID] & 15];
}
extern "C" void local_array(const int* x, int* y, int n) { local_array_kernel<<<n / kBlock, kBlock>>>(x, y); }

// Every block reads the same 16 kB twice: L1, then L2 of the other blocks.
__global__ void reuse_kernel(const float* x, float* y) {
  float sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = threadIdx.x; i < 4096; i += kBlock) {
      sum += x[i] * (pass + 1);
    }
  }
  y[GLOBAL_ID] = sum;
}
extern "C" void reuse(const float* x, float* y, int n) { reuse_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void fma_chain_kernel(const float* x, float* y) {
  float a = x[GLOBAL_ID];
  float b = a;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    b = fmaf(b, a, 1.0f);
  }
  y[GLOBAL_ID] = b;
}
extern "C" void fma_chain(const float* x, float* y, int n) { fma_chain_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void add_mul_kernel(const float* x, float* y) {
  float a = x[GLOBAL_ID];
  float b = a;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    b = __fmul_rn(__fadd_rn(b, a), a);
  }
  y[GLOBAL_ID] = b;
}
extern "C" void add_mul(const float* x, float* y, int n) { add_mul_kernel<<<n / kBlock, kBlock>>>(x, y); }

__global__ void divergent_kernel(const int* x, int* y) {
  int v = x[GLOBAL_ID];
  if (threadIdx.x & 1) {
    for (int i = 0; i < 8; ++i) {
      v = v * 3 + (v >> 2);
    }
  }
  y[GLOBAL_ID] = v;
}
extern "C" void divergent(const int* x, int* y, int n) { divergent_kernel<<<n / kBlock, kBlock>>>(x, y); }
