// What a launcher may keep between its calls, what it may know of where it runs, and which order
// streams must promise.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Seven lines: a launcher that follows begins at line 8.
constexpr char kKernels[] =
    "#include <cuda_runtime.h>\n"
    "\n"
    "__global__ void k(const float* x, float* y, int n) {}\n"
    "__global__ void init(float* table) {} __constant__ float w[2]; struct Pair { const float* "
    "from; "
    "float* to; }; __global__ void both(Pair p) {}\n"
    "static int calls;\n"
    "static const float* last;\n"
    "struct Cache { int n; float* scratch; } static cache;\n";

LauncherArgument Buffer(const std::string& name, uint64_t bytes) {
  LauncherArgument argument;
  argument.name = name;
  argument.is_buffer = true;
  argument.size_bytes = bytes;
  return argument;
}

// run(const float* x, float* y, int n), called with n = 10 and then with n = 1000. Empty when the
// launcher is repeatable.
std::string Verdict(const std::string& body) {
  const std::string text = std::string(kKernels) +
                           "extern \"C\" void run(const float* x, float* y, int n) {" + body +
                           "}\n";
  const auto outcome = ParseSource(KernelSource(text, "run", "kernel.cu"));
  if (!outcome.has_value()) {
    return "error: " + outcome.error().message();
  }
  if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
    return "parse: " + refusal->reason;
  }
  const auto& unit = std::get<ast::SourceUnit>(*outcome);
  std::vector<std::vector<LauncherArgument>> arguments;
  std::vector<LaunchPlan> plans;
  for (const int64_t n : {int64_t{10}, int64_t{1000}}) {
    LauncherArgument size;
    size.name = "n";
    size.value = n;
    arguments.push_back({Buffer("x", 4 * static_cast<uint64_t>(n)),
                         Buffer("y", 4 * static_cast<uint64_t>(n)), size});
    const PlanOutcome plan = MakeLaunchPlan(unit, "run", arguments.back());
    if (const auto* refusal = std::get_if<Refusal>(&plan)) {
      return "plan: " + refusal->reason;
    }
    plans.push_back(std::get<LaunchPlan>(plan));
  }
  std::vector<LauncherCall> calls;
  for (size_t i = 0; i < plans.size(); ++i) {
    calls.push_back({&arguments[i], &plans[i]});
  }
  const auto refusal = CheckLauncher(unit, "run", calls);
  return refusal ? refusal->reason : "";
}

