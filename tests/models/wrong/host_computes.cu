// stage: plan
// reason: 
// What a launcher does on the host does not reach the device.
extern "C" void transpose(const float* in, float* out, int rows, int cols) {
  for (int i = 0; i < rows * cols; ++i) {
    out[i % cols * rows + i / cols] = in[i];
  }
}
