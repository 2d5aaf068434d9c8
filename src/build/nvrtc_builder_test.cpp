#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file_system.h"
#include "build/builder.h"

namespace optiml {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSource[] =
    "template <typename T, int N>\n"
    "__global__ void reversed(const T* x, T* y, int n) {\n"
    "  __shared__ T tile[N];\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  tile[threadIdx.x] = i < n ? x[i] : T(0);\n"
    "  __syncthreads();\n"
    "  if (i < n) y[i] = tile[N - 1 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }\n"
    "namespace inner { __global__ void add(int* x) { x[threadIdx.x] += 2; } }\n";

// Tests that need NVRTC are skipped, by name, on a machine without it.
class NvrtcBuilder : public ::testing::Test {
 protected:
  void SetUp() override {
    builder_ = MakeNvrtcBuilder({});
    const auto toolchain = builder_->Toolchain();
    if (!toolchain.has_value()) {
      GTEST_SKIP() << toolchain.error().message();
    }
    has_headers_ = !toolchain->include_directory.empty();
  }

  static BuildRequest Request(std::string text, std::vector<std::string> names) {
    BuildRequest request;
    request.device_text = std::move(text);
    request.file_name = "kernel.cu";
    request.name_expressions = std::move(names);
    return request;
  }

  Artifact BuildArtifact(const BuildRequest& request) {
    auto outcome = builder_->Build(request);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
    if (const auto* failure = std::get_if<BuildFailure>(&*outcome)) {
      ADD_FAILURE() << failure->log;
      return {};
    }
    return std::get<Artifact>(*std::move(outcome));
  }

  BuildFailure BuildFails(const BuildRequest& request) {
    auto outcome = builder_->Build(request);
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message();
    if (!std::holds_alternative<BuildFailure>(*outcome)) {
      ADD_FAILURE() << "it compiled";
      return {};
    }
    return std::get<BuildFailure>(*std::move(outcome));
  }

