// usage: cases NAME [SECONDS]
//
// Allocates and fills the buffers of a case as the emulator does
// (tests/agree/kernels/run_source.cpp): `in` is filled, `out` is not written. Says how it ended.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "driver.h"

namespace {

SanitizeCase* first_case = nullptr;

bool Failed(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::printf("DRIVER %s: %s\n", what, cudaGetErrorName(error));
  }
  return error != cudaSuccess;
}

// A kernel that never ends must not outlive whoever stops the tool around it.
void GiveUp(int) {
  static const char text[] = "DRIVER timeout\n";
  const ssize_t written = write(STDOUT_FILENO, text, sizeof(text) - 1);
  _exit(written > 0 ? 3 : 4);
}

int Run(const SanitizeCase& c) {
  std::vector<unsigned char> bytes(c.in_bytes);
  unsigned long long state = 42;
  for (size_t at = 0; at < c.in_bytes; at += 4) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const unsigned word = static_cast<unsigned>(state >> 33);
    std::memcpy(&bytes[at], &word, c.in_bytes - at < 4 ? c.in_bytes - at : 4);
  }
  void* in = nullptr;
  void* out = nullptr;
  if (Failed(cudaMalloc(&in, c.in_bytes), "cudaMalloc") ||
      Failed(cudaMalloc(&out, c.out_bytes), "cudaMalloc") ||
      Failed(cudaMemcpy(in, bytes.data(), c.in_bytes, cudaMemcpyHostToDevice), "cudaMemcpy")) {
    return 1;
  }
  c.run(in, out, c.n);
  if (Failed(cudaGetLastError(), "launch") || Failed(cudaDeviceSynchronize(), "kernel")) {
    return 1;
  }
  std::printf("DRIVER done\n");
  return 0;
}

}  // namespace

SanitizeCase::SanitizeCase(const char* name, int n, size_t in_bytes, size_t out_bytes,
                           void (*run)(void* in, void* out, int n))
    : name(name), n(n), in_bytes(in_bytes), out_bytes(out_bytes), run(run), next(first_case) {
  first_case = this;
}

int main(int argc, char** argv) {
  signal(SIGALRM, GiveUp);
  alarm(argc == 3 ? static_cast<unsigned>(std::atoi(argv[2])) : 30);
  for (const SanitizeCase* c = first_case; argc >= 2 && c != nullptr; c = c->next) {
    if (std::strcmp(c->name, argv[1]) == 0) {
      return Run(*c);
    }
  }
  std::fprintf(stderr, "usage: cases NAME [SECONDS]\n");
  return 2;
}
