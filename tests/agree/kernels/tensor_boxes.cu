// n: 8192
// Bulk copies of boxes of one to three dimensions, in and out, with parts outside of the tensor and
// with strides between elements.
#include <cuda.h>

__device__ unsigned Address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void Expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Address(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void Wait(unsigned long long* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          Address(barrier)),
      "r"(parity)
      : "memory");
}

__global__ void Boxes(const __grid_constant__ CUtensorMap line, const __grid_constant__ CUtensorMap plane,
                      const __grid_constant__ CUtensorMap space,
                      const __grid_constant__ CUtensorMap target, unsigned* out) {
  __shared__ alignas(128) unsigned a[64];
  __shared__ alignas(128) unsigned b[16 * 8];
  __shared__ alignas(128) unsigned c[8 * 4 * 4];
  __shared__ unsigned long long barrier;
  const int thread = threadIdx.x;
  const int block = blockIdx.x;
  if (thread == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;" ::"r"(
                     Address(&barrier))
                 : "memory");
  }
  __syncthreads();
  if (thread == 0) {
    Expect(&barrier, sizeof(a) + sizeof(b) + sizeof(c));
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2}], [%3];" ::"r"(Address(a)),
        "l"(&line), "r"(block * 60 - 16), "r"(Address(&barrier))
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3}], [%4];" ::"r"(Address(b)),
        "l"(&plane), "r"(block * 12 - 4), "r"(block * 7 - 3), "r"(Address(&barrier))
        : "memory");
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
        "{%2, %3, %4}], [%5];" ::"r"(Address(c)),
        "l"(&space), "r"(block * 4 - 4), "r"(block * 2), "r"(block - 1), "r"(Address(&barrier))
        : "memory");
  }
  Wait(&barrier, 0);
  const unsigned x = a[thread % 64] * 3 + b[thread] * 5 + c[thread] * 7;
  out[block * 128 + thread] = x;
  __syncthreads();
  b[thread] = x ^ 0x5a5a5a5a;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (thread == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&target),
        "r"(block * 16), "r"(1), "r"(Address(b))
        : "memory");
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  void* from = const_cast<unsigned*>(in);
  CUtensorMap line;
  CUtensorMap plane;
  CUtensorMap space;
  CUtensorMap target;
  const cuuint32_t ones[3] = {1, 1, 1};
  const cuuint64_t line_size[1] = {1000};
  const cuuint64_t no_strides[1] = {0};
  const cuuint32_t line_box[1] = {64};
  cuTensorMapEncodeTiled(&line, CU_TENSOR_MAP_DATA_TYPE_UINT32, 1, from, line_size, no_strides,
                         line_box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const cuuint64_t plane_size[2] = {93, 61};
  const cuuint64_t plane_stride[1] = {96 * sizeof(unsigned)};
  const cuuint32_t plane_box[2] = {16, 16};
  const cuuint32_t every_other[2] = {1, 2};
  cuTensorMapEncodeTiled(&plane, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, from, plane_size, plane_stride,
                         plane_box, every_other, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const cuuint64_t space_size[3] = {30, 15, 7};
  const cuuint64_t space_strides[2] = {32 * sizeof(unsigned), 32 * 16 * sizeof(unsigned)};
  const cuuint32_t space_box[3] = {8, 4, 4};
  cuTensorMapEncodeTiled(&space, CU_TENSOR_MAP_DATA_TYPE_UINT32, 3, from, space_size, space_strides,
                         space_box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const cuuint64_t target_size[2] = {121, 5};
  const cuuint64_t target_stride[1] = {128 * sizeof(unsigned)};
  const cuuint32_t target_box[2] = {16, 8};
  cuTensorMapEncodeTiled(&target, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, out + 4096, target_size,
                         target_stride, target_box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  Boxes<<<8, 128>>>(line, plane, space, target, out);
}
