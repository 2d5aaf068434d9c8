#include "verify/promoted_original.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "task/task_file.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

constexpr char kKernels[] = R"(#include <cmath>
#include <cuda_runtime.h>
__global__ void normalise(const float* x, float* y, int* count, float eps, int n) {
  extern __shared__ float sums[];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    sum += expf(v.x) + __expf(v.y) + std::exp(v.z) + fmaf(v.w, v.w, 1.0f);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const float scale = sums[0] < INFINITY ? rsqrtf(sums[0] + eps) : NAN;
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = __fdividef(x[i], 3.0f) * scale;
  if (threadIdx.x == 0) *count = n;
}
extern "C" void run(const float* x, float* y, int* count, float eps, int n) {
  float* copy;
  cudaMalloc(&copy, n * sizeof(float));
  cudaMemcpy(copy, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  normalise<<<1, 64, 64 * sizeof(float)>>>(copy, y, count, eps, n);
  cudaFree(copy);
}
)";

constexpr char kTask[] = R"([task]
name = "run"
[sizes]
timed   = [ { n = 4096 } ]
checked = [ { n = 64 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
count = { dtype = "i32", shape = [1], role = "out" }
eps = { dtype = "f32", value = 1e-5 }
n = {}
)";

class PromotedOriginalTest : public ::testing::Test {
 protected:
  PromotedOriginalTest() : folder_(*TemporaryDirectory::Create("optiml-promoted-test-")) {}

  // By buffer argument, or the reason in `why_not_`.
  std::vector<Tensor> Run(const std::string& kernels, const std::string& toml = kTask) {
    EXPECT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", kernels));
    Result<KernelTask> task = ParseTaskFile(toml, "task.toml", folder_.path(), {});
    EXPECT_TRUE(task) << task.error().message();
    const SizeBindings sizes = task->timed.front().sizes;
    inputs_ = *MakeInputs(*task, sizes, 7);
    const auto builder = MakeNvrtcBuilder({});
    auto device = EmulatorDevice::Make({});
    EXPECT_TRUE(device) << device.error().message();
    auto made = PromotedOriginal::Make(*task, {{sizes, inputs_.scalars, "n=4096"}},
                                       {*builder, (*device)->Info().architecture, {}});
    EXPECT_TRUE(made) << made.error().message();
    if (auto* reason = std::get_if<std::string>(&*made)) {
      why_not_ = *reason;
      return {};
    }
    auto outcome = std::get<PromotedOriginal>(*made).Run(inputs_, 0, 1'000'000'000, **device);
    EXPECT_TRUE(outcome) << outcome.error().message();
    if (auto* reason = std::get_if<std::string>(&*outcome)) {
      why_not_ = *reason;
      return {};
    }
    return std::get<std::vector<Tensor>>(*outcome);
  }

  TemporaryDirectory folder_;
  TaskInputs inputs_;
  std::string why_not_;
};

TEST_F(PromotedOriginalTest, ComputesInDouble) {
  const std::vector<Tensor> outputs = Run(kKernels);
  ASSERT_EQ(outputs.size(), 3U) << why_not_;
  EXPECT_TRUE(outputs[0].bytes.empty());  // an input
  EXPECT_TRUE(outputs[2].bytes.empty());  // an integer is the original's to say
  const Tensor& x = inputs_.buffers[0];
  double sum = static_cast<double>(1e-5f);
  for (int64_t i = 0; i < 4096; i += 4) {
    sum += std::exp(x.At(i)) + std::exp(x.At(i + 1)) + std::exp(x.At(i + 2)) +
           x.At(i + 3) * x.At(i + 3) + 1;
  }
  ASSERT_EQ(outputs[1].dtype, DType::kF64);
  for (int64_t i = 0; i < 4096; ++i) {
    const double expected = x.At(i) / 3 / std::sqrt(sum);
    ASSERT_NEAR(outputs[1].At(i), expected, 1e-13 * std::fabs(expected)) << i;
  }
}

TEST_F(PromotedOriginalTest, SaysWhyItCannot) {
  std::string bits = kKernels;
  bits.replace(bits.find("__fdividef(x[i], 3.0f)"), 22, "__uint_as_float(*(unsigned*)x[i])");
  EXPECT_TRUE(Run(bits).empty());
  EXPECT_THAT(why_not_, HasSubstr("in double precision it is refused at"));
  std::string integers = kTask;
  integers.replace(integers.find("y = { dtype = \"f32\""), 19, "y = { dtype = \"i32\"");
  EXPECT_TRUE(Run(kKernels, integers).empty());
  EXPECT_EQ(why_not_, "it has no output of floats");
}

TEST_F(PromotedOriginalTest, AFaultIsAReason) {
  std::string fixed = kKernels;  // shared memory for 64 floats, whatever they are
  fixed.replace(fixed.find("64 * sizeof(float)>>>"), 21, "256>>>");
  EXPECT_TRUE(Run(fixed).empty());
  EXPECT_THAT(why_not_, HasSubstr("in double precision it fails: "));
}

TEST(PromoteFloats, StandsBehindTheIncludes) {
  const std::string text = PromoteFloats("// a\n#include <a.h>\n  #  include \"b.h\"\nfloat x;\n");
  EXPECT_TRUE(text.starts_with("// a\n#include <a.h>\n  #  include \"b.h\"\n#define "));
  EXPECT_TRUE(text.ends_with("\nfloat x;\n"));
  EXPECT_TRUE(PromoteFloats("float x;").starts_with("#define "));
  EXPECT_TRUE(PromoteFloats("#include <a.h>").starts_with("#include <a.h>\n#define "));
  EXPECT_TRUE(PromoteFloats("").starts_with("#define "));
}

TEST(PromoteFloats, LiteralsKeepTheirValue) {
  const auto last_line = [](const std::string& text) {
    const std::string whole = PromoteFloats(text);
    return whole.substr(whole.rfind('\n') + 1);
  };
  EXPECT_EQ(last_line("a(1.0f,.5F,1e-3f,2.f, 1.5e+2f)"),
            "a(double(1.0f),double(.5F),double(1e-3f),double(2.f), double(1.5e+2f))");
  for (const char* same : {"0x1f+0xe-1f0", "1.0", "x1f", "a_2f", "\"1.0f\"", "'\\''", "/* 1.0f */",
                           "1u", "3-f", "// 1.0f"}) {
    EXPECT_EQ(last_line(same), same);
  }
  EXPECT_EQ(last_line("\"\\\"\"1.f"), "\"\\\"\"double(1.f)");
}

}  // namespace
}  // namespace optiml
