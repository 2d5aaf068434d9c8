// loss[r] = log(sum over c of exp(logits[r][c])) - logits[r][targets[r]], the largest logit subtracted
// first: one thread per row.

{{include}}__global__ void cross_entropy_kernel(const {{type}}* logits, const int* targets, float* loss, int rows,
                                     int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float largest = {{load:logits[r * classes]}};
    for (int c = 1; c < classes; ++c) {
      float v = {{load:logits[r * classes + c]}};
      largest = fmaxf(largest, v);
    }
    float sum = 0.0f;
    for (int c = 0; c < classes; ++c) {
      float v = {{load:logits[r * classes + c]}};
      sum += expf(v - largest);
    }
    float chosen = {{load:logits[r * classes + targets[r]]}};
    loss[r] = logf(sum) + largest - chosen;
  }
}

extern "C" void cross_entropy(const {{type}}* logits, const int* targets, float* loss, int rows,
                              int classes) {
  int block = 128;
  int grid = (rows + block - 1) / block;
  cross_entropy_kernel<<<grid, block>>>(logits, targets, loss, rows, classes);
}
