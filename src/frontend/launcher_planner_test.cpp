// Launchers that the interpreter cannot follow: compiled for this machine, recorded in a confined
// process, and checked like interpreted ones.

#include "frontend/launcher_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "base/file_system.h"
#include "base/process.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kCudaHeaders[] = "/usr/local/cuda/include";

// Ten lines: a launcher that follows begins at line 11.
constexpr char kKernels[] =
    "#include <cuda_runtime.h>\n"
    "#include <vector>\n"
    "__global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = x[blockIdx.x] * n; }\n"
    "template <typename T, int B> __global__ void t(const T* x, T* y, int n) {\n"
    "  __shared__ T s[B]; s[threadIdx.x] = x[0]; __syncthreads(); y[0] = s[0]; }\n"
    "struct Pair { const float* from; float* to; int n; };\n"
    "__global__ void both(Pair p) {} __device__ float helper(float v) { return __expf(v); }\n"
    "__constant__ float w[2];\n"
    "static int calls; static const float* last; static float* kept;\n"
    "// The launcher:\n";

LauncherArgument Scalar(const std::string& name, int64_t value) {
  LauncherArgument argument;
  argument.name = name;
  argument.value = value;
  return argument;
}

LauncherArgument Buffer(const std::string& name, uint64_t bytes) {
  LauncherArgument argument;
  argument.name = name;
  argument.is_buffer = true;
  argument.size_bytes = bytes;
  return argument;
}

// What is shared by all launchers: programs are kept by content.
class Workshop {
 public:
  static Workshop& Get() {
    static Workshop workshop;
    return workshop;
  }
  RecorderOptions options() const {
    RecorderOptions options;
    options.cache_directory = folder_.path();
    options.cuda_include_directory = kCudaHeaders;
    options.time_limit_s = 3;
    return options;
  }

 private:
  TemporaryDirectory folder_ = *TemporaryDirectory::Create("optiml-planner-test-");
};

std::string Missing() {
  if (!std::filesystem::exists(std::string(kCudaHeaders) + "/cuda_runtime.h")) {
    return "CUDA's headers are missing";
  }
  const Result<void> sandbox = SandboxAvailable();
  return sandbox ? "" : sandbox.error().message();
}

struct Case {
  const char* name;
  const char* launcher;
  const char* expected = "";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// Compiling takes most of the time: the launchers of a table become one, which does what the case
// of its last argument does.
std::string Together(const std::vector<Case>& cases) {
  constexpr std::string_view kHead = "extern \"C\" void run(const float* x, float* y, int n) {";
  std::string before;
  std::string bodies;
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string launcher = cases[i].launcher;
    const size_t head = launcher.find(kHead);
    const size_t end = launcher.rfind('}');
    if (head == std::string::npos || end == std::string::npos) {
      return "#error a case without a launcher: " + std::string(cases[i].name);
    }
    before += launcher.substr(0, head) + "\n";
    bodies += "case " + std::to_string(i) + ": {" +
              launcher.substr(head + kHead.size(), end - head - kHead.size()) + "} break;\n";
  }
  return std::string(kKernels) + before +
         "extern \"C\" void run(const float* x, float* y, int n, int which) {\nswitch (which) {\n" +
         bodies + "}\n}\n";
}

// Parsed; the text of the first error where it cannot be.
std::variant<ast::SourceUnit, std::string> Parse(const std::string& text) {
  ParseOptions options;
  options.cuda_include_directory = kCudaHeaders;
  auto parsed = ParseSource(KernelSource(text, "run", "kernel.cu"), options);
  if (!parsed.has_value()) {
    return "error: " + parsed.error().message();
  }
  if (const auto* refusal = std::get_if<Refusal>(&*parsed)) {
    return "parse: " + refusal->reason;
  }
  return std::get<ast::SourceUnit>(*std::move(parsed));
}

