// task: relu
// launcher: recorded
// Virtual functions choose how the kernel is launched; a switch falls through; a function recurses.
#include <memory>
__global__ void k(const float* x, float* y, int n, int step) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) y[i] = fmaxf(x[i], 0.0f);
}

struct Strategy {
  virtual ~Strategy() = default;
  virtual int Blocks(int n) const = 0;
  void Launch(const float* x, float* y, int n) const {
    int threads = 64;
    switch (n > 1000 ? 2 : 1) {
      case 2:
        threads *= 2;
      case 1:
        threads *= 2;
    }
    const int blocks = Blocks(n);
    k<<<blocks, threads>>>(x, y, n, blocks * threads);
  }
};
static int Halvings(int n) { return n <= 1 ? 1 : 1 + Halvings(n / 2); }
struct Wide : Strategy {
  int Blocks(int n) const override { return Halvings(n) * 16; }
};
struct Narrow : Strategy {
  int Blocks(int) const override { return 1; }
};

extern "C" void relu(const float* x, float* y, int n) {
  std::unique_ptr<Strategy> strategy;
  if (n > 100) {
    strategy = std::make_unique<Wide>();
  } else {
    strategy = std::make_unique<Narrow>();
  }
  strategy->Launch(x, y, n);
}
