extern "C" void mask_reference(const float* x, bool* above, long long* count, float threshold,
                               int n) {
  *count = 0;
  for (int i = 0; i < n; ++i) {
    above[i] = x[i] > threshold;
    *count += above[i];
  }
}
