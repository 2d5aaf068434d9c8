// loss = mean over rows of log(sum over c of exp(logits[r][c])) - logits[r][targets[r]]: one thread
// per row, the largest logit subtracted first; every thread adds its share of the mean to the
// result.

__global__ void cross_entropy_kernel(const float* logits, const long long* targets, float* loss,
                                     int rows, int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  const float* row = logits + r * classes;
  float largest = row[0];
  for (int c = 1; c < classes; ++c) {
    largest = fmaxf(largest, row[c]);
  }
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) {
    sum += expf(row[c] - largest);
  }
  float row_loss = logf(sum) + largest - row[targets[r]];
  atomicAdd(loss, row_loss / rows);
}

extern "C" void cross_entropy(const float* logits, const long long* targets, float* loss, int rows,
                              int classes) {
  cudaMemsetAsync(loss, 0, sizeof(float));
  int block = 256;
  int grid = (rows + block - 1) / block;
  cross_entropy_kernel<<<grid, block>>>(logits, targets, loss, rows, classes);
}
