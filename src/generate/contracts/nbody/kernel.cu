// Gravity: acceleration[i] = sum over j of masses[j] * d / (|d|^2 + softening)^(3/2) with d =
// position[j] - position[i]: one thread per body.

__global__ void nbody_kernel(const float* positions, const float* masses, float* accelerations,
                             float softening, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  float x = positions[3 * i];
  float y = positions[3 * i + 1];
  float z = positions[3 * i + 2];
  float ax = 0.0f;
  float ay = 0.0f;
  float az = 0.0f;
  for (int j = 0; j < n; ++j) {
    float dx = positions[3 * j] - x;
    float dy = positions[3 * j + 1] - y;
    float dz = positions[3 * j + 2] - z;
    float squared = dx * dx + dy * dy + dz * dz + softening;
    float inverse = 1.0f / sqrtf(squared);
    float pull = masses[j] * inverse * inverse * inverse;
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  accelerations[3 * i] = ax;
  accelerations[3 * i + 1] = ay;
  accelerations[3 * i + 2] = az;
}

extern "C" void nbody(const float* positions, const float* masses, float* accelerations,
                      float softening, int n) {
  int block = 128;
  int grid = (n + block - 1) / block;
  nbody_kernel<<<grid, block>>>(positions, masses, accelerations, softening, n);
}
