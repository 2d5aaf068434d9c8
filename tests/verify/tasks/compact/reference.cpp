extern "C" void compact_reference(const int* x, int* y, int n) {
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] % 2 == 0) y[kept++] = x[i] * x[i];
  }
  while (kept < n) y[kept++] = -1;
}
