// A CUDA runtime without a device: every call succeeds and is written into the trace. With
// launcher.cpp it makes the program that records a launcher; main is in driver.h. What the calls
// mean, and whether a launcher may make them, is decided by who reads the trace
// (recorded_plan.cpp).

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "trace.h"
// After trace.h.
#include "confine.h"
#include "driver.h"
#include "live.h"
#include "messages.h"
#include "pinned.h"

namespace rec = optiml::recording;
using rec::Fault;
using rec::Put;
using rec::PutEvent;
using rec::state;

namespace {

uint64_t Word(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

bool IsDevice(const void* pointer) {
  return rec::IsDeviceAddress(Word(pointer));
}

void Copy(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream,
          bool waits) {
  if (size == 0) {
    return;
  }
  const bool to_device = IsDevice(to);
  const bool from_device = IsDevice(from);
  // With two device pointers the kind does not matter.
  if (kind == cudaMemcpyDeviceToHost && !from_device && state->head.live == 0) {
    rec::StopAtRead();
  }
  if ((kind == cudaMemcpyDeviceToDevice && (!to_device || !from_device)) ||
      (kind == cudaMemcpyDeviceToHost && !from_device) ||
      (kind == cudaMemcpyHostToDevice && from_device && !to_device)) {
    Fault("a copy's kind does not fit its pointers");
  }
  if (from_device && !to_device) {
    rec::ReadBack(to, Word(from), size, stream, waits);
    return;
  }
  if (!to_device) {
    std::memcpy(to, from, size);
  } else if (from_device) {
    PutEvent(rec::kCopy);
    Put(Word(to));
    Put(Word(from));
    Put(size);
    Put(Word(stream));
  } else {
    PutEvent(rec::kUpload);
    Put(Word(to));
    Put(Word(stream));
    rec::PutBlob(from, size);
    if (!waits) {
      rec::AddUpload(from, size, stream);
    }
  }
}

void Set(void* to, int value, size_t size, cudaStream_t stream) {
  if (size == 0) {
    return;
  }
  PutEvent(rec::kMemset);
  Put(Word(to));
  Put(static_cast<uint64_t>(value & 0xff));
  Put(size);
  Put(Word(stream));
}

void Events(rec::EventKind kind, const void* a, const void* b) {
  PutEvent(kind);
  if (kind != rec::kSyncAll) {
    Put(Word(a));
  }
  if (kind == rec::kRecord || kind == rec::kWait) {
    Put(Word(b));
  }
}

int64_t BlocksPerMultiprocessor(const rec::Kernel& kernel, int64_t threads, uint64_t shared) {
  if (threads <= 0 || threads > rec::FactOf(cudaDevAttrMaxThreadsPerBlock)) {
    return 0;
  }
  const int64_t warps = (threads + 31) / 32;
  const int64_t bytes = static_cast<int64_t>(shared + kernel.static_shared_bytes) +
                        rec::FactOf(cudaDevAttrReservedSharedMemoryPerBlock);
  int64_t best = rec::FactOf(cudaDevAttrMaxThreadsPerMultiProcessor) / (warps * 32);
  for (const int64_t other : {rec::FactOf(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / bytes,
                              rec::FactOf(cudaDevAttrMaxBlocksPerMultiprocessor)}) {
    best = other < best ? other : best;
  }
  return best;
}

}  // namespace

// Calls of launcher.h and of the text that clang_host_text.cpp makes.
extern "C" {

void optiml_recorder_at(int line) {
  state->line = line;
}

void optiml_recorder_configure(int line, dim3 grid, dim3 block, unsigned long long shared,
                               cudaStream_t stream) {
  state->line = line;
  state->grid = grid;
  state->block = block;
  state->cluster = dim3(1, 1, 1);
  state->shared_bytes = shared;
  state->stream = stream;
  state->cooperative = false;
  state->is_configured = true;
}

void optiml_recorder_hand(const void* tag, const void* const* values,
                          const unsigned long long* sizes, int count) {
  if (state->identifying >= 0) {
    state->kernels[state->identifying].tag = tag;
    return;
  }
  const rec::Kernel& kernel = rec::KernelAt(tag);
  if (!state->is_configured || kernel.arguments != count) {
    Fault("launcher calls a kernel without a launch");
  }
  state->is_configured = false;
  rec::PutLaunch(kernel, values);
}

void optiml_recorder_kernel(int index, const void* address, const unsigned long long* sizes,
                            int count, unsigned long long shared, int bound) {
  if (index != state->kernel_count || index >= rec::kMaxKernels ||
      count > rec::kMaxKernelArguments) {
    Fault("the file has more kernels, or more parameters of one, than can be traced");
  }
  rec::Kernel& kernel = state->kernels[state->kernel_count++];
  kernel.address = address;
  kernel.arguments = count;
  kernel.static_shared_bytes = shared;
  kernel.bound_threads = bound;
  for (int i = 0; i < count; ++i) {
    kernel.sizes[i] = sizes[i];
  }
  state->identifying = index;
}

void optiml_recorder_symbol(int index, const void* address, unsigned long long size) {
  if (index != state->symbol_count || index >= rec::kMaxSymbols) {
    Fault("the file has more module variables than can be traced");
  }
  state->symbols[state->symbol_count++] = {address, size, -1};
}

cudaError_t optiml_recorder_potential(int* grid, int* block, const void* function, size_t shared,
                                      int limit) {
  const rec::Kernel& kernel = rec::KernelAt(function);
  int64_t threads =
      kernel.bound_threads > 0 ? kernel.bound_threads : rec::FactOf(cudaDevAttrMaxThreadsPerBlock);
  if (limit > 0 && limit < threads) {
    threads = limit;
  }
  *grid = static_cast<int>(rec::FactOf(cudaDevAttrMultiProcessorCount) *
                           BlocksPerMultiprocessor(kernel, threads, shared));
  *block = static_cast<int>(threads);
  return cudaSuccess;
}

// Memory.
cudaError_t cudaMalloc(void** pointer, size_t size) {
  const uint64_t address = rec::NewBuffer(size);
  PutEvent(rec::kMalloc);
  Put(address);
  Put(size);
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t) {
  return cudaMalloc(pointer, size);
}
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int) {
  return cudaMalloc(pointer, size);
}
cudaError_t cudaFree(void* pointer) {
  if (pointer != nullptr) {
    PutEvent(rec::kFree);
    Put(Word(pointer));
  }
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
  return cudaFree(pointer);
}
cudaError_t cudaMallocHost(void** pointer, size_t size) {
  *pointer = malloc(size);
  rec::AddPinned(*pointer, size);
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int) {
  return cudaMallocHost(pointer, size);
}
// Waits for the device, as the drivers' does.
cudaError_t cudaFreeHost(void* pointer) {
  rec::EndAllUploads();
  rec::EndAllReads();
  rec::RemovePinned(pointer);
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int) {
  rec::AddPinned(pointer, size);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* pointer) {
  rec::EndAllUploads();
  rec::EndAllReads();
  rec::RemovePinned(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t size) {
  Set(to, value, size, nullptr);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t stream) {
  Set(to, value, size, stream);
  return cudaSuccess;
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  for (size_t row = 0; row < height; ++row) {
    Set(static_cast<char*>(to) + row * pitch, value, width, stream);
  }
  return cudaSuccess;
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  Copy(to, from, size, kind, nullptr, true);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  Copy(to, from, size, kind, stream, false);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  for (size_t row = 0; row < height; ++row) {
    Copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
         width, kind, stream, false);
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; ++row) {
    Copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
         width, kind, nullptr, true);
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  if (Word(stream) > 1) {
    Fault("launcher copies to a module variable on a stream of its own, which cannot be traced");
  }
  Copy(reinterpret_cast<void*>(rec::SymbolAddress(symbol) + offset), from, size, kind, nullptr,
       false);
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset,
                               cudaMemcpyKind kind) {
  Copy(reinterpret_cast<void*>(rec::SymbolAddress(symbol) + offset), from, size, kind, nullptr,
       true);
  return cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset,
                                 cudaMemcpyKind kind) {
  Copy(to, reinterpret_cast<void*>(rec::SymbolAddress(symbol) + offset), size, kind, nullptr, true);
  return cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (Word(stream) > 1) {
    Fault("launcher copies from a module variable on a stream of its own, which cannot be traced");
  }
  Copy(to, reinterpret_cast<void*>(rec::SymbolAddress(symbol) + offset), size, kind, nullptr,
       false);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  *pointer = reinterpret_cast<void*>(rec::SymbolAddress(symbol));
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  const int64_t buffer = rec::BufferOf(rec::SymbolAddress(symbol));
  *size = state->buffer_bytes[buffer];
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *free_bytes = state->head.free_bytes;
  *total_bytes = state->head.total_bytes;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned int, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return cudaSuccess;
}
#else
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) {
  return cudaSuccess;
}
#endif

// Streams and events.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  *stream = reinterpret_cast<cudaStream_t>(rec::NewHandle());
  PutEvent(rec::kStream);
  Put(Word(*stream));
  Put(flags & cudaStreamNonBlocking);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  rec::FreeHandle(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  rec::EndUploadsOf(stream);
  rec::EndReadsOf(stream);
  Events(rec::kSyncStream, stream, nullptr);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return state->head.other_surroundings != 0 ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  state->streams_wait = true;
  Events(rec::kWait, stream, event);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = reinterpret_cast<cudaEvent_t>(rec::NewHandle());
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  rec::FreeHandle(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  rec::RecordUploads(event, stream);
  Events(rec::kRecord, event, stream);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  rec::EndUploadsBehind(event);
  rec::EndReadsBehind(event);
  Events(rec::kSyncEvent, event, nullptr);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaStreamQuery(nullptr);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = state->head.other_surroundings != 0 ? 7.5f : 1.25f;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  rec::EndAllUploads();
  rec::EndAllReads();
  Events(rec::kSyncAll, nullptr, nullptr);
  return cudaSuccess;
}

// The device.
cudaError_t cudaSetDevice(int device) {
  if (device != 0) {
    Fault("launcher switches to another device");
  }
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return cudaSetDevice(device);
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = static_cast<int>(rec::FactOf(attribute));
  return cudaSuccess;
}
// Members that are not set here are not the same in other surroundings.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  const bool other = state->head.other_surroundings != 0;
  std::memset(properties, other ? 0x5A : 0x25, sizeof(*properties));
  std::snprintf(properties->name, sizeof(properties->name), other ? "a device" : "another device");
  const auto set = [](auto& member, int64_t attribute) {
    member = static_cast<std::remove_reference_t<decltype(member)>>(rec::FactOf(attribute));
  };
  properties->totalGlobalMem = state->head.total_bytes;
  set(properties->maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
  set(properties->sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  set(properties->totalConstMem, cudaDevAttrTotalConstantMemory);
  set(properties->warpSize, cudaDevAttrWarpSize);
  set(properties->regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
  set(properties->multiProcessorCount, cudaDevAttrMultiProcessorCount);
  set(properties->concurrentKernels, cudaDevAttrConcurrentKernels);
  set(properties->memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
  set(properties->l2CacheSize, cudaDevAttrL2CacheSize);
  set(properties->maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
  set(properties->major, cudaDevAttrComputeCapabilityMajor);
  set(properties->minor, cudaDevAttrComputeCapabilityMinor);
  set(properties->sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  set(properties->regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
  set(properties->cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  set(properties->sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  set(properties->maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
  set(properties->reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  set(properties->clusterLaunch, cudaDevAttrClusterLaunch);
  for (int i = 0; i < 3; ++i) {
    set(properties->maxThreadsDim[i], cudaDevAttrMaxBlockDimX + i);
    set(properties->maxGridSize[i], cudaDevAttrMaxGridDimX + i);
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t) {
  if (limit > cudaLimitDevRuntimePendingLaunchCount) {
    Fault("launcher changes a limit of the device's caches, which outlives it");
  }
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = static_cast<int>(state->head.version);
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;
}
cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

// Errors: there are none.
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaPeekAtLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "no error";
}
const char* cudaGetErrorName(cudaError_t) {
  return "cudaSuccess";
}

// Kernels.
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  const rec::Kernel& kernel = rec::KernelAt(function);
  PutEvent(rec::kAttribute);
  Put(rec::IndexOf(kernel));
  Put(static_cast<uint64_t>(attribute));
  Put(static_cast<uint64_t>(static_cast<int64_t>(value)));
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t shared) {
  *blocks = static_cast<int>(BlocksPerMultiprocessor(rec::KernelAt(function), threads, shared));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** values,
                             size_t shared, cudaStream_t stream) {
  optiml_recorder_configure(state->line, grid, block, shared, stream);
  state->is_configured = false;
  rec::PutLaunch(rec::KernelAt(function), values);
  return cudaSuccess;
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** values,
                                        size_t shared, cudaStream_t stream) {
  optiml_recorder_configure(state->line, grid, block, shared, stream);
  state->is_configured = false;
  state->cooperative = true;
  rec::PutLaunch(rec::KernelAt(function), values);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** values) {
  optiml_recorder_configure(state->line, config->gridDim, config->blockDim,
                            config->dynamicSmemBytes, config->stream);
  state->is_configured = false;
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) {
      state->cooperative = attribute.val.cooperative != 0;
    } else if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& dim = attribute.val.clusterDim;
      state->cluster = dim3(dim.x, dim.y, dim.z);
    } else {
      Fault("cudaLaunchKernelEx with an attribute that cannot be traced");
    }
  }
  rec::PutLaunch(rec::KernelAt(function), values);
  return cudaSuccess;
}

}  // extern "C"
