// Launch plans: what the interpreter makes of launchers, and what it refuses. Each case is a
// launcher's body; kernels and helpers that all share stand in kKernels.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// Seven lines: a launcher that follows begins at line 8.
constexpr char kKernels[] =
    "#include <cuda_runtime.h>\n"
    "__global__ void k(const float* x, float* y, int n) {}\n"
    "__global__ void s(float* y, float a) {}\n"
    "template <typename T, int B> __global__ void t(T* y, int n) {}\n"
    "struct P { int n; float a; };\n"
    "__constant__ float w[4]; namespace ns { static __device__ int flag; } struct V { const float* "
    "d; "
    "int n; float* to[2]; }; __global__ void v(V a) {} __global__ void p(float* y, P q) {} "
    "template <class F> __global__ void fn(float* y, F f) {} "
    "__global__ void tiles(const __grid_constant__ CUtensorMap "
    "m, "
    "float* y) {}\n"
    "static int CeilDiv(int a, int b) { return (a + b - 1) / b; }\n";

LauncherArgument Buffer(const std::string& name, uint64_t bytes) {
  LauncherArgument argument;
  argument.name = name;
  argument.is_buffer = true;
  argument.size_bytes = bytes;
  return argument;
}

LauncherArgument Int(const std::string& name, int64_t value) {
  LauncherArgument argument;
  argument.name = name;
  argument.value = value;
  return argument;
}

std::string PlanOf(const std::string& text, const std::vector<LauncherArgument>& arguments,
                   const PlanLimits& limits = {}) {
  auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  if (!outcome.has_value()) {
    return "error: " + outcome.error().message();
  }
  if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
    return "parse: " + refusal->reason;
  }
  const PlanOutcome plan =
      MakeLaunchPlan(std::get<ast::SourceUnit>(*outcome), "run", arguments, limits);
  if (const auto* refusal = std::get_if<Refusal>(&plan)) {
    return refusal->reason;
  }
  return std::get<LaunchPlan>(plan).Format();
}

// run(const float* x, float* y, int n) with 4000 bytes each and n = 1000, the buffers' lines cut.
std::string Trace(const std::string& body) {
  const std::string text = std::string(kKernels) +
                           "extern \"C\" void run(const float* x, float* y, int n) {" + body +
                           "}\n";
  std::string plan = PlanOf(text, {Buffer("x", 4000), Buffer("y", 4000), Int("n", 1000)});
  const std::string head = "buffer x 4000 bytes\nbuffer y 4000 bytes\n";
  return plan.starts_with(head) ? plan.substr(head.size()) : plan;
}