// run(const float* x, float* y, int n, int which), called with n = 10 and then with n = 1000: the
// plan of the second call, or "plan: ..." or "check: ..." with the refusal.
std::string Outcome(const ast::SourceUnit& unit, int64_t which) {
  LauncherPlanner planner(unit, "run", Workshop::Get().options());
  std::vector<std::vector<LauncherArgument>> arguments;
  std::vector<LaunchPlan> plans;
  for (const int64_t n : {int64_t{10}, int64_t{1000}}) {
    arguments.push_back({Buffer("x", 4 * static_cast<uint64_t>(n)),
                         Buffer("y", 4 * static_cast<uint64_t>(n)), Scalar("n", n),
                         Scalar("which", which)});
    auto plan = planner.Plan(arguments.back());
    if (!plan) {
      return "error: " + plan.error().message();
    }
    if (const auto* refusal = std::get_if<Refusal>(&*plan)) {
      return "plan: " + refusal->reason;
    }
    plans.push_back(std::get<LaunchPlan>(*plan));
  }
  EXPECT_EQ(plans.back().maker, PlanMaker::kRecorder);
  std::vector<LauncherCall> calls;
  for (size_t i = 0; i < plans.size(); ++i) {
    calls.push_back({&arguments[i], &plans[i]});
  }
  const auto refusal = planner.Check(calls);
  if (!refusal) {
    return "error: " + refusal.error().message();
  }
  return *refusal ? "check: " + (*refusal)->reason : plans.back().Format();
}

std::string OutcomeOf(const std::vector<Case>& cases, const Case& wanted) {
  static std::map<std::string, std::variant<ast::SourceUnit, std::string>> parsed;
  const std::string text = Together(cases);
  auto found = parsed.find(text);
  if (found == parsed.end()) {
    found = parsed.emplace(text, Parse(text)).first;
  }
  if (const auto* problem = std::get_if<std::string>(&found->second)) {
    return *problem;
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (std::string_view(cases[i].name) == wanted.name) {
      return Outcome(std::get<ast::SourceUnit>(found->second), static_cast<int64_t>(i));
    }
  }
  return "no such case";
}

class PlannerTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string missing = Missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }
};

class Interrupted : public PlannerTest {};

TEST_F(Interrupted, ALauncherThatRunsEndsAtOnce) {
  const auto parsed = Parse(std::string(kKernels) +
                            "extern \"C\" void run(const float* x, float* y, int n) {\n"
                            "  std::vector<int> v(4, n);\n"
                            "  for (volatile int spin = 1; spin != 0;) {}\n"
                            "  k<<<1, 32>>>(x, y, v[0]);\n}\n");
  const auto* unit = std::get_if<ast::SourceUnit>(&parsed);
  ASSERT_NE(unit, nullptr) << std::get<std::string>(parsed);
  std::atomic<bool> stop = false;
  RecorderOptions options = Workshop::Get().options();
  options.time_limit_s = 600;  // the test would not end by it
  options.stop = &stop;
  LauncherPlanner planner(*unit, "run", options);
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const auto plan = planner.Plan({Buffer("x", 40), Buffer("y", 40), Scalar("n", 10)});
  user.join();
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), ErrorCode::kInterrupted);
}

class Recorded : public PlannerTest {};

// Where the interpreter stops, before the launch.
#define NOT_FOLLOWED "std::vector<int> unfollowed(3, n); "
#define RUN "extern \"C\" void run(const float* x, float* y, int n) { " NOT_FOLLOWED

