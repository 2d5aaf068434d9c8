// task: suite/multi_head_attention
// One warp a row of queries: keys in tiles, the softmax updated online, no scores in memory.
__global__ void k(const float* q, const float* keys, const float* v, float* out, int length, int dim) {
  extern __shared__ float acc[];
  const int lane = threadIdx.x, i = blockIdx.x, h = blockIdx.y;
  const float* query = q + (static_cast<size_t>(h) * length + i) * dim;
  const float scale = rsqrtf(static_cast<float>(dim));
  for (int d = lane; d < dim; d += 32) acc[d] = 0.0f;
  float top = -INFINITY, sum = 0.0f;
  for (int j0 = 0; j0 < length; j0 += 32) {
    const int j = j0 + lane;
    float s = -INFINITY;
    if (j < length) {
      s = 0.0f;
      const float* key = keys + (static_cast<size_t>(h) * length + j) * dim;
      for (int d = 0; d < dim; ++d) s = fmaf(query[d], key[d], s);
      s *= scale;
    }
    float tile_top = s;
    for (int d = 16; d; d /= 2) tile_top = fmaxf(tile_top, __shfl_xor_sync(~0u, tile_top, d));
    const float new_top = fmaxf(top, tile_top);
    const float keep = expf(top - new_top);
    const float p = j < length ? expf(s - new_top) : 0.0f;
    float tile_sum = p;
    for (int d = 16; d; d /= 2) tile_sum += __shfl_xor_sync(~0u, tile_sum, d);
    sum = sum * keep + tile_sum;
    top = new_top;
    for (int d0 = 0; d0 < dim; d0 += 32) {
      const int d = d0 + lane;
      float value = d < dim ? acc[d] * keep : 0.0f;
      for (int t = 0; t < min(32, length - j0); ++t) {
        const float weight = __shfl_sync(~0u, p, t);
        if (d < dim) value += weight * v[(static_cast<size_t>(h) * length + j0 + t) * dim + d];
      }
      if (d < dim) acc[d] = value;
    }
  }
  for (int d = lane; d < dim; d += 32) out[(static_cast<size_t>(h) * length + i) * dim + d] = acc[d] / sum;
}
extern "C" void multi_head_attention(const float* q, const float* k_, const float* v, float* out,
                                     float* scores, int batch, int heads, int length, int dim) {
  k<<<dim3(length, batch * heads), 32, dim * sizeof(float)>>>(q, k_, v, out, length, dim);
}
