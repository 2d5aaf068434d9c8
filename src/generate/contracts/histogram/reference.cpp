// What histogram must compute.

extern "C" void histogram_reference(const int* data, int* counts, int n, int bins) {
  for (int v = 0; v < bins; ++v) {
    counts[v] = 0;
  }
  for (int i = 0; i < n; ++i) {
    ++counts[data[i]];
  }
}
