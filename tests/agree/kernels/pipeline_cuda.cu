// n: 8192
// cuda::pipeline of a block: two stages, producers and consumers are all threads.
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void Sums(const unsigned* in, unsigned* out, int batches) {
  constexpr int kStages = 2;
  __shared__ unsigned buffer[kStages][256];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const unsigned* from = in + blockIdx.x * batches * 256;
  unsigned sum = 0;
  int fetched = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + kStages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % kStages], from + fetched * 256,
                         cuda::aligned_size_t<16>(256 * sizeof(unsigned)), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum = sum * 31 + buffer[batch % kStages][(threadIdx.x + 17) % 256];
    pipeline.consumer_release();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Sums<<<4, 256>>>(in, out, n / 1024);
}
