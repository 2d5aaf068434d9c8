// beta = (X^T X)^-1 X^T y, the coefficients of a linear least squares fit. First X^T X and X^T y:
// thread (i, j) of every block sums X[r][i] X[r][j] over the samples r that its block takes, and
// adds its sum to the result. Then one thread solves the normal equations by elimination; X^T X is
// positive definite and needs no pivots.

__global__ void normal_equations_kernel(const float* x, const float* y, float* gram, float* moment,
                                        int samples, int features) {
  int i = threadIdx.y;
  int j = threadIdx.x;
  float products = 0.0f;
  float responses = 0.0f;
  for (int r = blockIdx.x; r < samples; r += gridDim.x) {
    products += x[r * features + i] * x[r * features + j];
    responses += x[r * features + i] * y[r];
  }
  atomicAdd(&gram[i * features + j], products);
  if (j == 0) {
    atomicAdd(&moment[i], responses);
  }
}

__global__ void solve_kernel(float* gram, float* moment, float* beta, int features) {
  for (int k = 0; k < features; ++k) {
    for (int i = k + 1; i < features; ++i) {
      float factor = gram[i * features + k] / gram[k * features + k];
      for (int j = k; j < features; ++j) {
        gram[i * features + j] -= factor * gram[k * features + j];
      }
      moment[i] -= factor * moment[k];
    }
  }
  for (int i = features - 1; i >= 0; --i) {
    float rest = moment[i];
    for (int j = i + 1; j < features; ++j) {
      rest -= gram[i * features + j] * beta[j];
    }
    beta[i] = rest / gram[i * features + i];
  }
}

extern "C" void least_squares(const float* x, const float* y, float* beta, float* gram,
                              float* moment, int samples, int features) {
  cudaMemsetAsync(gram, 0, features * features * sizeof(float));
  cudaMemsetAsync(moment, 0, features * sizeof(float));
  dim3 block(features, features);
  int grid = (samples + 255) / 256;
  normal_equations_kernel<<<grid, block>>>(x, y, gram, moment, samples, features);
  solve_kernel<<<1, 1>>>(gram, moment, beta, features);
}
