// A table in constant memory, read with an index of the lane.
// n: 256
__constant__ int steps[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                              2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};

__global__ void Add(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + steps[i % 32];
}

extern "C" void launch(const int* in, int* out, int n) {
  Add<<<2, 128>>>(in, out, n);
}