const std::vector<Case> kRecorded = {
    {"Vector",
     "extern \"C\" void run(const float* x, float* y, int n) { std::vector<int> blocks; for (int i "
     "= 1; i <= 3; ++i) blocks.push_back(n / i); for (int b : blocks) k<<<b, 32>>>(x, y, n); }",
     "launch k grid 333x1x1"},
    {"Template", RUN "t<float, 64><<<n, 64, 128>>>(x + 4, y, n); }", "launch t<float, 64>"},
    {"DeducedTemplate",
     "template <int B, typename T> void go(const T* x, T* y, int n) { std::vector<T> h(1); t<T, "
     "B><<<n, B>>>(x, y, n); } extern \"C\" void run(const float* x, float* y, int n) { go<32>(x, "
     "y, n); }",
     "launch t<float, 32>"},
    {"PointerOffset", RUN "k<<<1, 32>>>(x + 4, y + 8, n); }", "x+16"},
    {"StructWithPointers", RUN "both<<<1, 32>>>(Pair{x, y + 1, n}); }", "y+4"},
    {"FunctionPointers",
     "extern \"C\" void run(const float* x, float* y, int n) { using F = void (*)(const float*, "
     "float*, int); std::vector<F> table = {k, t<float, 32>}; F f = table[n > 100]; f<<<n, "
     "32>>>(x, y, n); }",
     "launch t<float, 32>"},
    {"Destructor",
     "struct Scratch { float* p = nullptr; explicit Scratch(int n) { cudaMalloc(&p, 4 * n); } "
     "~Scratch() { cudaFree(p); } };\nextern \"C\" void run(const float* x, float* y, int n) { "
     "Scratch s(n); k<<<1, 32>>>(x, s.p, n); k<<<2, 32>>>(s.p, y, n); }",
     "scratch"},
    {"VirtualCalls",
     "struct B { virtual ~B() = default; virtual int blocks(int n) const { return 1; } }; struct D "
     ": B { int blocks(int n) const override { return n / 2; } };\nextern \"C\" void run(const "
     "float* x, float* y, int n) { D d; const B& b = d; k<<<b.blocks(n), 32>>>(x, y, n); }",
     "grid 500x1x1"},
    {"LambdasThatAreKept",
     "#include <functional>\nextern \"C\" void run(const float* x, float* y, int n) { "
     "std::function<void(int)> go = [&](int g) { k<<<g, 32>>>(x, y, n); }; go(n); go(7); }",
     "grid 7x1x1"},
    {"PinnedChangedAfterTheEvent",
     RUN "float* h; cudaMallocHost(&h, 4); *h = 1; cudaEvent_t e; cudaEventCreate(&e); "
         "cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0); cudaEventRecord(e); "
         "cudaEventSynchronize(e); *h = 2; k<<<n, 32>>>(x, y, n); cudaFreeHost(h); "
         "cudaEventDestroy(e); }",
     "launch k grid 1000x1x1"},
    {"PageableChanged",
     RUN "float h = 1; cudaMemcpyAsync(y, &h, 4, cudaMemcpyHostToDevice, 0); h = 2; k<<<n, "
         "32>>>(x, y, n); }",
     "launch k grid 1000x1x1"},
    {"DerivedStruct",
     "struct Head { const float* from; int n; }; struct Rest : Head { float* to; unsigned a : 5; "
     "unsigned b : 27; }; __global__ void derived(Rest r) {}\n" RUN
     "Rest r{}; r.from = x; r.n = n; r.to = y + 2; r.a = 3; r.b = 1; derived<<<1, 32>>>(r); }",
     "y+8 at 16"},
    {"CaughtException",
     "extern \"C\" void run(const float* x, float* y, int n) { int g = 1; try { throw 5; } catch "
     "(int v) { g = v; } k<<<g, 32>>>(x, y, n); }",
     "grid 5x1x1"},
    {"Recursion",
     "static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }\nextern \"C\" void "
     "run(const float* x, float* y, int n) { k<<<depth(n), 32>>>(x, y, n); }",
     "grid 1000x1x1"},
    {"Strings",
     "#include <string>\n#include <cstdio>\nextern \"C\" void run(const float* x, float* y, int n) "
     "{ char b[40]; snprintf(b, sizeof(b), \"%d\", n); printf(\"%s\\n\", b); "
     "k<<<(int)std::string(b).size(), 32>>>(x, y, n); }",
     "grid 4x1x1"},
    {"FallThrough",
     RUN "int g = 0; switch (n > 100 ? 1 : 2) { case 1: g += 1; case 2: g += 10; } k<<<g, "
         "32>>>(x, y, n); }",
     "grid 11x1x1"},
    {"LaunchInAMacro",
     "#define GO(K, G, ...) \\\n  do { \\\n    K<<<G, 32>>>(__VA_ARGS__); \\\n  } while (0)\n" RUN
     "GO(k, n, x, y, n); GO((t<float, 32>), 3, x, y, n); }",
     "grid 3x1x1"},
    {"LaunchKernel",
     RUN "void* a[] = {&x, &y, &n}; cudaLaunchKernel((const void*)k, dim3(n, 2), dim3(64), a, 256, "
         "0); }",
     "grid 1000x2x1"},
    {"LaunchKernelEx",
     RUN "cudaLaunchConfig_t c = {}; c.gridDim = dim3(8); c.blockDim = 128; cudaLaunchAttribute "
         "a[1]; a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim.x = 2; "
         "a[0].val.clusterDim.y = 1; a[0].val.clusterDim.z = 1; c.attrs = a; c.numAttrs = 1; "
         "cudaLaunchKernelEx(&c, k, x, y, n); }",
     "cluster 2x1x1"},
    {"Attribute",
     RUN "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); k<<<1, 32, "
         "65536>>>(x, y, n); }",
     "MaxDynamicSharedMemorySize"},
    {"Upload",
     RUN "std::vector<float> h(4, 2.5f); float* d; cudaMalloc(&d, 16); cudaMemcpy(d, h.data(), 16, "
         "cudaMemcpyHostToDevice); k<<<1, 32>>>(d, y, n); cudaFree(d); }",
     "upload"},
    {"Symbol", RUN "float h[2] = {1, 2}; cudaMemcpyToSymbol(w, h, 8); k<<<1, 32>>>(x, y, n); }",
     "upload"},
    {"KindThatDoesNotMatter",
     RUN "cudaMemcpy(y, x, 4 * n, cudaMemcpyHostToDevice); cudaMemcpy(y, x, 4 * n, "
         "cudaMemcpyDeviceToHost); }",
     "copy"},
    {"MemsetAndCopy",
     RUN "cudaMemset(y, 0, 4 * n); cudaMemcpy(y, x, 4 * n, cudaMemcpyDeviceToDevice); }", "memset"},
    {"Device",
     RUN "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int b = 0; "
         "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, k, 256, 0); "
         "k<<<p.multiProcessorCount * b, 256>>>(x, y, n); }",
     "grid 1056x1x1"},
    {"StreamsInTurn",
     RUN "cudaStream_t s; cudaStreamCreate(&s); k<<<1, 32, 0, s>>>(x, y, n); "
         "cudaStreamSynchronize(s); cudaStreamDestroy(s); }",
     "launch k"},
    {"KeptScratchThatGrows",
     "static int size; " RUN "if (n > size) { cudaFree(kept); cudaMalloc(&kept, 4 * n); size = n; "
     "} k<<<1, 32>>>(x, kept, n); k<<<1, 32>>>(kept, y, n); }",
     "launch k"},
    {"KeptInAStaticVector",
     "extern \"C\" void run(const float* x, float* y, int n) { static std::vector<float*> p; if "
     "(p.empty()) { p.resize(2); for (float*& q : p) cudaMalloc(&q, 64); } k<<<1, 32>>>(x, p[1], "
     "n); k<<<1, 32>>>(p[0], y, n); }",
     "launch k"},
    {"FreedOnItsStream",
     RUN "cudaStream_t s; cudaStreamCreate(&s); float* p; cudaMallocAsync(&p, 64, s); k<<<1, 32, "
         "0, s>>>(x, p, n); cudaStreamSynchronize(s); cudaFreeAsync(p, s); cudaStreamDestroy(s); }",
     "launch k"},
    {"KeptVector",
     "extern \"C\" void run(const float* x, float* y, int n) { static std::vector<int> table(4, "
     "32); k<<<n, table[2]>>>(x, y, n); }",
     "block 32x1x1"},
    {"AlignmentOfPointers", RUN "k<<<n, (size_t)x % 16 == 0 ? 64 : 32>>>(x, y, n); }",
     "block 64x1x1"},
};
TEST_P(Recorded, GivesAPlan) {
  EXPECT_THAT(OutcomeOf(kRecorded, GetParam()), HasSubstr(GetParam().expected));
}
INSTANTIATE_TEST_SUITE_P(Table, Recorded, ::testing::ValuesIn(kRecorded),
                         [](const auto& test) { return std::string(test.param.name); });