struct Case {
  const char* name;
  const char* body;
  const char* expected = "";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Honest : public ::testing::TestWithParam<Case> {};
TEST_P(Honest, IsAccepted) {
  EXPECT_THAT(Verdict(GetParam().body), IsEmpty());
}

const Case kHonest[] = {
    {"Plain", "k<<<n, 32>>>(x, y, n);"},
    {"AttributeOnce",
     "static bool set = false; if (!set) { cudaFuncSetAttribute(k, "
     "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); set = true; } k<<<1, 32, 65536>>>(x, y, "
     "n);"},
    {"DeviceAskedOnce",
     "static int sms = 0; if (sms == 0) cudaDeviceGetAttribute(&sms, "
     "cudaDevAttrMultiProcessorCount, 0); k<<<sms, 32>>>(x, y, n);"},
    {"StructsWithScratch",
     "if (n > cache.n) { cudaFree(cache.scratch); cudaMalloc(&cache.scratch, n * 4); cache.n = n; "
     "} Pair p{x, "
     "cache.scratch}; "
     "both<<<1, 32>>>(p); both<<<1, 32>>>(Pair{cache.scratch, y});"},
    {"ModuleVariableEachTime",
     "cudaMemcpyToSymbol(w, x, 8, 0, cudaMemcpyDeviceToDevice); k<<<1, 32>>>(x, y, n);"},
    {"ScratchThatGrows",
     "if (n > cache.n) { cudaFree(cache.scratch); cudaMalloc(&cache.scratch, n * 4); cache.n = n; "
     "} k<<<1, 32>>>(x, cache.scratch, n); k<<<1, 32>>>(cache.scratch, y, n);"},
    {"ScratchOfOneSize",
     "static float* s = nullptr; if (!s) cudaMalloc(&s, 1 << 20); k<<<1, 32>>>(x, s, n); k<<<1, "
     "32>>>(s, y, n);"},
    {"ScratchAnewEachTime",
     "cudaMalloc(&cache.scratch, n * 4); k<<<1, 32>>>(x, cache.scratch, n); "
     "cudaFree(cache.scratch); "
     "k<<<1, 32>>>(x, y, n);"},
    {"Alignment",
     "if ((size_t)x % 16 == 0 && (((unsigned long long)y) & 15) == 0) k<<<n, 32>>>(x, y, n); else "
     "k<<<n, 64>>>(x, y, n);"},
    {"Overlap", "if (x + n <= y || y + n <= x) k<<<n, 32>>>(x, y, n); else k<<<1, 1>>>(x, y, n);"},
    {"StaticTable", "static const int blocks[2] = {64, 128}; k<<<1, blocks[n > 100]>>>(x, y, n);"},
    {"JoinedStream",
     "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); k<<<1, 32, 0, s>>>(x, "
     "y, n); cudaStreamSynchronize(s); cudaStreamDestroy(s);"},
    {"StreamsInTurnByEvents",
     "cudaStream_t a, b; cudaStreamCreateWithFlags(&a, 1); cudaStreamCreateWithFlags(&b, 1); "
     "cudaEvent_t e, f; cudaEventCreate(&e); cudaEventCreate(&f); k<<<1, 32, 0, a>>>(x, y, n); "
     "cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); k<<<1, 32, 0, b>>>(x, y, n); "
     "cudaEventRecord(f, b); cudaStreamWaitEvent(0, f, 0);"},
    {"HalvesOnTwoStreams",
     "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); k<<<1, 32, 0, a>>>(x, y, n / "
     "2); k<<<1, 32, 0, b>>>(x + n / 2, y + n / 2, n - n / 2); cudaDeviceSynchronize();"},
    {"BlockingStreamAfterDefault",
     "cudaStream_t a; cudaStreamCreate(&a); cudaMemsetAsync(y, 0, 4 * n); k<<<1, 32, 0, a>>>(x, y, "
     "n); k<<<1, 32>>>(x, y, n);"},
};
INSTANTIATE_TEST_SUITE_P(Table, Honest, ::testing::ValuesIn(kHonest),
                         [](const auto& test) { return std::string(test.param.name); });

class Cheats : public ::testing::TestWithParam<Case> {};
TEST_P(Cheats, AreRefused) {
  EXPECT_THAT(Verdict(GetParam().body), HasSubstr(GetParam().expected));
}

const Case kCheats[] = {
    {"ModuleVariableOnce",
     "static bool done; if (!done) cudaMemcpyToSymbol(w, x, 8, 0, cudaMemcpyDeviceToDevice); done "
     "= "
     "true; k<<<n, 32>>>(x, y, n);",
     "kernel.cu:8: launcher does something else when it is called again"},
    {"StructWithAnotherBuffer",
     "static bool done; Pair p{x, done ? cache.scratch : y}; if (!done) cudaMalloc(&cache.scratch, "
     "4000); done = true; both<<<n, 32>>>(p);",
     "kernel.cu:8: launcher does something else when it is called again"},
    {"WorksOnlyOnce", "static bool done; if (done) return; done = true; k<<<n, 32>>>(x, y, n);",
     "kernel.cu:8: launcher does something else when it is called again: the launch of k is "
     "missing"},
    {"WorksThreeTimes", "if (++calls > 3) return; k<<<n, 32>>>(x, y, n);",
     "kernel.cu:8: launcher keeps state between its calls: every call changes \"calls\""},
    {"CachesByPointer", "if (x == last) return; last = x; k<<<n, 32>>>(x, y, n);",
     "when it is called again: the launch of k is missing"},
    {"CachesBySize", "if (n == cache.n) return; cache.n = n; k<<<n, 32>>>(x, y, n);",
     "when it is called again: the launch of k is missing"},
    {"CountsOnTheHeap",
     "static int* p = (int*)calloc(1, 4); ++p[0]; if (p[0] < 7) k<<<n, 32>>>(x, y, n);",
     "every call changes host memory that outlives the call"},
    {"CountsByAPointerAmongKeptBuffers",
     "static float* row[30]; static float* at; if (!row[0]) { for (int i = 0; i < 30; ++i) "
     "cudaMalloc(&row[i], 4); at = row[0]; } int i = 0; while (row[i] != at) ++i; if (i < 29) { at "
     "= row[i + 1]; k<<<n, 32>>>(x, y, n); }",
     "kernel.cu:8: launcher keeps state between its calls: every call changes \"at\""},
    {"TableMadeOnce",
     "static float* t = nullptr; if (!t) { cudaMalloc(&t, 4096);\ninit<<<1, 32>>>(t); } k<<<n, "
     "32>>>(t, y, n);",
     "kernel.cu:9: launcher does something else when it is called again: the launch of init is "
     "missing"},
    {"UploadOnce",
     "static float* t = nullptr; float h[2] = {1.f, 2.f}; if (!t) { cudaMalloc(&t, 8); "
     "cudaMemcpy(t, h, 8, cudaMemcpyHostToDevice); } k<<<n, 32>>>(t, y, n);",
     "the upload is missing"},
    {"FirstSizeForEver", "static int blocks = n; k<<<blocks, 32>>>(x, y, n);",
     "launcher does something else after calls with other arguments: the launch of k is another"},
    {"ScratchOfTheFirstSize",
     "static float* s = nullptr; if (!s) cudaMalloc(&s, n * 4); k<<<1, 32>>>(x, s, n); k<<<1, "
     "32>>>(s, y, n);",
     "after calls with other arguments: buffer \"s\" has 40 bytes, and not the 4000 that are "
     "needed"},
    {"KeepsAFreedBuffer",
     "static float* s = nullptr; if (!s) cudaMalloc(&s, 4096); k<<<1, 32>>>(x, s, n); k<<<1, "
     "32>>>(s, y, n); cudaFree(s);",
     "buffer \"s\" (4096 bytes) was freed in line 8 (when it is called again)"},
    {"LooksAtAnAddress", "if ((size_t)x < ((size_t)1 << 46)) k<<<n, 32>>>(x, y, n);",
     "where addresses, free memory or versions are others: the launch of k is missing"},
    {"LooksAtADistance", "k<<<n, 32>>>(x, y, (int)(((size_t)y - (size_t)x) >> 42));",
     "where addresses, free memory or versions are others: the launch of k is another one"},
    {"LooksAtFreeMemory",
     "size_t f, t; cudaMemGetInfo(&f, &t); if (f + ((size_t)1 << 30) == t) k<<<n, 32>>>(x, y, n);",
     "where addresses, free memory or versions are others"},
    {"LooksAtTheDriver", "int v; cudaDriverGetVersion(&v); if (v == 13000) k<<<n, 32>>>(x, y, n);",
     "where addresses, free memory or versions are others"},
    {"AsksWhetherItIsBusy", "if (cudaStreamQuery(0) == cudaSuccess) k<<<n, 32>>>(x, y, n);",
     "where addresses, free memory or versions are others"},
    {"WorkOnAnotherStream",
     "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\nk<<<1, 32, 0, s>>>(x, "
     "y, n);",
     "plan: kernel.cu:9: launcher does not wait for this work, which is on a stream of its own"},
    {"DestroyedIsNotWaitedFor",
     "cudaStream_t s; cudaStreamCreate(&s); k<<<1, 32, 0, s>>>(x, y, n); cudaStreamDestroy(s);",
     "launcher does not wait for this work"},
    {"EventBeforeTheWork",
     "cudaStream_t s; cudaStreamCreate(&s); cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, "
     "s); k<<<1, 32, 0, s>>>(x, y, n); cudaEventSynchronize(e);",
     "launcher does not wait for this work"},
    {"KeptStream",
     "static cudaStream_t s = nullptr; if (!s) cudaStreamCreate(&s); cudaMemsetAsync(y, 0, 4, s);",
     "launcher does not wait for this work"},
    {"StreamOfAConfiguration",
     "cudaStream_t s; cudaStreamCreate(&s); cudaLaunchConfig_t c = {}; c.gridDim = dim3(8); "
     "c.blockDim = 128; c.stream = s; cudaLaunchKernelEx(&c, k, x, y, n);",
     "launcher does not wait for this work"},
    {"UnorderedStreams",
     "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b);\nk<<<1, 32, 0, a>>>(x, y, "
     "n);\nk<<<1, 32, 0, b>>>(x, y, n); cudaDeviceSynchronize();",
     "plan: kernel.cu:10: nothing orders this work on buffer \"y\" after that of line 9"},
    {"MemsetBesideANonBlockingStream",
     "cudaStream_t a; cudaStreamCreateWithFlags(&a, 1); cudaMemset(y, 0, 4 * n); k<<<1, 32, 0, "
     "a>>>(x, y, n); cudaDeviceSynchronize();",
     "nothing orders this work on buffer \"y\""},
    {"PersistingCache", "cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 24);",
     "launcher changes a limit of the device's caches"},
    {"AnotherDevice", "cudaSetDevice(1); k<<<n, 32>>>(x, y, n);", "launcher switches to device 1"},
};
INSTANTIATE_TEST_SUITE_P(Table, Cheats, ::testing::ValuesIn(kCheats),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace optiml
