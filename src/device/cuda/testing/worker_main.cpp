// The worker as a program of its own, for tests: the real one is started by `optiml`.
#include <cstdlib>

#include "device/cuda/worker.h"

int main(int argc, char** argv) {
  return argc == 4 ? optiml::cuda::RunWorker(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]) : 2;
}
