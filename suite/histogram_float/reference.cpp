// What histogram_float must compute.

extern "C" void histogram_float_reference(const float* data, int* counts, int n, int bins) {
  for (int v = 0; v < bins; ++v) {
    counts[v] = 0;
  }
  for (int i = 0; i < n; ++i) {
    if (data[i] >= 0 && data[i] < bins) {
      ++counts[int(data[i])];
    }
  }
}
