// A launcher's plan must be what the compiled launcher would do: nothing that it changes may be
// overlooked, and nothing may happen beside its statements.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

// The plan's launches, or the refusal, of run(float* y, int n) at n = 1000. `before` stands in
// front of the launcher, which begins at line 4 when it has one line.
std::string Outcome(const std::string& before, const std::string& body) {
  const std::string text = "#include <iostream>\n__global__ void k(float* y, int n) {}\n" + before +
                           "\nextern \"C\" void run(float* y, int n) {" + body + "}\n";
  const auto parsed = ParseSource(KernelSource(text, "run", "kernel.cu"));
  if (!parsed.has_value()) {
    return "error: " + parsed.error().message();
  }
  if (const auto* refusal = std::get_if<Refusal>(&*parsed)) {
    return "parse: " + refusal->reason;
  }
  LauncherArgument y;
  y.name = "y";
  y.is_buffer = true;
  y.size_bytes = 4000;
  LauncherArgument n;
  n.name = "n";
  n.value = int64_t{1000};
  const PlanOutcome plan = MakeLaunchPlan(std::get<ast::SourceUnit>(*parsed), "run", {y, n});
  if (const auto* refusal = std::get_if<Refusal>(&plan)) {
    return refusal->reason;
  }
  return std::get<LaunchPlan>(plan).Format();
}

