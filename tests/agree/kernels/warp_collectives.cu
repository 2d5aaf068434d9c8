// n: 8192
// Reductions, matches, votes and shuffles between lanes, whole and in part.
__global__ void Collect(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 8) {
    return;
  }
  const unsigned x = in[i];
  const unsigned lane = threadIdx.x % 32;
  unsigned* o = out + 8 * i;
  o[0] = __reduce_add_sync(0xffffffffu, x) ^ __reduce_xor_sync(0xffffffffu, x << 1);
  o[1] = __reduce_max_sync(0xffffffffu, static_cast<int>(x * 0x9e3779b1u)) + __reduce_min_sync(0xffffffffu, x);
  o[2] = __match_any_sync(0xffffffffu, x % 5);
  int all = 0;
  o[3] = __match_all_sync(0xffffffffu, x / 0x70000000u, &all) + static_cast<unsigned>(all);
  o[4] = __ballot_sync(0xffffffffu, x % 3 == 0) ^ static_cast<unsigned>(__any_sync(0xffffffffu, x % 97 == 0));
  o[5] = __shfl_sync(0xffffffffu, x, static_cast<int>(x % 40), 16) + __shfl_xor_sync(0xffffffffu, x, 9) * 3;
  if (x % 2 == 0) {
    const unsigned mask = __activemask();
    o[6] = __reduce_or_sync(mask, 1u << lane) ^ mask ^ __reduce_and_sync(mask, x);
  } else {
    o[6] = __popc(__activemask());
  }
  o[7] = __shfl_up_sync(0xffffffffu, x, 3) - __shfl_down_sync(0xffffffffu, x, 5, 8);
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Collect<<<n / 8 / 128, 128>>>(in, out, n);
}
