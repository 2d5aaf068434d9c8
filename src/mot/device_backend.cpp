#include "mot/device_backend.h"

#include <fmt/format.h>

#include <ggml-alloc.h>

#include "mot/llama_runtime.h"

namespace optiml::mot {

Result<std::shared_ptr<DeviceBackend>> DeviceBackend::For(ggml_backend_dev_t device, int threads) {
  auto backend = std::make_shared<DeviceBackend>();
  backend->device_ = device;
  backend->backend_.reset(device == nullptr ? nullptr : ggml_backend_dev_init(device, nullptr));
  if (backend->backend_ == nullptr) {
    return Error(ErrorCode::kUnavailable, "the device of a boundary gives no backend");
  }
  auto set_threads =
      reinterpret_cast<ggml_backend_set_n_threads_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads"));
  if (set_threads != nullptr) {
    set_threads(backend->backend_.get(), threads);
  }
  return backend;
}

Result<void> DeviceBackend::Compute(ggml_cgraph* graph) const {
  const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph);
  if (status != GGML_STATUS_SUCCESS) {
    return Error(ErrorCode::kInternal,
                 fmt::format("a graph on {} failed ({})", name(), static_cast<int>(status)));
  }
  return {};
}

ggml_backend_buffer_t BufferOf(const ggml_tensor& tensor) {
  return tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer;
}

ggml_backend_dev_t DeviceOf(const ggml_tensor& tensor) {
  const ggml_backend_buffer_t buffer = BufferOf(tensor);
  if (buffer == nullptr) {
    return nullptr;
  }
  const ggml_backend_dev_t device =
      ggml_backend_buft_get_device(ggml_backend_buffer_get_type(buffer));
  // Pinned host memory names the GPU's library's host type, and plain memory may name nobody.
  return device == nullptr || ggml_backend_buffer_is_host(buffer) ? CpuDevice() : device;
}

ggml_backend_dev_t CpuDevice() {
  InitialiseLlama();
  return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
}

GgmlContext MakeGgmlContext(size_t tensors) {
  return GgmlContext(
      ggml_init({tensors * ggml_tensor_overhead() + ggml_graph_overhead_custom(tensors, false),
                 nullptr, true}));
}

}  // namespace optiml::mot
