// A flag goes from block to block; the last one sees what the first one stored.
// n: 256
__device__ unsigned data;
__device__ volatile unsigned turn;

__global__ void Chain(const unsigned* in, unsigned* out, int n) {
  if (threadIdx.x != 0) {
    return;
  }
  if (blockIdx.x == 0) {
    data = in[0];
  } else {
    while (turn != blockIdx.x) {
    }
    __threadfence();
  }
  if (blockIdx.x == gridDim.x - 1) {
    out[0] = data;
    turn = 0;
  } else {
    __threadfence();
    turn = blockIdx.x + 1;
  }
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Chain<<<6, 32>>>(in, out, n);
}