struct Case {
  const char* name;
  const char* body;
  const char* expected;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Launchers : public ::testing::TestWithParam<Case> {};

TEST_P(Launchers, BecomePlans) {
  EXPECT_EQ(Trace(GetParam().body), GetParam().expected);
}

const Case kPlans[] = {
    {"OneLaunch", "k<<<4, 256>>>(x, y, n);",
     "launch k grid 4x1x1 block 256x1x1 (x, y, 0x000003e8)\n"},
    {"Dim3AndCeilDiv",
     "dim3 b(32, 8); dim3 g(CeilDiv(n, b.x), 2); k<<<g, b, 16 * sizeof(float)>>>(x, y, n);",
     "launch k grid 32x2x1 block 32x8x1 shared 64 (x, y, 0x000003e8)\n"},
    {"PointerOffsets", "k<<<1, 32>>>(x + 10, &y[n / 2], n); k<<<1, 32>>>(x, y - 1, n);",
     "launch k grid 1x1x1 block 32x1x1 (x+40, y+2000, 0x000003e8)\n"
     "launch k grid 1x1x1 block 32x1x1 (x, y-4, 0x000003e8)\n"},
    {"ForLoop", "for (int i = 0; i < 3; ++i) s<<<1, 1>>>(y + i, i * 0.5f);",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x00000000)\n"
     "launch s grid 1x1x1 block 1x1x1 (y+4, 0x3f000000)\n"
     "launch s grid 1x1x1 block 1x1x1 (y+8, 0x3f800000)\n"},
    {"WhileHalves",
     "int m = n; while (m > 100) { m = (m + 3) / 4; if (m < 200) continue; s<<<m, 1>>>(y, 1); }",
     "launch s grid 250x1x1 block 1x1x1 (y, 0x3f800000)\n"},
    {"DoAndBreak",
     "int i = 0; do { if (i == 2) break; s<<<1, 1>>>(y + i, 1.f); i++; } while (true);",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x3f800000)\n"
     "launch s grid 1x1x1 block 1x1x1 (y+4, 0x3f800000)\n"},
    {"SwitchFallsThrough",
     "switch (n % 7) { case 5: s<<<1, 1>>>(y, 5.f); break; case 6: s<<<1, 1>>>(y, 6.f); default: "
     "s<<<2, 1>>>(y, 7.f); }",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x40c00000)\n"
     "launch s grid 2x1x1 block 1x1x1 (y, 0x40e00000)\n"},
    {"SwitchDefaultFirst",
     "switch (n) { default: s<<<1, 1>>>(y, 1.f); break; case 1000: s<<<3, 1>>>(y, 3.f); }",
     "launch s grid 3x1x1 block 1x1x1 (y, 0x40400000)\n"},
    {"TemplateChosen",
     "if (n <= 32) t<float, 32><<<1, 32>>>(y, n); else t<float, 256><<<CeilDiv(n, 256), 256>>>(y, "
     "n);",
     "launch t<float, 256> grid 4x1x1 block 256x1x1 (y, 0x000003e8)\n"},
    {"Ternary", "int b = n > 500 ? 512 : 64; s<<<1, b>>>(y, n > 2000 ? 1.f : 2.f);",
     "launch s grid 1x1x1 block 512x1x1 (y, 0x40000000)\n"},
    {"ScratchBuffer",
     "float* tmp; cudaMalloc(&tmp, n * sizeof(float)); k<<<1, 1>>>(x, tmp, n); k<<<1, 1>>>(tmp, y, "
     "n); cudaFree(tmp);",
     "buffer tmp 4000 bytes scratch\n"
     "launch k grid 1x1x1 block 1x1x1 (x, tmp, 0x000003e8)\n"
     "launch k grid 1x1x1 block 1x1x1 (tmp, y, 0x000003e8)\n"},
    {"CastMalloc",
     "float *a = nullptr, *b = nullptr; cudaMalloc((void**)&a, 64); cudaMallocAsync((void**)&b, "
     "32, 0); k<<<1, 1>>>(a, b, n); cudaFreeAsync(a, 0); cudaFree(b);",
     "buffer a 64 bytes scratch\nbuffer b 32 bytes scratch\n"
     "launch k grid 1x1x1 block 1x1x1 (a, b, 0x000003e8)\n"},
    {"PointerSwap",
     "float *a, *b; cudaMalloc(&a, 64); cudaMalloc(&b, 64); for (int i = 0; i < 2; i++) { k<<<1, "
     "1>>>(a, b, i); std::swap(a, b); float* c = a; a = b; b = c; std::swap(a, b); } cudaFree(a); "
     "cudaFree(b);",
     "buffer a 64 bytes scratch\nbuffer b 64 bytes scratch\n"
     "launch k grid 1x1x1 block 1x1x1 (a, b, 0x00000000)\n"
     "launch k grid 1x1x1 block 1x1x1 (b, a, 0x00000001)\n"},
    {"MemsetAndCopy",
     "cudaMemset(y, 0xff, n * sizeof(float)); cudaMemsetAsync(y + 4, 0, 16, 0); cudaMemcpy(y, x, "
     "400, cudaMemcpyDeviceToDevice); cudaMemcpyAsync(y + 1, x + 2, 8, cudaMemcpyDefault);",
     "memset y value 255 bytes 4000\nmemset y+16 value 0 bytes 16\n"
     "copy y from x bytes 400\ncopy y+4 from x+8 bytes 8\n"},
    {"ErrorChecks",
     "cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) { fprintf(stderr, \"%s\", "
     "cudaGetErrorString(e)); exit(1); }"
     " s<<<1, 1>>>(y, 0.f); if (cudaDeviceSynchronize() != cudaSuccess) return; s<<<2, 1>>>(y, "
     "0.f);",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x00000000)\n"
     "launch s grid 2x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"StructArgument",
     "P q; q.n = n; q.a = 1.5f; p<<<1, 1>>>(y, q); P r = {3, 2.0f}; r.n += 4; p<<<1, 1>>>(y, r); "
     "p<<<1, 1>>>(y, P{1});",
     "launch p grid 1x1x1 block 1x1x1 (y, 0x3fc00000000003e8)\n"
     "launch p grid 1x1x1 block 1x1x1 (y, 0x4000000000000007)\n"
     "launch p grid 1x1x1 block 1x1x1 (y, 0x0000000000000001)\n"},
    {"AlignmentTest",
     "if (reinterpret_cast<uintptr_t>(y) % 16 == 0 && (size_t)(y + 1) % 16 != 0 && ((unsigned long "
     "long)x & 255) == 0) s<<<1, 1>>>(y, 1.f);",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x3f800000)\n"},
    {"PointerComparison",
     "const float* end = x + n; int c = 0; for (const float* q = x; q < end; q += 250) c++; s<<<c, "
     "(int)(end - x) / 10>>>(y, x == y ? 1.f : 0.f);",
     "launch s grid 4x1x1 block 100x1x1 (y, 0x00000000)\n"},
    {"UploadOfHostArray",
     "float h[2] = {1.0f}; h[1] = 2.0f; cudaMemcpy(y, h, sizeof(h), cudaMemcpyHostToDevice);",
     "upload y bytes 8 hash b9c80b5adeca\n"},
    {"MathAndMinMax",
     "int a = std::min(n, 300), b = std::max(2, min(7, 5)); double r = std::sqrt(16.0) + ceil(1.2) "
     "+ log2f(8.0f) + fabs(-1.0); s<<<a + b, (int)r>>>(y, sqrtf(2.0f));",
     "launch s grid 305x1x1 block 10x1x1 (y, 0x3fb504f3)\n"},
    {"UnsignedWraps",
     "unsigned u = 0; u -= 1; unsigned char c = 255; c++; short h = 32767; h += 1; long long w = "
     "(long long)n * 3000000; s<<<(u >> 24) + c, 1>>>(y, (float)h); s<<<(int)(w >> 20), 1>>>(y, "
     "0.f);",
     "launch s grid 255x1x1 block 1x1x1 (y, 0xc7000000)\n"
     "launch s grid 2861x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"ShiftAndMask",
     "int b = 1; while (b < n) b <<= 1; s<<<(b & ~15) / 8, (b ^ n) % 100 | 1>>>(y, 0.f);",
     "launch s grid 128x1x1 block 25x1x1 (y, 0x00000000)\n"},
    {"CompoundInDouble", "int m = 10; m *= 1.55; s<<<m, 1>>>(y, 0.f);",
     "launch s grid 15x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"LambdaByReference",
     "int c = 0; auto go = [&](int g) { s<<<g, 1>>>(y, 0.f); c++; }; go(2); go(3); s<<<c, 1>>>(y, "
     "0.f);",
     "launch s grid 2x1x1 block 1x1x1 (y, 0x00000000)\n"
     "launch s grid 3x1x1 block 1x1x1 (y, 0x00000000)\n"
     "launch s grid 2x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"StructOfPointers",
     "V a{x, n, {y, y + 2}}; v<<<1, 1>>>(a); a.to[1] = nullptr; v<<<1, 1>>>(a);",
     "launch v grid 1x1x1 block 1x1x1 "
     "(0x0000000000000000000000000000000000000000000003e80000000000000000 x at 0 y at 16 y+8 at "
     "24)\n"
     "launch v grid 1x1x1 block 1x1x1 "
     "(0x0000000000000000000000000000000000000000000003e80000000000000000 x at 0 y at 16)\n"},
    {"ModuleVariables",
     "float h[2] = {1, 2}; cudaMemcpyToSymbol(w, h, 8); cudaMemcpyToSymbolAsync(w, x, 4, 12, "
     "cudaMemcpyDeviceToDevice, 0); void* f; cudaGetSymbolAddress(&f, ns::flag); "
     "cudaMemsetAsync(f, 0, "
     "4); s<<<1, 1>>>(y, 0.f);",
     "buffer w 16 bytes module variable w\nbuffer flag 4 bytes module variable _ZN2nsL4flagE\n"
     "upload w bytes 8 hash b9c80b5adeca\ncopy w+12 from x bytes 4\nmemset flag value 0 bytes 4\n"
     "launch s grid 1x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"LambdaThatIsConst", "const auto f = [](int v) { return v * 2; }; s<<<f(n), 1>>>(y, 0.f);",
     "launch s grid 2000x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"LambdaByValue",
     "int c = 5; auto f = [c](int a) { return a * c; }; c = 6; auto g = [](int a) { return a + 1; "
     "}; s<<<f(2), g(3)>>>(y, 0.f);",
     "launch s grid 10x1x1 block 4x1x1 (y, 0x00000000)\n"},
    {"FunctionAttribute",
     "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); "
     "cudaFuncSetAttribute(t<float, 8>, cudaFuncAttributePreferredSharedMemoryCarveout, 100); "
     "k<<<1, 1, 65536>>>(x, y, n);",
     "attribute k MaxDynamicSharedMemorySize 65536\n"
     "attribute t<float, 8> PreferredSharedMemoryCarveout 100\n"
     "launch k grid 1x1x1 block 1x1x1 shared 65536 (x, y, 0x000003e8)\n"},
    {"StreamsAndEvents",
     "cudaStream_t st; cudaStreamCreate(&st); cudaEvent_t e; cudaEventCreate(&e); "
     "cudaEventRecord(e, st); s<<<1, 1, 0, st>>>(y, 0.f); cudaStreamWaitEvent(st, e, 0); "
     "cudaStreamSynchronize(st); cudaEventDestroy(e); cudaStreamDestroy(st);",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"DeviceFacts",
     "int dev, sms; cudaGetDevice(&dev); cudaDeviceGetAttribute(&sms, "
     "cudaDevAttrMultiProcessorCount, dev); cudaDeviceProp prop; cudaGetDeviceProperties(&prop, "
     "dev); s<<<sms, prop.maxThreadsPerBlock>>>(y, (float)prop.major);",
     "launch s grid 132x1x1 block 1024x1x1 (y, 0x41100000)\n"},
    {"Occupancy",
     "int nb = 0; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, s, 256, 0); s<<<nb, 256>>>(y, "
     "0.f);",
     "launch s grid 8x1x1 block 256x1x1 (y, 0x00000000)\n"},
    {"LaunchThroughArguments",
     "void* args[] = {&x, &y, &n}; cudaLaunchKernel(k, dim3(2), dim3(3), args, 4, 0); "
     "cudaLaunchCooperativeKernel((void*)k, 1, 64, args);",
     "launch k grid 2x1x1 block 3x1x1 shared 4 (x, y, 0x000003e8)\n"
     "launch k grid 1x1x1 block 64x1x1 cooperative (x, y, 0x000003e8)\n"},
    {"LaunchWithClusters",
     "cudaLaunchConfig_t c = {}; c.gridDim = dim3(8); c.blockDim = 128; c.dynamicSmemBytes = 32; "
     "cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeClusterDimension;"
     " a[0].val.clusterDim.x = 4; a[0].val.clusterDim.y = 1; a[0].val.clusterDim.z = 1; c.attrs = "
     "a; c.numAttrs = 1; cudaLaunchKernelEx(&c, k, x, y, n);",
     "launch k grid 8x1x1 block 128x1x1 cluster 4x1x1 shared 32 (x, y, 0x000003e8)\n"},
    {"TensorMap",
     "CUtensorMap m; const cuuint64_t size[2] = {64, 8}; const cuuint64_t pitch[1] = {256}; const "
     "cuuint32_t box[2] = {16, 4}; cuuint32_t ones[2] = {1, 2}; if (cuTensorMapEncodeTiled(&m, "
     "CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void*)(x + 4), size, pitch, box, ones, "
     "CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B, "
     "CU_TENSOR_MAP_L2_PROMOTION_L2_128B, "
     "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS) { CUtensorMap copy = m; "
     "tiles<<<1, 32>>>(copy, y); }",
     "launch tiles grid 1x1x1 block 32x1x1 (tensor map of x+16 type 7 size 64x8 strides 256 box "
     "16x4 "
     "steps 1x2 0/2/2/0, y)\n"},
    {"CastPointer",
     "k<<<1, 1>>>(reinterpret_cast<const float*>(reinterpret_cast<const float4*>(x) + 2), "
     "(float*)((char*)y + 12), n);",
     "launch k grid 1x1x1 block 1x1x1 (x+32, y+12, 0x000003e8)\n"},
    {"NullArgument", "k<<<1, 1>>>(nullptr, y, n);",
     "launch k grid 1x1x1 block 1x1x1 (null, y, 0x000003e8)\n"},
    {"HostMalloc",
     "int* h = (int*)malloc(4 * sizeof(int)); for (int i = 0; i < 4; i++) h[i] = i * i; s<<<h[3], "
     "1>>>(y, 0.f); free(h);",
     "launch s grid 9x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"NewArray",
     "int* h = new int[n](); h[n - 1] += 7; s<<<h[n - 1] + h[0], 1>>>(y, 0.f); delete[] h;",
     "launch s grid 7x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"Vectors",
     "float4 v = make_float4(1.f, 2.f, 3.f, 4.f); int2 d = {n, 5}; s<<<d.y, 1>>>(y, v.z); int3 e; "
     "e.x = 2; s<<<e.x, 1>>>(y, 0);",
     "launch s grid 5x1x1 block 1x1x1 (y, 0x40400000)\n"
     "launch s grid 2x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"PrintsAreIgnored", "printf(\"n = %d\\n\", n); s<<<1, 1>>>(y, 0.f); (void)x;",
     "launch s grid 1x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"KernelInVariable",
     "void (*f)(float*, float) = s; f<<<1, 2>>>(y, 1.f); auto g = n > 10 ? t<float, 64> : t<float, "
     "32>; g<<<1, 64>>>(y, n);",
     "launch s grid 1x1x1 block 2x1x1 (y, 0x3f800000)\n"
     "launch t<float, 64> grid 1x1x1 block 64x1x1 (y, 0x000003e8)\n"},
    {"ArrayOfPointers",
     "float* b[2]; cudaMalloc(&b[0], 64); cudaMalloc(&b[1], 64); for (int i = 0; i < 2; ++i) "
     "k<<<1, 1>>>(b[i & 1], b[(i + 1) & 1], i); cudaFree(b[0]); cudaFree(b[1]);",
     "buffer b 64 bytes scratch\nbuffer b#2 64 bytes scratch\n"
     "launch k grid 1x1x1 block 1x1x1 (b, b#2, 0x00000000)\n"
     "launch k grid 1x1x1 block 1x1x1 (b#2, b, 0x00000001)\n"},
    {"KeptInAStatic",
     "static float* a = nullptr; if (!a) cudaMalloc(&a, 64); k<<<1, 1>>>(x, a, n);",
     "buffer a 64 bytes scratch\nlaunch k grid 1x1x1 block 1x1x1 (x, a, 0x000003e8)\n"},
    {"KeptBehindAStatic",
     "static float** h = nullptr; if (!h) { h = (float**)malloc(16); cudaMalloc(&h[1], 64); } "
     "k<<<1, 1>>>(x, h[1], n);",
     "buffer h 64 bytes scratch\nlaunch k grid 1x1x1 block 1x1x1 (x, h, 0x000003e8)\n"},
    {"NothingAllocated", "float* a; cudaMalloc(&a, n - 1000); k<<<1, 1>>>(x, y, n);",
     "buffer a 0 bytes scratch\nlaunch k grid 1x1x1 block 1x1x1 (x, y, 0x000003e8)\n"},
    {"FreedOnItsStream",
     "float* a; cudaStream_t s; cudaStreamCreate(&s); cudaMallocAsync(&a, 64, s); k<<<1, 1, 0, "
     "s>>>(a, y, n); cudaStreamSynchronize(s); cudaFreeAsync(a, s); cudaStreamDestroy(s);",
     "buffer a 64 bytes scratch\nlaunch k grid 1x1x1 block 1x1x1 (a, y, 0x000003e8)\n"},
    {"IfWithInitialiser",
     "if (int m = n / 2; m > 100) s<<<m, 1>>>(y, 0.f); if (int z = n - 1000) s<<<z, 2>>>(y, 0.f);",
     "launch s grid 500x1x1 block 1x1x1 (y, 0x00000000)\n"},
    {"InitializerListMax", "int m = std::max({1, n, 3}); s<<<m, 1>>>(y, 0.f);",
     "launch s grid 1000x1x1 block 1x1x1 (y, 0x00000000)\n"},
};

