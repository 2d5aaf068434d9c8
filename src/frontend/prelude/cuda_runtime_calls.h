// The host side of the CUDA runtime, declared for parsing: what a launcher may name. Which of these
// calls a launcher may make is decided by the interpreter, not here.
#pragma once

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef cudaError cudaError_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15
};

enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3
};

enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxShared = 100,
  cudaSharedmemCarveoutMaxL1 = 0
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrMaxPersistingL2CacheSize = 108,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115,
  cudaDevAttrClusterLaunch = 120
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int concurrentKernels;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
  int clusterLaunch;
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
struct cudaLaunchAttributeClusterDim {
  unsigned int x, y, z;
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  cudaLaunchAttributeClusterDim clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
};

enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6
};
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostRegisterDefault 0x00
#define cudaMemAttachGlobal 0x01
#define cudaOccupancyDefault 0x00
#define cudaCpuDeviceId ((int)-1)
#define cudaInvalidDeviceId ((int)-2)

// Clang calls this for kernel<<<...>>>.
extern "C" OPTIML_H unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                             size_t shared_bytes = 0,
                                                             void* stream = 0);

extern "C" {
OPTIML_H cudaError_t cudaFree(void*);
OPTIML_H cudaError_t cudaFreeAsync(void*, cudaStream_t);
OPTIML_H cudaError_t cudaFreeHost(void*);
OPTIML_H cudaError_t cudaHostRegister(void*, size_t, unsigned int);
OPTIML_H cudaError_t cudaHostUnregister(void*);
OPTIML_H cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
OPTIML_H cudaError_t cudaMemset(void*, int, size_t);
OPTIML_H cudaError_t cudaDeviceSynchronize(void);
OPTIML_H cudaError_t cudaThreadSynchronize(void);
OPTIML_H cudaError_t cudaDeviceReset(void);
OPTIML_H cudaError_t cudaGetLastError(void);
OPTIML_H cudaError_t cudaPeekAtLastError(void);
OPTIML_H const char* cudaGetErrorString(cudaError_t);
OPTIML_H const char* cudaGetErrorName(cudaError_t);
OPTIML_H cudaError_t cudaStreamCreate(cudaStream_t*);
OPTIML_H cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned int);
OPTIML_H cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned int, int);
OPTIML_H cudaError_t cudaStreamDestroy(cudaStream_t);
OPTIML_H cudaError_t cudaStreamSynchronize(cudaStream_t);
OPTIML_H cudaError_t cudaStreamQuery(cudaStream_t);
OPTIML_H cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned int);
OPTIML_H cudaError_t cudaEventDestroy(cudaEvent_t);
OPTIML_H cudaError_t cudaEventSynchronize(cudaEvent_t);
OPTIML_H cudaError_t cudaEventQuery(cudaEvent_t);
OPTIML_H cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
OPTIML_H cudaError_t cudaSetDevice(int);
OPTIML_H cudaError_t cudaDeviceSetLimit(cudaLimit, size_t);
OPTIML_H cudaError_t cudaGetDevice(int*);
OPTIML_H cudaError_t cudaGetDeviceCount(int*);
OPTIML_H cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
OPTIML_H cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
OPTIML_H cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache);
OPTIML_H cudaError_t cudaMemGetInfo(size_t*, size_t*);
OPTIML_H cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t,
                                  cudaMemcpyKind);
OPTIML_H cudaError_t cudaMemset2D(void*, size_t, int, size_t, size_t);
OPTIML_H cudaError_t cudaDriverGetVersion(int*);
OPTIML_H cudaError_t cudaRuntimeGetVersion(int*);
OPTIML_H cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long flags);
OPTIML_H cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
OPTIML_H cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
}

OPTIML_H cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind,
                                     cudaStream_t stream = 0);
OPTIML_H cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t stream = 0);
OPTIML_H cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t stream = 0);
OPTIML_H cudaError_t cudaEventCreate(cudaEvent_t*);
OPTIML_H cudaError_t cudaEventCreate(cudaEvent_t*, unsigned int);
OPTIML_H cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int flags = 0);
OPTIML_H cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t stream = 0);
template <class T>
OPTIML_H cudaError_t cudaMalloc(T**, size_t);
template <class T>
OPTIML_H cudaError_t cudaMallocAsync(T**, size_t, cudaStream_t);
template <class T>
OPTIML_H cudaError_t cudaMallocManaged(T**, size_t, unsigned int flags = 1);
template <class T>
OPTIML_H cudaError_t cudaMallocHost(T**, size_t, unsigned int flags = 0);
template <class T>
OPTIML_H cudaError_t cudaHostAlloc(T**, size_t, unsigned int);
template <class T>
OPTIML_H cudaError_t cudaMallocPitch(T**, size_t*, size_t, size_t);
template <class T>
OPTIML_H cudaError_t cudaFuncSetAttribute(T*, cudaFuncAttribute, int);
template <class T>
OPTIML_H cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, T*);
template <class T>
OPTIML_H cudaError_t cudaFuncSetCacheConfig(T*, cudaFuncCache);
template <class T>
OPTIML_H cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);
template <class T>
OPTIML_H cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, T, size_t shared_bytes = 0,
                                                        int block_limit = 0);
template <class T>
OPTIML_H cudaError_t cudaLaunchKernel(T*, dim3, dim3, void**, size_t shared_bytes = 0,
                                      cudaStream_t stream = 0);
template <class T>
OPTIML_H cudaError_t cudaLaunchCooperativeKernel(T*, dim3, dim3, void**, size_t shared_bytes = 0,
                                                 cudaStream_t stream = 0);
template <class... P, class... A>
OPTIML_H cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t*, void (*)(P...), A&&...);
template <class T>
OPTIML_H cudaError_t cudaMemcpyToSymbol(T&, const void*, size_t, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyHostToDevice);
template <class T>
OPTIML_H cudaError_t cudaMemcpyToSymbolAsync(T&, const void*, size_t, size_t, cudaMemcpyKind,
                                             cudaStream_t stream = 0);
template <class T>
OPTIML_H cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
template <class T> OPTIML_H cudaError_t cudaGetSymbolAddress(void**, const T&);

// Of the driver: tensor maps, as launchers of bulk tensor copies make them.
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
struct CUtensorMap_st { alignas(128) cuuint64_t opaque[16]; };
typedef struct CUtensorMap_st CUtensorMap;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
};
enum CUtensorMapInterleave {
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_INTERLEAVE_16B,
  CU_TENSOR_MAP_INTERLEAVE_32B
};
enum CUtensorMapSwizzle {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B
};
enum CUtensorMapL2promotion {
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
enum CUtensorMapFloatOOBfill {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
};
OPTIML_H CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                         const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                         const cuuint32_t*, CUtensorMapInterleave,
                                         CUtensorMapSwizzle, CUtensorMapL2promotion,
                                         CUtensorMapFloatOOBfill);
