// task: relu
// Control flow of another age: labels, a loop tested at its end, a comma, a switch inside of a loop
// (Duff's device).
__global__ void k(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8, end = i + 8 < n ? i + 8 : n;
  if (i >= end) goto done;
  switch ((end - i) & 3) {
    case 0:
      do {
        y[i] = x[i] > 0 ? x[i] : 0, ++i;
        [[fallthrough]];
        case 3:
          y[i] = x[i] > 0 ? x[i] : 0, ++i;
          [[fallthrough]];
        case 2:
          y[i] = x[i] > 0 ? x[i] : 0, ++i;
          [[fallthrough]];
        case 1:
          y[i] = x[i] > 0 ? x[i] : 0, ++i;
      } while (i < end);
  }
done:
  return;
}
extern "C" void relu(const float* x, float* y, int n) { k<<<(n + 1023) / 1024, 128>>>(x, y, n); }
