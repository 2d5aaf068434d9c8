// What nbody must compute, in double.
#include <cmath>
#include <cstdint>

extern "C" void nbody_reference_range(int64_t begin, int64_t end, const float* positions,
                                      const float* masses, double* accelerations, float softening,
                                      int n) {
  for (int64_t e = begin; e < end; ++e) {
    const float* at = positions + e / 3 * 3;
    const int axis = int(e % 3);
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      double squared = softening;
      for (int k = 0; k < 3; ++k) {
        const double d = double(positions[3 * j + k]) - at[k];
        squared += d * d;
      }
      sum +=
          masses[j] * (double(positions[3 * j + axis]) - at[axis]) / (squared * std::sqrt(squared));
    }
    accelerations[e] = sum;
  }
}

extern "C" void nbody_reference(const float* positions, const float* masses, double* accelerations,
                                float softening, int n) {
  nbody_reference_range(0, 3 * int64_t(n), positions, masses, accelerations, softening, n);
}
