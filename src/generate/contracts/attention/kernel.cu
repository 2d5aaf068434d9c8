// out = softmax(q k^T / sqrt(dim)) v for each head{{kind.title}}, in three launches: the scores, their
// softmax in place, the weighted sums of v.

{{include}}// scores[h][i][j] = q[h][i] . k[h][j] / sqrt(dim): one thread per score.
__global__ void scores_kernel(const {{type}}* q, const {{type}}* k, float* scores, int length, int dim) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int h = blockIdx.z;
  if (i < length && j < {{kind.visible}}) {
    float sum = 0.0f;
    for (int d = 0; d < dim; ++d) {
      sum += {{load:q[(h * length + i) * dim + d]}} * {{load:k[(h * length + j) * dim + d]}};
    }
    scores[(h * length + i) * length + j] = sum / sqrtf((float)dim);
  }
}

// The softmax of each row of scores: one thread per row.
__global__ void softmax_kernel(float* scores, int rows, int length) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) {
    return;
  }
  int i = r % length;
  int visible = {{kind.visible}};
  float* row = scores + r * length;
  float largest = row[i < visible ? i : 0];
  for (int j = 0; j < visible; ++j) {
    largest = fmaxf(largest, row[j]);
  }
  float sum = 0.0f;
  for (int j = 0; j < visible; ++j) {
    row[j] = expf(row[j] - largest);
    sum += row[j];
  }
  for (int j = 0; j < visible; ++j) {
    row[j] /= sum;
  }
}

// out[h][i][d] = sum over j of scores[h][i][j] * v[h][j][d]: one thread per output.
__global__ void values_kernel(const float* scores, const {{type}}* v, {{type}}* out, int length, int dim) {
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int h = blockIdx.z;
  if (i < length && d < dim) {
    float sum = 0.0f;
    for (int j = 0; j < {{kind.visible}}; ++j) {
      sum += scores[(h * length + i) * length + j] * {{load:v[(h * length + j) * dim + d]}};
    }
    out[(h * length + i) * dim + d] = {{store:sum}};
  }
}

extern "C" void {{name}}(const {{type}}* q, const {{type}}* k, const {{type}}* v, {{type}}* out, float* scores,
                         int batch, int heads, int length, int dim) {
  int all = batch * heads;
  dim3 block(16, 16);
  dim3 scores_grid((length + 15) / 16, (length + 15) / 16, all);
  scores_kernel<<<scores_grid, block>>>(q, k, scores, length, dim);
  softmax_kernel<<<(all * length + 127) / 128, 128>>>(scores, all * length, length);
  dim3 values_grid((dim + 15) / 16, (length + 15) / 16, all);
  values_kernel<<<values_grid, block>>>(scores, v, out, length, dim);
}