  std::unique_ptr<Builder> builder_;
  bool has_headers_ = false;
};

TEST_F(NvrtcBuilder, MakesPtxCubinAndResourcesOfPlainTemplateAndNamespacedKernels) {
  const Artifact artifact =
      BuildArtifact(Request(kSource, {"reversed<float, 256>", "scale", "inner::add"}));
  ASSERT_EQ(artifact.kernels.size(), 3u);
  EXPECT_EQ(artifact.kernels[0].name_expression, "reversed<float, 256>");
  EXPECT_EQ(artifact.kernels[0].static_shared_bytes, 1024u);
  EXPECT_EQ(artifact.kernels[0].barriers, 1);
  EXPECT_GT(artifact.kernels[0].registers, 4);
  EXPECT_EQ(artifact.kernels[1].lowered_name, "scale");
  EXPECT_THAT(artifact.ptx, HasSubstr(".entry " + artifact.kernels[0].lowered_name + "("));
  EXPECT_THAT(artifact.ptx, HasSubstr(".loc"));
  EXPECT_THAT(artifact.ptx, HasSubstr(".target sm_90"));
  EXPECT_THAT(artifact.ptx, HasSubstr("\"kernel.cu\""));
  ASSERT_GT(artifact.cubin.size(), 4u);
  EXPECT_EQ(artifact.cubin[1], std::byte{'E'});
  EXPECT_EQ(artifact.log, "");
  EXPECT_GT(artifact.build_time.count(), 0);
  EXPECT_FALSE(artifact.from_cache);
  EXPECT_THAT(artifact.options, Not(Contains("-use_fast_math")));
}

TEST_F(NvrtcBuilder, AllOfCubIsWhatAKernelCanUseOfIt) {
  if (!has_headers_) {
    GTEST_SKIP() << "no CUDA headers here";
  }
  const std::string include = "#include <cub/cub.cuh>\n";
  const std::string plain =
      "__global__ void k(int* x) { x[threadIdx.x] = INT_MAX; }\n"
      "__global__ void f(float* x) { x[0] = -FLT_MAX; }\n";
  const Artifact without = BuildArtifact(Request(include + plain, {"k"}));
  EXPECT_EQ(without.log, "");
  EXPECT_LT(without.build_time, std::chrono::seconds(1));  // CUB itself was not read
  for (const char* space : {"cub::", "using namespace cub;"}) {
    const bool named = std::string_view(space) == "cub::";
    const std::string kernel =
        std::string(named ? "" : space) +
        "\n__global__ void k(int* x) {\n  using Sum = " + (named ? space : "") +
        "BlockReduce<int, 64>;\n"
        "  __shared__ typename Sum::TempStorage room;\n"
        "  x[threadIdx.x] = Sum(room).Sum(x[threadIdx.x]);\n}\n";
    EXPECT_GT(BuildArtifact(Request(include + kernel, {"k"})).kernels[0].static_shared_bytes, 0u)
        << space;
  }
}

TEST_F(NvrtcBuilder, ListsEveryEntryWhenNoKernelIsNamed) {
  const Artifact artifact = BuildArtifact(Request(kSource, {}));
  ASSERT_EQ(artifact.kernels.size(), 2u);  // the template has no instance
  EXPECT_EQ(artifact.kernels[0].lowered_name, "scale");
}

TEST_F(NvrtcBuilder, GivesTheFirstErrorWithFileAndLine) {
  const BuildFailure failure = BuildFails(
      Request("__global__ void k(float* x) {\n  int unused = 0;\n  x[0] = foo;\n}\n", {"k"}));
  EXPECT_EQ(failure.stage, "compile");
  EXPECT_EQ(failure.first_error, "kernel.cu:3: identifier \"foo\" is undefined");
  EXPECT_THAT(failure.log, HasSubstr("kernel.cu(3)"));
}

TEST_F(NvrtcBuilder, NamesAKernelThatIsMissing) {
  const BuildFailure failure = BuildFails(Request(kSource, {"absent"}));
  EXPECT_THAT(failure.first_error, HasSubstr("absent"));
}

TEST_F(NvrtcBuilder, RefusesASourceWithoutKernels) {
  const BuildFailure failure = BuildFails(Request("__device__ int f() { return 1; }\n", {}));
  EXPECT_THAT(failure.first_error, HasSubstr("no __global__ function"));
}

TEST_F(NvrtcBuilder, ReportsWhatOnlyTheAssemblerSees) {
  const BuildFailure failure = BuildFails(Request(
      "extern __device__ float elsewhere(float);\n"
      "extern \"C\" __global__ void k(float* x) { __shared__ float s[100000]; s[threadIdx.x] = "
      "x[0]; __syncthreads(); x[1] = s[5]; }\n",
      {"k"}));
  EXPECT_EQ(failure.stage, "assemble");
  EXPECT_THAT(failure.first_error, HasSubstr("kernel.cu: "));
  EXPECT_THAT(failure.first_error, HasSubstr("shared"));
}

TEST_F(NvrtcBuilder, AssemblesAWholeProgramAsNvccDoes) {
  // 30 registers by nvcc 13.0 for sm_90; assembled for linking, ptxas gives it 48
  // (docs/decisions/0006-cubins-by-nvrtc.md).
  const Artifact artifact = BuildArtifact(
      Request("extern \"C\" __global__ void __launch_bounds__(256) k(const float* __restrict__ a,\n"
              "    const float* __restrict__ b, float* __restrict__ c, int rows, int cols, int n,\n"
              "    int m) {\n"
              "  const int x = blockIdx.x * 32 + threadIdx.x;\n"
              "  const int y = blockIdx.y * 8 + threadIdx.y;\n"
              "  float sum = 0.0f;\n"
              "  for (int i = 0; i < n; ++i)\n"
              "    for (int j = 0; j < m; ++j) sum += a[(y + i) * cols + x + j] * b[i * m + j];\n"
              "  c[y * rows + x] = sum;\n"
              "}\n",
              {"k"}));
  ASSERT_EQ(artifact.kernels.size(), 1u);
  EXPECT_LT(artifact.kernels[0].registers, 40);
}

TEST_F(NvrtcBuilder, RefusesAnUnknownArchitectureAndAnUnknownOption) {
  BuildRequest request = Request(kSource, {"scale"});
  request.architecture = "sm_12";
  auto outcome = builder_->Build(request);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(outcome.error().message(), HasSubstr("sm_90"));
  request.architecture = "sm_90";
  request.options = {"--no-such-option"};
  outcome = builder_->Build(request);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(NvrtcBuilder, BuildsForOtherArchitectures) {
  BuildRequest request = Request(kSource, {"scale"});
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    request.architecture = architecture;
    const Artifact artifact = BuildArtifact(request);
    EXPECT_EQ(artifact.architecture, architecture);
    EXPECT_THAT(artifact.ptx, HasSubstr(std::string(".target ") + architecture));
  }
}

TEST_F(NvrtcBuilder, HashesPtxWithoutCommentsAndLines) {
  const Artifact plain = BuildArtifact(Request(kSource, {"scale"}));
  BuildRequest moved = Request("// a comment\n\n" + std::string(kSource), {"scale"});
  moved.file_name = "other.cu";
  const Artifact other = BuildArtifact(moved);
  EXPECT_NE(plain.key, other.key);
  EXPECT_EQ(plain.ptx_hash, other.ptx_hash);
  const Artifact changed = BuildArtifact(Request(
      "extern \"C\" __global__ void scale(float* x, float a) { x[threadIdx.x] /= a; }", {"scale"}));
  EXPECT_NE(plain.ptx_hash, changed.ptx_hash);
}

TEST_F(NvrtcBuilder, AnswersFromTheCacheAlsoAfterARestart) {
  auto folder = TemporaryDirectory::Create("builder");
  ASSERT_TRUE(folder.has_value());
  const BuildRequest good = Request(kSource, {"scale"});
  const BuildRequest bad = Request("__global__ void k() { foo; }", {"k"});
  std::string ptx;
  {
    auto first = MakeNvrtcBuilder({folder->path()});
    auto outcome = first->Build(good);
    ASSERT_TRUE(outcome.has_value());
    EXPECT_FALSE(std::get<Artifact>(*outcome).from_cache);
    ptx = std::get<Artifact>(*outcome).ptx;
    ASSERT_TRUE(first->Build(bad).has_value());
    outcome = first->Build(good);
    EXPECT_TRUE(std::get<Artifact>(*outcome).from_cache);
  }
  auto second = MakeNvrtcBuilder({folder->path()});
  auto outcome = second->Build(good);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(std::get<Artifact>(*outcome).from_cache);
  EXPECT_EQ(std::get<Artifact>(*outcome).ptx, ptx);
  outcome = second->Build(bad);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(std::get<BuildFailure>(*outcome).from_cache);
  EXPECT_THAT(std::get<BuildFailure>(*outcome).first_error, HasSubstr("kernel.cu:1"));
}

TEST_F(NvrtcBuilder, KeepsRequestsApartThatDifferInOneField) {
  const BuildRequest base = Request(kSource, {"scale"});
  const ContentHash key = BuildArtifact(base).key;
  BuildRequest options = base;
  options.options = {"-DX=1"};
  BuildRequest architecture = base;
  architecture.architecture = "sm_80";
  BuildRequest names = base;
  names.name_expressions = {"inner::add"};
  for (const BuildRequest& request : {options, architecture, names}) {
    EXPECT_NE(BuildArtifact(request).key, key);
  }
}

TEST_F(NvrtcBuilder, SeesAChangedHeaderOfAnIncludeFolder) {
  auto folder = TemporaryDirectory::Create("include");
  ASSERT_TRUE(folder.has_value());
  const fs::path header = folder->path() / "mine.cuh";
  BuildRequest request =
      Request("#include \"mine.cuh\"\n__global__ void k(int* x) { *x = VALUE; }\n", {"k"});
  request.options = {"-I" + folder->path().string()};
  ASSERT_TRUE(WriteFileAtomically(header, "#define VALUE 1\n").has_value());
  const Artifact first = BuildArtifact(request);
  ASSERT_TRUE(WriteFileAtomically(header, "#define VALUE 12345\n").has_value());
  const Artifact second = BuildArtifact(request);
  EXPECT_NE(first.ptx_hash, second.ptx_hash);
}

TEST_F(NvrtcBuilder, BuildsConcurrentlyAndOnceForEqualRequests) {
  std::vector<std::thread> threads;
  std::vector<bool> from_cache(8, false);
  std::vector<bool> good(8, false);
  std::mutex mutex;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      BuildRequest request = Request(kSource, {"scale"});
      request.options = {"-DVARIANT=" + std::to_string(i / 4)};
      const auto outcome = builder_->Build(request);
      const std::lock_guard lock(mutex);
      good[i] = outcome.has_value() && std::holds_alternative<Artifact>(*outcome);
      from_cache[i] = good[i] && std::get<Artifact>(*outcome).from_cache;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::count(good.begin(), good.end(), true), 8);
  EXPECT_EQ(std::count(from_cache.begin(), from_cache.end(), true), 6);
}

