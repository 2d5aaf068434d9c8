// A stencil in place: blocks read what their neighbours overwrite.
// n: 512
// emulator: race
// sanitizer: none
__global__ void Copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void Blur(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? data[i - 1] : 0.0f;  // here
  const float here = data[i];
  __syncthreads();
  data[i] = 0.5f * (left + here);  // here
}

extern "C" void launch(const float* in, float* out, int n) {
  Copy<<<4, 128>>>(in, out, n);
  Blur<<<4, 128>>>(out, n);
}