class RefusedRecording : public PlannerTest {};

const std::vector<Case> kRefused = {
    // Several calls, other surroundings.
    {"WorksOnlyOnce",
     RUN "static bool done; if (done) return; done = true; k<<<n, 32>>>(x, y, n); }",
     "launcher does something else when it is called again: the "
     "launch of k is missing"},
    {"WorksThreeTimes", RUN "if (++calls > 3) return; k<<<n, 32>>>(x, y, n); }",
     "launcher keeps state between its calls"},
    {"CountsOnTheHeap",
     RUN "static std::vector<int> seen; seen.push_back(n); if (seen.size() < 9) k<<<n, 32>>>(x, y, "
         "n); }",
     "launcher keeps state between its calls"},
    {"CountsInTheLibrary",
     "#include <iostream>\n" RUN
     "std::cout.precision(std::cout.precision() + 1); if (std::cout.precision() < 20) k<<<n, "
     "32>>>(x, y, n); }",
     "launcher keeps state between its calls"},
    {"LeavesAMarkBelowItsStack",
     RUN "volatile int* p = (int*)((size_t)__builtin_frame_address(0) - 20000); if (*p != 12345) "
         "k<<<n, 32>>>(x, y, n); *p = 12345; }",
     "the launch of k is missing"},
    {"TakesTurnsWithItsArguments",
     RUN "static const float* turn; turn = turn == x ? y : x; k<<<n, 32>>>(x, y, n); }",
     "launcher keeps state between its calls"},
    {"CountsInAThreadsVariable",
     RUN "static thread_local int count; if (++count > 9) return; k<<<n, 32>>>(x, y, n); }",
     "launcher keeps state between its calls"},
    {"CachesByPointer", RUN "if (x == last) return; last = x; k<<<n, 32>>>(x, y, n); }",
     "the launch of k is missing"},
    {"FirstSizeForEver", RUN "static int blocks = n; k<<<blocks, 32>>>(x, y, n); }",
     "after calls with other arguments: the launch of k is another"},
    {"UploadOnce",
     RUN "float h[2] = {1, 2}; if (!kept) { cudaMalloc(&kept, 8); cudaMemcpy(kept, h, 8, "
         "cudaMemcpyHostToDevice); } k<<<n, 32>>>(kept, y, n); }",
     "the upload is missing"},
    {"KeepsAFreedBuffer",
     RUN "if (!kept) cudaMalloc(&kept, 4096); k<<<1, 32>>>(x, kept, n); cudaFree(kept); }",
     "was freed"},
    {"LooksAtAnAddress", RUN "k<<<n, (size_t)x < ((size_t)1 << 47) ? 32 : 64>>>(x, y, n); }",
     "where addresses, free memory or versions are others: the launch of k is another"},
    {"LooksAtADistance", RUN "k<<<n, 32>>>(x, y, (int)(((size_t)y - (size_t)x) >> 40)); }",
     "where addresses, free memory or versions are others"},
    {"PassesAnAddressAsANumber", RUN "k<<<n, 32>>>(x, y, (int)((size_t)x >> 40)); }",
     "where addresses, free memory or versions are others: the launch of k is another"},
    {"LooksAtFreeMemory",
     RUN "size_t f, t; cudaMemGetInfo(&f, &t); k<<<n, f + ((size_t)1 << 30) == t ? 32 : 64>>>(x, "
         "y, n); }",
     "where addresses, free memory or versions are others"},
    {"LooksAtAnUnlistedProperty",
     RUN "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); k<<<n, p.pciBusID % 2 ? 32 : 64>>>(x, "
         "y, n); }",
     "where addresses, free memory or versions are others"},
    {"ReadsUninitialisedMemory",
     RUN "int* p = (int*)malloc(64); k<<<n, *p > 0 ? 32 : 64>>>(x, y, "
         "n); free(p); }",
     "where addresses, free memory or versions are others"},
    {"UploadsPointers",
     RUN "float* d; cudaMalloc(&d, 8); cudaMemcpy(d, &x, 8, cudaMemcpyHostToDevice); k<<<1, "
         "32>>>(d, y, n); cudaFree(d); }",
     "the upload"},
    {"MeasuresItself",
     RUN "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float ms; "
         "cudaEventElapsedTime(&ms, a, b); k<<<n, ms > 3 ? 32 : 64>>>(x, y, n); }",
     "where addresses, free memory or versions are others"},
    // Streams.
    {"WorkOnAnotherStream",
     RUN "cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); k<<<1, 32, 0, "
         "s>>>(x, y, n); }",
     "launcher does not wait for this work"},
    {"UnorderedStreams",
     RUN "cudaStream_t a, b; cudaStreamCreate(&a); cudaStreamCreate(&b); k<<<1, 32, 0, a>>>(x, y, "
         "n); k<<<1, 32, 0, b>>>(x, y, n); cudaDeviceSynchronize(); }",
     "nothing orders this work on buffer \"y\""},
    // Faults of the launcher.
    {"ReadsDataBack",
     RUN "float h; cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost); k<<<h > 0, 32>>>(x, y, n); }",
     "launcher reads device data back"},
    {"ReadsDeviceMemory", RUN "k<<<(int)x[0] + 1, 32>>>(x, y, n); }",
     "launcher reads or writes device memory on the host"},
    {"EmptyGrid", RUN "k<<<n - n, 32>>>(x, y, n); }", "launch of k with an empty grid"},
    {"LargeBlock", RUN "k<<<1, 2048>>>(x, y, n); }", "with block 2048x1x1"},
    {"MemsetPastABuffer", RUN "cudaMemset(y, 0, 4 * n + 1); }", "leave buffer \"y\""},
    {"MemsetPastItsScratch",
     RUN "float* p; cudaMalloc(&p, 64); cudaMemset(p + 1, 0, 64); cudaFree(p); }",
     "memset: 64 bytes at offset 4 leave buffer \"scratch\" (64 bytes)"},
    {"CopiesPastABuffer", RUN "cudaMemcpy(y + 1, x, 4 * n, cudaMemcpyDeviceToDevice); }",
     "copy to the device: 40 bytes at offset 4 leave buffer \"y\" (40 bytes)"},
    {"FreesTwice", RUN "float* p; cudaMalloc(&p, 64); cudaFree(p); cudaFree(p); }",
     "cudaFree: buffer \"scratch\" (64 bytes) was freed in line"},
    {"UsesWhatItFreed", RUN "float* p; cudaMalloc(&p, 64); cudaFree(p); k<<<1, 32>>>(x, p, n); }",
     "kernel argument: buffer \"scratch\" (64 bytes) was freed in line"},
    {"NeverFrees", RUN "float* p; cudaMalloc(&p, 64); k<<<1, 32>>>(x, p, n); }",
     "launcher allocates buffer \"scratch\" (64 bytes) here, and ends without freeing it"},
    {"LosesWhatItKept", RUN "cudaMalloc(&kept, 64); k<<<1, 32>>>(x, kept, n); }",
     "launcher allocates buffer \"scratch\" (64 bytes) here, and ends without freeing it"},
    {"NeverFreesThroughAVector",
     RUN "std::vector<float*> p(3); for (float*& q : p) cudaMalloc(&q, 64); cudaFree(p[0]); "
         "cudaFree(p[2]); k<<<1, 32>>>(x, y, n); }",
     "launcher allocates buffer \"scratch#2\" (64 bytes) here, and ends without freeing it"},
    {"FreesItsArgument", RUN "cudaFree(y); }", "launcher frees its argument \"y\""},
    {"HostPointerForAKernel", RUN "float h[4]; k<<<1, 32>>>(h, y, n); }",
     "the pointer is to host memory or points nowhere"},
    {"Throws", RUN "throw n; }", "launcher throws an exception"},
    {"DividesByZero", RUN "volatile int z = 0; k<<<n / z, 32>>>(x, y, n); }",
     "launcher divides by zero"},
    {"CrashesOnNull", RUN "volatile int* p = nullptr; k<<<*p, 32>>>(x, y, n); }",
     "through an invalid host pointer"},
    {"RecursesForEver",
     "static int deep(int n) { volatile char space[4096]; space[0] = (char)n; return deep(n + 1) + "
     "space[0]; }\n" RUN "k<<<deep(n), 32>>>(x, y, n); }",
     "nest too deep"},
    {"PinnedChanged",
     RUN "float* h; cudaMallocHost(&h, 4); *h = 1; cudaMemcpyAsync(y, h, 4, "
         "cudaMemcpyHostToDevice, 0); *h = 2; k<<<n, 32>>>(x, y, n); cudaFreeHost(h); }",
     "launcher changes pinned memory while an upload from it may still run"},
    {"PinnedChangedAfterAnEarlierEvent",
     RUN "float* h; cudaMallocHost(&h, 4); *h = 1; cudaEvent_t e; cudaEventCreate(&e); "
         "cudaEventRecord(e); cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0); "
         "cudaEventSynchronize(e); *h = 2; k<<<n, 32>>>(x, y, n); cudaFreeHost(h); "
         "cudaEventDestroy(e); }",
     "launcher changes pinned memory while an upload from it may still run"},
    {"RegisteredChanged",
     RUN "float h = 1; cudaHostRegister(&h, 4, 0); cudaMemcpyAsync(y, &h, 4, "
         "cudaMemcpyHostToDevice, 0); h = 2; cudaHostUnregister(&h); k<<<n, 32>>>(x, y, n); }",
     "launcher changes pinned memory while an upload from it may still run"},
    {"CountsByAPointerAmongKeptBuffers",
     "static float* row[30]; static float* at;\n" RUN
     "if (!row[0]) { for (auto& r : row) cudaMalloc(&r, 4); at = row[0]; } int i = 0; while "
     "(row[i] != at) ++i; if (i < 29) { at = row[i + 1]; k<<<n, 32>>>(x, y, n); } }",
     "launcher keeps state between its calls"},
    {"NeverEnds", RUN "for (volatile int i = 0;; ++i) {} }", "launcher did not end within 3 s"},
    {"TimeStampCounter", RUN "k<<<(int)(__builtin_ia32_rdtsc() % 2) + 1, 32>>>(x, y, n); }",
     "launcher reads the time"},
    {"PrintsForEver", "#include <cstdio>\n" RUN "for (;;) printf(\"%d\\n\", n); }",
     "launcher did not end within 3 s"},
    {"LaunchesForEver", RUN "for (;;) k<<<1, 32>>>(x, y, n); }", "launcher makes more than"},
    {"AllocatesForEver", RUN "for (;;) { float* p; cudaMalloc(&p, 256); } }",
     "allocates more buffers than can be told apart"},
    {"TakesMoreHostMemoryThanThereIs",
     RUN "if (malloc((size_t)1 << 40) == nullptr) k<<<0, 1>>>(x, y, n); }", "empty grid"},
    {"Exits", "#include <cstdlib>\n" RUN "exit(0); }", "launcher calls exit"},
    {"Aborts", "#include <cstdlib>\n" RUN "abort(); }", "launcher calls abort"},
    {"WritesThroughAMessage",
     "#include <cstdio>\n" RUN "printf(\"%d%n\", n, &n); k<<<n, 32>>>(x, y, n); }", "(%n)"},
};
TEST_P(RefusedRecording, SaysWhy) {
  EXPECT_THAT(OutcomeOf(kRefused, GetParam()), HasSubstr(GetParam().expected));
}
INSTANTIATE_TEST_SUITE_P(Table, RefusedRecording, ::testing::ValuesIn(kRefused),
                         [](const auto& test) { return std::string(test.param.name); });