TEST_F(NvrtcBuilder, CompilesWhatUsualIncludesOffer) {
  std::string text;
  for (const char* header : {"cmath",
                             "math.h",
                             "cstdio",
                             "stdio.h",
                             "cstdlib",
                             "stdlib.h",
                             "cstdint",
                             "stdint.h",
                             "cstring",
                             "string.h",
                             "algorithm",
                             "limits",
                             "climits",
                             "limits.h",
                             "cfloat",
                             "float.h",
                             "cassert",
                             "assert.h",
                             "type_traits",
                             "utility",
                             "iostream",
                             "vector",
                             "string",
                             "cstddef",
                             "stddef.h",
                             "functional",
                             "array",
                             "map",
                             "chrono",
                             "random",
                             "tuple",
                             "cuda.h",
                             "cuda_runtime.h",
                             "cuda_runtime_api.h",
                             "device_launch_parameters.h",
                             "time.h",
                             "numeric",
                             "memory",
                             "sys/time.h",
                             "stdbool.h"}) {
    text += std::string("#include <") + header + ">\n";
  }
  text += R"(
template <typename T>
__device__ std::enable_if_t<std::is_floating_point<T>::value, T> largest() {
  return std::numeric_limits<T>::max();
}
struct Pair { int a; double b; };
extern "C" __global__ void k(float* x, uint32_t* u, int64_t* l, double* d) {
  assert(x != nullptr);
  constexpr float limit = INFINITY;
  x[9] = limit;
  x[0] = std::sqrt(x[1]) + std::max(x[2], 1.0f) + std::min(3, 4) + fmaxf(x[3], -INFINITY);
  x[1] = std::numeric_limits<float>::infinity() + FLT_MAX + largest<float>() + NAN;
  x[2] = std::abs(x[4]) + std::exp(x[5]) + std::fabs(x[6]) + std::pow(x[1], 2.0f) + std::isnan(x[2]);
  static_assert(sizeof(std::sqrt(1.0f)) == sizeof(float), "the float overload");
  u[0] = UINT32_MAX + UINT_MAX + INT_MAX + CHAR_BIT;
  l[0] = INT64_MAX + std::numeric_limits<int64_t>::lowest() + static_cast<int64_t>(SIZE_MAX);
  d[0] = M_PI + DBL_EPSILON + HUGE_VAL + std::floor(d[1]) + std::numeric_limits<double>::quiet_NaN();
  float a = x[7], b = x[8];
  std::swap(a, b);
  x[7] = a + std::move(b) + std::clamp(a, 0.0f, 1.0f) + offsetof(Pair, b);
  const auto p = std::make_pair(1, 2.0f);
  std::array<float, 4> four{};
  four[1] = p.second;
  x[8] = four[1] + std::plus<float>()(1.0f, 2.0f);
  std::size_t n = 3;
  std::memcpy(x, u, n);
  static_assert(std::is_same_v<std::decay_t<const int&>, int>, "");
  static_assert(std::is_unsigned_v<std::make_unsigned_t<int>> && !std::is_signed_v<unsigned>, "");
  static_assert(std::make_index_sequence<5>::size() == 5, "");
  printf("%d\n", 3);
}
)";
  const Artifact artifact = BuildArtifact(Request(text, {"k"}));
  EXPECT_EQ(artifact.log, "");
}

