// n: 2048
// Recursion whose depth differs between lanes: Ackermann's function and a quicksort.
__device__ __noinline__ unsigned Ackermann(unsigned m, unsigned n) {
  if (m == 0) {
    return n + 1;
  }
  return Ackermann(m - 1, n == 0 ? 1 : Ackermann(m, n - 1));
}

__device__ __noinline__ void Sort(unsigned* values, int count) {
  if (count < 2) {
    return;
  }
  const unsigned pivot = values[count / 2];
  int left = 0;
  int right = count - 1;
  while (left <= right) {
    while (values[left] < pivot) {
      ++left;
    }
    while (values[right] > pivot) {
      --right;
    }
    if (left <= right) {
      const unsigned swap = values[left];
      values[left++] = values[right];
      values[right--] = swap;
    }
  }
  Sort(values, right + 1);
  Sort(values + left, count - left);
}

__global__ void Recurse(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned values[16];
  for (int k = 0; k < 16; ++k) {
    values[k] = in[(i * 16 + k * k) % n] % 1000;
  }
  Sort(values, 5 + static_cast<int>(in[i] % 12));
  unsigned sum = Ackermann(in[i] % 3, in[i] / 8 % 6);
  for (int k = 0; k < 16; ++k) {
    sum = sum * 7 + values[k];
  }
  out[i] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  Recurse<<<n / 64, 64>>>(in, out, n);
}
