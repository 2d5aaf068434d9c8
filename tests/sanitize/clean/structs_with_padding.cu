// Structs whose members leave gaps are sorted in scratch memory, shared memory and local arrays: they are
// copied whole, with bytes that nobody wrote.
// n: 128
struct Pair {
  unsigned short key;
  unsigned index;
};
struct Wide {
  double key;
  unsigned char flag;
};

__global__ void Make(const unsigned* in, Pair* pairs, Wide* wides, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  pairs[i].key = static_cast<unsigned short>(in[i]);
  pairs[i].index = i;
  wides[i].key = in[i] % 100;
  wides[i].flag = i % 2;
}

__global__ void Order(const Pair* pairs, const Wide* wides, unsigned* out, int n) {
  __shared__ Pair tile[64];
  const int t = threadIdx.x;
  Pair few[4];
  for (int k = 0; k < 4; ++k) {
    few[k] = pairs[(blockIdx.x * 64 + t + k * 7) % n];
  }
  tile[t] = few[few[0].key % 4];
  __syncthreads();
  const Pair other = tile[t ^ 1];
  Wide wide = wides[blockIdx.x * 64 + (t ^ 2)];
  if (other.key > tile[t].key) {
    wide.key += other.index;
  }
  out[blockIdx.x * 64 + t] = other.index + static_cast<unsigned>(wide.key) + wide.flag;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Pair* pairs;
  Wide* wides;
  cudaMalloc(&pairs, n * sizeof(Pair));
  cudaMalloc(&wides, n * sizeof(Wide));
  Make<<<n / 64, 64>>>(in, pairs, wides, n);
  Order<<<n / 64, 64>>>(pairs, wides, out, n);
  cudaFree(pairs);
  cudaFree(wides);
}