TEST_F(NvrtcBuilder, HasWithoutIncludesWhatNvccHasWithoutIncludes) {
  BuildArtifact(
      Request("__global__ void k(float* x, uint32_t n) {\n"
              "  uint i = threadIdx.x;\n"
              "  if (i < n) x[i] = fminf(x[i], INFINITY) + INT_MAX + M_PI;\n}\n",
              {"k"}));
}

TEST_F(NvrtcBuilder, HostHeadersBringTraitsAlong) {
  for (const char* header : {"iostream", "vector", "random", "chrono", "memory"}) {
    BuildArtifact(Request("#include <" + std::string(header) +
                              ">\n__global__ void k(int* x) { x[0] = std::is_same<int, "
                              "long>::value; }\n",
                          {"k"}));
  }
}

TEST_F(NvrtcBuilder, TraitsOfSeveralTypesAreThoseOfTheStandard) {
  BuildArtifact(Request(
      "#include <type_traits>\n"
      "struct Base {};\nstruct Derived : Base {};\nusing namespace std;\n"
      "static_assert(is_same_v<common_type_t<int, float>, float>, \"\");\n"
      "static_assert(is_same_v<common_type_t<char, short, unsigned>, unsigned>, \"\");\n"
      "static_assert(is_same_v<common_type_t<const double&>, double>, \"\");\n"
      "static_assert(is_same_v<common_type_t<Derived*, Base*>, Base*>, \"\");\n"
      "static_assert(is_same_v<remove_cvref_t<const int&>, int>, \"\");\n"
      "static_assert(conjunction_v<is_integral<int>, is_signed<int>>, \"\");\n"
      "static_assert(!conjunction_v<is_integral<float>, is_signed<float>>, \"\");\n"
      "static_assert(disjunction_v<is_integral<float>, is_pointer<int*>> && !disjunction_v<>,\n"
      "              \"\");\n"
      "static_assert(negation_v<is_void<int>>, \"\");\n"
      "template <class A, class B> __device__ common_type_t<A, B> add(A a, B b) { return a + b; }\n"
      "__global__ void k(double* x) { x[0] = add(1, 2.5f); }\n",
      {"k"}));
}

