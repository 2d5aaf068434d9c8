// task: relu
// launcher: recorded
// A class owns the scratch memory, another one the stream; both clean up in their destructors.
#include <cstdio>
#include <stdexcept>
#include <string>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static void Check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    char text[200];
    snprintf(text, sizeof(text), "%s: %s", what, cudaGetErrorString(error));
    throw std::runtime_error(text);
  }
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) { Check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc"); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

class Stream {
 public:
  Stream() { Check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_;
};

extern "C" void relu(const float* x, float* y, int n) {
  try {
    DeviceArray<float> copy(n);
    Stream stream;
    Check(cudaMemcpyAsync(copy.get(), x, n * sizeof(float), cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
    k<<<(n + 255) / 256, 256, 0, stream>>>(copy.get(), y, n);
    Check(cudaGetLastError(), std::string("launch").c_str());
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
}
