#include <algorithm>

extern "C" void components_reference(const int* from, const int* to, int* labels, int nodes,
                                     int edges) {
  for (int i = 0; i < nodes; ++i) labels[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (int e = 0; e < edges; ++e) {
      const int least = std::min(labels[from[e]], labels[to[e]]);
      changed |= labels[from[e]] != least || labels[to[e]] != least;
      labels[from[e]] = labels[to[e]] = least;
    }
  }
}