TEST_F(NvrtcBuilder, CompilesCudasOwnHeadersBesideTheStubs) {
  if (!has_headers_) {
    GTEST_SKIP() << "no CUDA headers here";
  }
  BuildArtifact(
      Request("#include <cstdint>\n#include <type_traits>\n#include <cuda_runtime.h>\n"
              "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n"
              "#include <math_constants.h>\n#include <vector_types.h>\n"
              "#include <cooperative_groups.h>\n#include <cub/block/block_reduce.cuh>\n"
              "#include <cuda/std/limits>\n#include <limits>\n#include <algorithm>\n"
              "__global__ void k(__half* x, float* y) {\n"
              "  y[0] = __half2float(__hadd(x[0], x[1])) + CUDART_INF_F;\n"
              "  auto block = cooperative_groups::this_thread_block();\n"
              "  block.sync();\n"
              "  __shared__ typename cub::BlockReduce<float, 128>::TempStorage storage;\n"
              "  y[1] = cub::BlockReduce<float, 128>(storage).Sum(y[threadIdx.x]);\n}\n",
              {"k"}));
}

TEST(NvrtcBuilderWithoutLibraries, SaysHowToGetThem) {
  auto folder = TemporaryDirectory::Create("no_cuda");
  ASSERT_TRUE(folder.has_value());
  const char* before = std::getenv("OPTIML_CUDA_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("OPTIML_CUDA_HOME", folder->path().c_str(), 1);
  auto builder = MakeNvrtcBuilder({});
  BuildRequest request;
  request.device_text = kSource;
  const auto outcome = builder->Build(request);
  if (before == nullptr) {
    unsetenv("OPTIML_CUDA_HOME");
  } else {
    setenv("OPTIML_CUDA_HOME", saved.c_str(), 1);
  }
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(outcome.error().message(), HasSubstr("pip install"));
}

}  // namespace
}  // namespace optiml
