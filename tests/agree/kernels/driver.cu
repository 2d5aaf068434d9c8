// The program around one kernel file on a GPU: fills the input, calls the file's launch(), writes the
// output. Compiled with -DKERNEL_FILE="\"NAME.cu\"" by gpu_run. The inputs are those of
// kernels_test.cpp.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include KERNEL_FILE

namespace {

void Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: driver WORDS OUTPUT\n");
    return 2;
  }
  const int n = std::atoi(argv[1]);
  std::vector<unsigned> words(static_cast<size_t>(n));
  unsigned long long state = 42;
  for (unsigned& word : words) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    word = static_cast<unsigned>(state >> 33);
  }
  unsigned* in = nullptr;
  unsigned* out = nullptr;
  const size_t bytes = words.size() * sizeof(unsigned);
  Check(cudaMalloc(reinterpret_cast<void**>(&in), bytes), "cudaMalloc");
  Check(cudaMalloc(reinterpret_cast<void**>(&out), bytes), "cudaMalloc");
  Check(cudaMemcpy(in, words.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  Check(cudaMemset(out, 0xA5, bytes), "cudaMemset");
  launch(in, out, n);
  Check(cudaGetLastError(), "launch");
  Check(cudaDeviceSynchronize(), "kernel");
  Check(cudaMemcpy(words.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::FILE* file = std::fopen(argv[2], "wb");
  if (file == nullptr || std::fwrite(words.data(), 1, bytes, file) != bytes ||
      std::fclose(file) != 0) {
    std::perror(argv[2]);
    return 1;
  }
  return 0;
}
