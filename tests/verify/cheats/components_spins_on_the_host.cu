// task: components
// kind: 37
// stage: plan
// reason: launcher did not end within 3 s
// It waits for a flag that it does not ask for again.
__device__ int done;
extern "C" void components(const int* from, const int* to, int* labels, int nodes, int edges) {
  int flag = 0;
  cudaMemcpyFromSymbol(&flag, done, sizeof(int));
  while (*static_cast<volatile int*>(&flag) == 0) {
  }
}