// What the interpreter knows to be wrong is not tried again.
TEST(Faults, AreFinal) {
  const auto folder = *TemporaryDirectory::Create("optiml-faults-test-");
  RecorderOptions options = Workshop::Get().options();
  options.cache_directory = folder.path();
  for (const char* body :
       {"cudaMemset(y, 0, 4 * n + 1);", "cudaMemcpy(y, x + 1, 4 * n, cudaMemcpyDeviceToDevice);",
        "float* p; cudaMalloc(&p, 64); cudaFree(p); cudaFree(p);",
        "float* p; cudaMalloc(&p, 64); cudaFree(p); k<<<1, 32>>>(p, y, n);",
        "float* p; cudaMalloc(&p, 64); k<<<1, 32>>>(p, y, n);", "k<<<0, 32>>>(x, y, n);"}) {
    const auto parsed =
        Parse(std::string(kKernels) + "extern \"C\" void run(const float* x, float* y, int n) {" +
              body + "}");
    ASSERT_TRUE(std::holds_alternative<ast::SourceUnit>(parsed)) << std::get<std::string>(parsed);
    LauncherPlanner planner(std::get<ast::SourceUnit>(parsed), "run", options);
    const auto plan = planner.Plan({Buffer("x", 40), Buffer("y", 40), Scalar("n", 10)});
    ASSERT_TRUE(plan) << plan.error().message();
    const auto* refusal = std::get_if<Refusal>(&*plan);
    ASSERT_NE(refusal, nullptr) << body;
    EXPECT_TRUE(refusal->is_fault) << body;
    EXPECT_FALSE(refusal->not_followed) << body;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// What no launcher may have in it: each is a text of its own.
class Forbidden : public PlannerTest {};
TEST_P(Forbidden, IsRefusedBeforeItRuns) {
  EXPECT_THAT(OutcomeOf({GetParam()}, GetParam()), HasSubstr(GetParam().expected));
}

const std::vector<Case> kForbidden = {
    {"Thread",
     "#include <thread>\nextern \"C\" void run(const float* x, float* y, int n) { std::thread([=] "
     "{ "
     "k<<<n, 32>>>(x, y, n); }).join(); }",
     "which no launcher may"},
    {"Time",
     "#include <chrono>\nextern \"C\" void run(const float* x, float* y, int n) { auto t = "
     "std::chrono::steady_clock::now().time_since_epoch().count(); k<<<t % 2 + 1, 32>>>(x, y, n); "
     "}",
     "std::chrono"},
    {"Environment", "#include <cstdlib>\n" RUN "k<<<getenv(\"HOME\") ? 1 : 2, 32>>>(x, y, n); }",
     "launcher uses getenv, which no launcher may"},
    {"File",
     "#include <fstream>\nextern \"C\" void run(const float* x, float* y, int n) { std::ifstream "
     "in(\"/etc/passwd\"); k<<<in ? 1 : 2, 32>>>(x, y, n); }",
     "which no launcher may"},
    {"Process", "#include <unistd.h>\n" RUN "if (fork() == 0) for (;;) {} k<<<n, 32>>>(x, y, n); }",
     "fork"},
    {"Random", "#include <cstdlib>\n" RUN "k<<<rand() % 4 + 1, 32>>>(x, y, n); }", "rand"},
    {"Assembly",
     RUN "int v; asm volatile(\"rdtsc\" : \"=a\"(v) : : \"edx\"); k<<<n, 32>>>(x, y, n); }",
     "inline assembly"},
    {"DoesNotCompile", RUN "k<<<__builtin_elementwise_max(n, 3), 32>>>(x, y, n); }",
     "nor can it be recorded: kernel.cu:14: it does not compile for this machine"},
    {"NamesTheRecorder",
     "extern \"C\" void optiml_recorder_at(int);\n" RUN "optiml_recorder_at(1); k<<<n, 32>>>(x, y, "
     "n); }",
     "launcher uses optiml_recorder_at, which no launcher may"},
    {"AsksForTheRecorder",
     "extern \"C\" __attribute__((weak)) void optiml_recorder_at(int);\n" RUN
     "if (optiml_recorder_at) k<<<n, 32>>>(x, y, n); }",
     "launcher uses optiml_recorder_at, which no launcher may"},
    {"UnknownCall", RUN "cudaDeviceReset(); k<<<n, 32>>>(x, y, n); }", "cudaDeviceReset"},
};
INSTANTIATE_TEST_SUITE_P(Table, Forbidden, ::testing::ValuesIn(kForbidden),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace optiml
