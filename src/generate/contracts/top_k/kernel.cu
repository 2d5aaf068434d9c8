// The k largest of n elements with their indices, largest first, of equal ones the first. A
// tournament: each block sorts a chunk in shared memory and keeps the chunk's k largest; what is
// kept goes into the next round, until one chunk is left.

#define CHUNK 2048
#define BLOCK 1024

// Without indices_in the elements are those of the array itself.
__global__ void round_kernel(const float* values_in, const int* indices_in, float* values_out,
                             int* indices_out, int count, int k) {
  __shared__ float values[CHUNK];
  __shared__ int indices[CHUNK];
  int begin = blockIdx.x * CHUNK;
  for (int i = threadIdx.x; i < CHUNK; i += BLOCK) {
    bool inside = begin + i < count;
    values[i] = inside ? values_in[begin + i] : -INFINITY;
    indices[i] = !inside ? INT_MAX : indices_in != nullptr ? indices_in[begin + i] : begin + i;
  }
  __syncthreads();

  for (int size = 2; size <= CHUNK; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      int low = threadIdx.x / stride * (2 * stride) + threadIdx.x % stride;
      int high = low + stride;
      bool ordered = values[low] > values[high] ||
                     (values[low] == values[high] && indices[low] < indices[high]);
      bool largest_first = (low & size) == 0;
      if (ordered != largest_first) {
        float value = values[low];
        values[low] = values[high];
        values[high] = value;
        int index = indices[low];
        indices[low] = indices[high];
        indices[high] = index;
      }
      __syncthreads();
    }
  }

  for (int i = threadIdx.x; i < k; i += BLOCK) {
    values_out[blockIdx.x * k + i] = values[i];
    indices_out[blockIdx.x * k + i] = indices[i];
  }
}

extern "C" void top_k(const float* x, float* values, int* indices, float* values_a, int* indices_a,
                      float* values_b, int* indices_b, int n, int k) {
  const float* from_values = x;
  const int* from_indices = nullptr;
  float* to_values = values_a;
  int* to_indices = indices_a;
  int count = n;
  while (count > CHUNK) {
    int blocks = (count + CHUNK - 1) / CHUNK;
    round_kernel<<<blocks, BLOCK>>>(from_values, from_indices, to_values, to_indices, count, k);
    from_values = to_values;
    from_indices = to_indices;
    to_values = to_values == values_a ? values_b : values_a;
    to_indices = to_indices == indices_a ? indices_b : indices_a;
    count = blocks * k;
  }
  round_kernel<<<1, BLOCK>>>(from_values, from_indices, values, indices, count, k);
}
