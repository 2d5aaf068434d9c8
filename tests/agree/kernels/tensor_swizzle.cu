// n: 16384
// Boxes of 32, 64 and 128 bytes a row with the swizzle of that width: the bytes of shared memory as
// they lie, and back to global memory. Halves, single bytes, and NaN outside of a tensor of floats.
#include <cuda.h>

__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void Swizzled(const __grid_constant__ CUtensorMap map,
                         const __grid_constant__ CUtensorMap target, unsigned* out, int bytes, int first) {
  __shared__ alignas(1024) unsigned tile[2048];
  __shared__ unsigned long long barrier;
  const int thread = threadIdx.x;
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;" ::"r"(
                     Address(&barrier))
                 : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Address(&barrier)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], [%4];" ::"r"(Address(tile)),
        "l"(&map), "r"(-first), "r"(3), "r"(Address(&barrier))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra AGAIN;\n}" ::"r"(
          Address(&barrier))
      : "memory");
  for (int i = thread; i < bytes / 4; i += blockDim.x) {
    out[i] = tile[i];
  }
  __syncthreads();
  if (thread == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::"l"(&target),
        "r"(first), "r"(1), "r"(Address(tile))
        : "memory");
  }
}

static void Run(const unsigned* in, unsigned* out, CUtensorMapDataType type, int element_bytes,
                int row_bytes, CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  CUtensorMap map;
  CUtensorMap target;
  const cuuint64_t pitch = 512;
  const cuuint64_t size[2] = {pitch / element_bytes, 24};
  const cuuint64_t strides[1] = {pitch};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(row_bytes / element_bytes), 20};
  const cuuint32_t ones[2] = {1, 1};
  cuTensorMapEncodeTiled(&map, type, 2, const_cast<unsigned*>(in), size, strides, box, ones,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         fill);
  const cuuint64_t target_size[2] = {256 / static_cast<cuuint64_t>(element_bytes), 21};
  const cuuint64_t target_strides[1] = {256};
  cuTensorMapEncodeTiled(&target, type, 2, out + 704, target_size, target_strides, box, ones,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Swizzled<<<1, 128>>>(map, target, out, row_bytes * 20, 32 / element_bytes);
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Run(in, out, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 128, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Run(in, out + 2048, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 64, CU_TENSOR_MAP_SWIZZLE_64B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Run(in, out + 4096, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 32, CU_TENSOR_MAP_SWIZZLE_32B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Run(in, out + 6144, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 128, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Run(in, out + 8192, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 128, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  Run(in, out + 10240, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 128, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  Run(in, out + 12288, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 32, CU_TENSOR_MAP_SWIZZLE_32B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  Run(in, out + 14336, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 64, CU_TENSOR_MAP_SWIZZLE_64B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
