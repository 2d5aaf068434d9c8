#ifndef OPTIML_MOT_DEVICE_BACKEND_H_
#define OPTIML_MOT_DEVICE_BACKEND_H_

// DeviceBackend: a ggml backend of the device that some tensor lies on, for graphs of our own on
// that tensor's memory.

#include <ggml.h>

#include <memory>
#include <string>

#include <ggml-backend.h>

#include "base/result.h"

namespace optiml::mot {

class DeviceBackend {
 public:
  // kUnavailable when the device gives no backend.
  static Result<std::shared_ptr<DeviceBackend>> For(ggml_backend_dev_t device, int threads);

  ggml_backend_t get() const { return backend_.get(); }
  ggml_backend_dev_t device() const { return device_; }
  std::string name() const { return ggml_backend_dev_name(device_); }
  // Fails with kInternal.
  Result<void> Compute(ggml_cgraph* graph) const;

 private:
  struct Free {
    void operator()(ggml_backend_t backend) const { ggml_backend_free(backend); }
  };
  std::unique_ptr<ggml_backend, Free> backend_;
  ggml_backend_dev_t device_ = nullptr;
};

// The buffer that holds `tensor`, which may be a view.
ggml_backend_buffer_t BufferOf(const ggml_tensor& tensor);
// The device that `tensor` lies on; null when it lies nowhere.
ggml_backend_dev_t DeviceOf(const ggml_tensor& tensor);
ggml_backend_dev_t CpuDevice();

struct FreeGgml {
  void operator()(ggml_context* context) const { ggml_free(context); }
  void operator()(ggml_backend_buffer_t buffer) const { ggml_backend_buffer_free(buffer); }
  void operator()(ggml_gallocr_t allocator) const { ggml_gallocr_free(allocator); }
};
using GgmlContext = std::unique_ptr<ggml_context, FreeGgml>;
using GgmlBuffer = std::unique_ptr<ggml_backend_buffer, FreeGgml>;
using GgmlAllocator = std::unique_ptr<ggml_gallocr, FreeGgml>;

// A context for the descriptions of `tensors` tensors, and of a graph of them.
GgmlContext MakeGgmlContext(size_t tensors);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_DEVICE_BACKEND_H_