INSTANTIATE_TEST_SUITE_P(Table, Launchers, ::testing::ValuesIn(kPlans),
                         [](const auto& test) { return std::string(test.param.name); });

class Refusals : public ::testing::TestWithParam<Case> {};

TEST_P(Refusals, NameTheLineAndTheConstruct) {
  EXPECT_EQ(Trace(GetParam().body), GetParam().expected);
}

const Case kRefusals[] = {
    {"ReadBack", "\nfloat h;\ncudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);",
     "kernel.cu:10: launcher reads device data back"},
    {"HostRead", "\nif (x[0] > 0) s<<<1, 1>>>(y, 0.f);",
     "kernel.cu:9: launcher reads device memory on the host"},
    {"HostWrite", "y[0] = 1.f;", "kernel.cu:8: launcher writes device memory on the host"},
    {"UnknownCall", "\n\ncudaDeviceEnablePeer(0);",
     "parse: kernel.cu:10: use of undeclared identifier 'cudaDeviceEnablePeer'"},
    {"EmptyTensorMap", "CUtensorMap m = {}; tiles<<<1, 32>>>(m, y);",
     "kernel.cu:8: a kernel argument is a CUtensorMap that cuTensorMapEncodeTiled did not fill"},
    {"TensorMapOfRankSix",
     "CUtensorMap m; cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 6, y, nullptr, "
     "nullptr, nullptr, nullptr, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, "
     "CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);",
     "kernel.cu:8: cuTensorMapEncodeTiled of rank 6 (1 to 5 are possible)"},
    {"Random", "s<<<rand(), 1>>>(y, 0.f);",
     "kernel.cu:8: launcher calls rand, whose result differs between runs"},
    {"Environment", "if (getenv(\"FAST\")) s<<<1, 1>>>(y, 0.f);",
     "kernel.cu:8: launcher calls getenv, whose result differs between runs"},
    {"UseAfterFree", "float* a; cudaMalloc(&a, 64); cudaFree(a);\nk<<<1, 1>>>(a, y, n);",
     "kernel.cu:9: kernel argument: buffer \"a\" (64 bytes) was freed in line 8"},
    {"FreedTwice", "float* a; cudaMalloc(&a, 64);\ncudaFree(a);\ncudaFree(a);",
     "kernel.cu:10: cudaFree: buffer \"a\" (64 bytes) was freed in line 9"},
    {"FreedInsideOfTheBuffer", "float* a; cudaMalloc(&a, 64); cudaFree(a + 1);",
     "kernel.cu:8: cudaFree of a pointer that cudaMalloc did not return"},
    {"MemsetAfterFree", "float* a; cudaMalloc(&a, 64); cudaFreeAsync(a, 0);\ncudaMemset(a, 0, 4);",
     "kernel.cu:9: memset: buffer \"a\" (64 bytes) was freed in line 8"},
    {"StructOfAFreedBuffer",
     "float* a; cudaMalloc(&a, 64); V s{a, n, {}}; cudaFree(a);\nv<<<1, 1>>>(s);",
     "kernel.cu:9: kernel argument: buffer \"a\" (64 bytes) was freed in line 8"},
    {"TensorMapOfAFreedBuffer",
     "float* a; cudaMalloc(&a, 4096); CUtensorMap m; unsigned long long size[2] = {32, 32}, "
     "pitch[1] = {128}; unsigned box[2] = {32, 32}, one[2] = {1, 1}; cudaFree(a + 0 * "
     "cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, a, size, pitch, box, one, "
     "CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, "
     "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));\ntiles<<<1, 32>>>(m, y);",
     "kernel.cu:9: tensor map as a kernel argument: buffer \"a\" (4096 bytes) was freed in line 8"},
    {"NeverFreed", "\nfloat *a, *b; cudaMalloc(&a, 32);\ncudaMalloc(&b, n); cudaFree(a);\n",
     "kernel.cu:10: launcher allocates buffer \"b\" (1000 bytes) here, and ends without freeing "
     "it or keeping it for a later call"},
    {"PointerOverwritten",
     "static float* a; cudaMalloc(&a, 64);\ncudaMalloc(&a, 32); k<<<1, 1>>>(a, y, n);",
     "kernel.cu:8: launcher allocates buffer \"a\" (64 bytes) here, and ends without freeing it or "
     "keeping it for a later call"},
    {"KeptByLostHostMemory", "float** h = (float**)malloc(8); cudaMalloc(h, 64);",
     "kernel.cu:8: launcher allocates buffer \"h\" (64 bytes) here, and ends without freeing it or "
     "keeping it for a later call"},
    {"FreesArgument", "cudaFree(y);", "kernel.cu:8: launcher frees its argument \"y\""},
    {"MemsetTooLong", "cudaMemset(y + 10, 0, n * 4);",
     "kernel.cu:8: memset: 4000 bytes at offset 40 leave buffer \"y\" (4000 bytes)"},
    {"CopyTooLong", "cudaMemcpy(y, x, 4004, cudaMemcpyDeviceToDevice);",
     "kernel.cu:8: copy to the device: 4004 bytes at offset 0 leave buffer \"y\" (4000 bytes)"},
    {"HostPointerToKernel", "float h[4]; k<<<1, 1>>>(h, y, n);",
     "kernel.cu:8: kernel argument: the pointer is to host memory"},
    {"EmptyGrid", "s<<<n / 2000, 32>>>(y, 0.f);",
     "kernel.cu:8: launch of s with an empty grid 0x1x1"},
    {"EmptyGridOfAnOverflow",
     "int m = 65536;\nint all = m * m;\ns<<<(all + 31) / 32, 32>>>(y, 0.f);",
     "kernel.cu:10: launch of s with an empty grid 0x1x1 (int overflowed in line 9: 65536 * "
     "65536)"},
    {"GridOfAnUnsignedOverflow",
     "unsigned m = 65536;\ns<<<dim3(1, m * (m - 1) * 2u), 32>>>(y, 0.f);",
     "kernel.cu:9: launch of s with grid 1x4294836224x1 (at most 2147483647x65535x65535) (unsigned "
     "int overflowed in line 9: 4294901760 * 2)"},
    {"TooManyThreads", "s<<<1, 2048>>>(y, 0.f);",
     "kernel.cu:8: launch of s with block 2048x1x1 (at most 1024 threads, 1024x1024x64)"},
    {"GridTooTall", "s<<<dim3(1, 70000), 32>>>(y, 0.f);",
     "kernel.cu:8: launch of s with grid 1x70000x1 (at most 2147483647x65535x65535)"},
    {"DivisionByZero", "int z = 0;\ns<<<n / z, 1>>>(y, 0.f);",
     "kernel.cu:9: launcher divides by zero"},
    {"Unset", "int z; s<<<z, 1>>>(y, 0.f);",
     "kernel.cu:8: launcher reads a host variable before it was set"},
    {"Exit", "if (n > 10) exit(1);", "kernel.cu:8: launcher calls exit"},
    {"Recursion", "auto f = [](auto self, int d) -> int { return self(self, d + 1); }; f(f, 0);",
     "kernel.cu:8: launcher calls functions more than 200 levels deep"},
    {"Goto", "again: if (n++ < 5) goto again;",
     "kernel.cu:8: launcher uses goto, which cannot be traced: again: if (n++ < 5) goto again"},
    {"FunctionAttributeOfNoKernel",
     "cudaFuncSetAttribute(x, cudaFuncAttributeMaxDynamicSharedMemorySize, 1);",
     "kernel.cu:8: a kernel is expected here"},
    {"StructOfHostPointers", "int z; V a{(float*)&z, n, {}}; v<<<1, 1>>>(a);",
     "kernel.cu:8: kernel argument: the pointer is to host memory"},
    {"BeyondAModuleVariable", "cudaMemcpyToSymbol(w, x, 8, 12, cudaMemcpyDeviceToDevice);",
     "kernel.cu:8: copy to the device: 8 bytes at offset 12 leave buffer \"w\" (16 bytes)"},
    {"NoModuleVariable", "cudaMemcpyToSymbol(n, x, 4, 0, cudaMemcpyDeviceToDevice);",
     "kernel.cu:8: a __device__ or __constant__ variable is expected here"},
    {"ModuleVariableOnAStream",
     "cudaStream_t st; cudaStreamCreate(&st); cudaMemcpyToSymbolAsync(w, x, 4, 0, "
     "cudaMemcpyDeviceToDevice, st);",
     "kernel.cu:8: launcher copies to a module variable on a stream of its own, which cannot be "
     "traced"},
    {"UploadOfPointers", "float* h[1] = {y}; cudaMemcpy(y, h, 8, cudaMemcpyHostToDevice);",
     "kernel.cu:8: launcher copies pointers to the device"},
    {"UploadOfUnset", "float h[2]; h[0] = 1; cudaMemcpy(y, h, 8, cudaMemcpyHostToDevice);",
     "kernel.cu:8: launcher copies host memory to the device before it was set"},
    {"Assertion", "assert(n < 10);", "kernel.cu:8: an assertion of the launcher fails"},
    {"OutOfHostArray", "int h[2] = {1, 2}; s<<<h[2], 1>>>(y, 0.f);",
     "kernel.cu:8: launcher reads through an invalid host pointer"},
    {"TooMuchMemory", "float* a; cudaMalloc(&a, (size_t)1 << 40);",
     "kernel.cu:8: launcher allocates 1099511627776 bytes, more than the 68719476736 allowed"},
    {"KernelWithoutBody", "extern __global__ void missing(float* p); missing<<<1, 1>>>(y);",
     "kernel.cu:8: launcher launches missing, which the file declares and does not define"},
    {"WrongKind", "float h = 1; cudaMemcpy(y, &h, 4, cudaMemcpyDeviceToDevice);",
     "kernel.cu:8: a copy's kind does not fit its pointers"},
    {"NewExpression", "P* h = new P{n, 1.f}; s<<<h->n, 1>>>(y, 0.f);",
     "kernel.cu:8: launcher uses new, which cannot be traced: new P{n, 1.f}"},
    {"LambdaAsArgument", "float z = 1; fn<<<1, 32>>>(y, [z](float v) { return v * z; });",
     "kernel.cu:8: a kernel argument is a lambda of the launcher: device code is compiled without "
     "the "
     "launcher; a struct with operator() does the same"},
    {"FloatToIntOverflow", "float f = 1e20f; int i = (int)f; s<<<i, 1>>>(y, f);",
     "kernel.cu:8: a value of type float cannot become int here"},
};

INSTANTIATE_TEST_SUITE_P(Table, Refusals, ::testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace optiml