struct Case {
  const char* name;
  const char* before;
  const char* body;
  const char* expected;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class LauncherEffects : public ::testing::TestWithParam<Case> {};
TEST_P(LauncherEffects, AreFollowedOrRefused) {
  EXPECT_THAT(Outcome(GetParam().before, GetParam().body), HasSubstr(GetParam().expected));
}

constexpr char kHidden[] = "which cannot be traced";

const Case kCases[] = {
    // Arguments of calls that a plan has no use for.
    {"PrintedAssignment", "", "printf(\"%d\", n = 7); k<<<n, 1>>>(y, n);", "grid 7x1x1"},
    {"StreamedAssignment", "", "std::cout << \"n \" << (n = 7) << std::endl; k<<<n, 1>>>(y, n);",
     "grid 7x1x1"},
    {"PrintedCallOfTheFile", "static int Seven(int& n) { return n = 7; }",
     "printf(\"%d\", Seven(n)); k<<<n, 1>>>(y, n);", "grid 7x1x1"},
    {"PrintedErrors", "",
     "cudaError_t e = cudaGetLastError(); printf(\"%s at %d of %s\\n\", cudaGetErrorString(e), n, "
     "\"run\"); fprintf(stderr, \"%p\", (void*)y); k<<<n, 1>>>(y, n);",
     "grid 1000x1x1"},
    {"PrintWritesBack", "", "printf(\"%n\", &n); k<<<n, 1>>>(y, n);", "(%n)"},
    {"FileInThePlaceOfAMessage", "",
     "fprintf(fopen(\"x\", \"w\"), \"accepted\"); k<<<n, 1>>>(y, n);", "fopen"},
    {"CacheConfig", "",
     "cudaFuncSetCacheConfig(k, (n = 7, cudaFuncCachePreferL1)); k<<<n, 1>>>(y, n);",
     "kernel.cu:4: launcher changes something in an argument of cudaFuncSetCacheConfig"},
    {"StreamOfAnAllocation", "",
     "float* p; cudaMallocAsync(&p, 4, (n = 7, (cudaStream_t)0)); k<<<n, 1>>>(y, n);",
     "launcher changes something in an argument of cudaMallocAsync"},
    {"ErrorText", "", "cudaGetErrorString((n = 7, cudaSuccess)); k<<<n, 1>>>(y, n);",
     "launcher changes something in an argument of cudaGetErrorString"},
    {"IncrementWhereItIsEvaluated", "",
     "float* p[2]; int i = 0; cudaMalloc(&p[i++], 64); cudaMalloc(&p[i++], 64); k<<<i, 1>>>(p[1], "
     "n); cudaFree(p[0]); cudaFree(p[1]);",
     "launch k grid 2x1x1"},
    {"SizeofEvaluatesNothing", "", "(void)sizeof(n = 7); k<<<n, 1>>>(y, n);", "grid 1000x1x1"},
    // Objects that do something by themselves.
    {"Destructor", "struct Late { float* y; int n; ~Late() { cudaMemsetAsync(y, 0, 4 * n); } };",
     "Late late{y, n}; k<<<n, 1>>>(y, n);", "launcher uses an object of Late"},
    {"CopyConstructor",
     "static int fast; struct C { int a; C(int v) : a(v) {} C(const C& o) : a(o.a) { fast = 1; } "
     "};",
     "C c(1); C d = c; if (!fast) k<<<n, 1>>>(y, n);", "launcher uses an object of C"},
    {"VirtualFunction",
     "struct B { virtual int f() { return 1; } }; struct D : B { int f() override { return 0; } };",
     "D d; B& b = d; if (b.f() == 1) k<<<n, 1>>>(y, n);", "launcher uses an object of D"},
    {"ConstructorOfABase",
     "static int fast; struct B { B() { fast = 1; } }; struct D : B { int q; D() { q = 0; } };",
     "D d; if (!fast) k<<<n, 1>>>(y, n);", "launcher uses an object of D"},
    {"TemporaryWithADestructor",
     "static int fast; struct T { ~T() { fast = 1; } int blocks() { return 3; } };",
     "k<<<T().blocks(), 1>>>(y, n);", "launcher uses an object of T"},
    {"PlainClass",
     "struct G { int blocks; explicit G(int n) : blocks((n + 9) / 10) {} int get() const { return "
     "blocks; } };",
     "G g(n); G h = g; k<<<h.get(), 1>>>(y, n);", "grid 100x1x1"},
    {"DeviceClassMayDoWhatItLikes",
     "struct Acc { float v; __device__ Acc() : v(0) {} __device__ ~Acc() { v = 1; } };\n__global__ "
     "void m(float* y) { Acc a; y[0] = a.v; }",
     "m<<<1, 1>>>(y);", "launch m"},
    // Pinned host memory.
    {"PinnedNotFreed", "", "float* h; cudaMallocHost(&h, 8); k<<<n, 1>>>(y, n);",
     "kernel.cu:4: launcher allocates 8 bytes of pinned host memory here, and ends without"},
    {"PinnedFreedTwice", "",
     "float* h; cudaMallocHost(&h, 8); cudaFreeHost(h); cudaFreeHost(h); k<<<n, 1>>>(y, n);",
     "cudaFreeHost of a pointer that cudaMallocHost did not return, or that was freed"},
    {"PinnedUsedAfterItsEnd", "",
     "float* h; cudaMallocHost(&h, 8); cudaFreeHost(h); *h = 1; k<<<n, 1>>>(y, n);", "kernel.cu:4"},
    {"PinnedFreed", "", "float* h; cudaMallocHost(&h, 8); cudaFreeHost(h); k<<<n, 1>>>(y, n);",
     "grid 1000x1x1"},
    {"PinnedKept", "static float* h;", "if (!h) cudaMallocHost(&h, 8); k<<<n, 1>>>(y, n);",
     "grid 1000x1x1"},
    {"PinnedChanged", "",
     "float* h; cudaMallocHost(&h, 4); *h = 1; cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0);"
     " *h = 2; k<<<n, 1>>>(y, n); cudaFreeHost(h);",
     "launcher changes pinned memory while an upload from it may still run"},
    {"PinnedChangedAndKept", "static float* h;",
     "if (!h) cudaMallocHost(&h, 4); *h = 1; cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0);"
     " *h = 2; k<<<n, 1>>>(y, n);",
     "launcher changes pinned memory while an upload from it may still run"},
    {"PinnedChangedAfterTheWait", "",
     "float* h; cudaMallocHost(&h, 4); *h = 1; cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0);"
     " cudaStreamSynchronize(0); *h = 2; k<<<n, 1>>>(y, n); cudaFreeHost(h);",
     "grid 1000x1x1"},
    {"PinnedChangedAfterTheEvent", "",
     "float* h; cudaEvent_t e; cudaEventCreate(&e); cudaMallocHost(&h, 4); *h = 1; "
     "cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0); cudaEventRecord(e); "
     "cudaEventSynchronize(e); *h = 2; k<<<n, 1>>>(y, n); cudaFreeHost(h);",
     "grid 1000x1x1"},
    {"PinnedChangedAfterAnEarlierEvent", "",
     "float* h; cudaEvent_t e; cudaEventCreate(&e); cudaMallocHost(&h, 4); *h = 1; "
     "cudaEventRecord(e); cudaMemcpyAsync(y, h, 4, cudaMemcpyHostToDevice, 0); "
     "cudaEventSynchronize(e); *h = 2; k<<<n, 1>>>(y, n); cudaFreeHost(h);",
     "launcher changes pinned memory"},
    {"PinnedChangedAfterACopyThatWaits", "",
     "float* h; cudaMallocHost(&h, 4); *h = 1; cudaMemcpy(y, h, 4, cudaMemcpyHostToDevice); "
     "*h = 2; k<<<n, 1>>>(y, n); cudaFreeHost(h);",
     "grid 1000x1x1"},
    {"PageableChanged", "",
     "float h = 1; cudaMemcpyAsync(y, &h, 4, cudaMemcpyHostToDevice, 0); h = 2; k<<<n, 1>>>(y, n);",
     "grid 1000x1x1"},
    {"RegisteredChanged", "",
     "float h = 1; cudaHostRegister(&h, 4, 0); cudaMemcpyAsync(y, &h, 4, cudaMemcpyHostToDevice, "
     "0); h = 2; cudaHostUnregister(&h); k<<<n, 1>>>(y, n);",
     "launcher changes pinned memory"},
    // Before the launcher runs.
    {"GlobalConstructor", "static int fast; struct S { S() { fast = 1; } } s;",
     "k<<<fast + 1, 1>>>(y, n);", "grid 2x1x1"},
    {"GlobalInitialiser", "static int fast; static int unused = (fast = 1);",
     "k<<<fast + 1, 1>>>(y, n);", "grid 2x1x1"},
    {"ConstructorFunction",
     "static int fast; __attribute__((constructor)) static void init() { fast = 1; }",
     "k<<<fast + 1, 1>>>(y, n);",
     "kernel.cu:3: function \"init\" runs when the program starts or ends, which cannot be traced"},
    {"InitialisersInASection",
     "static int fast; static void f() { fast = 1; }\n__attribute__((section(\".init_array\"), "
     "used)) static void (*hook)() = f;",
     "k<<<fast + 1, 1>>>(y, n);", kHidden},
    // Names.
    {"AssemblerName",
     "extern \"C\" void other(float* y, int n) __asm__(\"run\");\nextern \"C\" void other(float* "
     "y, "
     "int n) {}",
     "k<<<n, 1>>>(y, n);", "\"other\" is another name for the linker"},
    {"RedefinedName",
     "#pragma redefine_extname run unused\nextern \"C\" void run(float* y, int n);",
     "k<<<n, 1>>>(y, n);", kHidden},
    {"Alias",
     "extern \"C\" void real(float* y, int n) {}\nextern \"C\" void other(float* y, int n) "
     "__attribute__((alias(\"real\")));",
     "k<<<n, 1>>>(y, n);", kHidden},
    {"Cleanup", "static int fast; static void f(int*) { fast = 1; }",
     "{ __attribute__((cleanup(f))) int q = 0; } k<<<fast + 1, 1>>>(y, n);", kHidden},
    {"ReplacedNew",
     "static int fast; void* operator new[](size_t bytes) { fast = 1; return malloc(bytes); }",
     "int* q = new int[4]; q[0] = 1; k<<<fast + q[0], 1>>>(y, n);", kHidden},
    {"AssemblyOfTheFile", "__asm__(\".section .init_array\");", "k<<<n, 1>>>(y, n);",
     "assembly outside of a function"},
};

INSTANTIATE_TEST_SUITE_P(Table, LauncherEffects, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace optiml
