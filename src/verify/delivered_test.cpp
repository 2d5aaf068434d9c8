// How plans are made of a task's [launch], and the check of the file as delivered.
#include "verify/delivered.h"

#include <gmock/gmock.h>

#include "verify/verifier_test_support.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing_verifier::Honest;

using testing_verifier::kSource;
using testing_verifier::kTask;
using testing_verifier::VerifierTest;

TEST_F(VerifierTest, AKernelWithoutLauncherIsLaunchedAsTheTaskSays) {
  const std::string toml = std::string(kTask) + R"toml([launch]
kernel = "scale_kernel"
grid   = ["ceil_div(n, 64)"]
block  = [64]
)toml";
  Start(toml);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(device_.calls.back().plan, HasSubstr("launch scale_kernel grid"));
}

constexpr char kLaunchTable[] = R"toml([launch]
kernel = "scale_kernel"
grid   = ["ceil_div(n, 64)"]
block  = [64]
)toml";

TEST_F(VerifierTest, ACandidateForALaunchTableMayBringItsOwnLauncher) {
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  std::string text = kSource;
  text.replace(text.find("void scale("), 11, "void run_scale_kernel(");
  text.replace(text.find("64>>>"), 5, "32>>>");
  Evaluation evaluation;
  const auto own = verifier_->Prepare(KernelSource(text, "scale_kernel", "c.cu"), evaluation);
  ASSERT_TRUE(own && std::holds_alternative<PreparedCandidate>(*own)) << Reason(evaluation);
  EXPECT_THAT(std::get<PreparedCandidate>(*own).timed_plans[0].Format(), HasSubstr("block 32"));
}

TEST_F(VerifierTest, ALaunchTableBesideALauncherOfItsNameOrOtherParametersIsRefused) {
  std::string text = kSource;
  text.replace(text.find("void scale("), 11, "void run_scale_kernel(");
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", text));
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_THAT(BatteryMessage(), HasSubstr("\"run_scale_kernel\" would take the place of [launch]"));
  text = std::string(kSource).substr(0, std::string(kSource).find("extern"));
  text.replace(text.find("const float* x, float* y"), 24, "const double* x, float* y");
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "kernel.cu", text));
  Start(std::string(kTask) + kLaunchTable);
  EXPECT_THAT(BatteryMessage(), HasSubstr("task.toml:7: x is f32 in the task, but f64 in "));
}

TEST_F(VerifierTest, ACandidateForALaunchTableHasTheTasksParametersUnderAnyNames) {
  Start(std::string(kTask) + kLaunchTable);
  const auto judged = [&](const char* from, const char* to) {
    std::string text = std::string(kSource).substr(0, std::string(kSource).find("extern"));
    EXPECT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), std::string(from).size(), to);
    Evaluation evaluation;
    const auto prepared =
        verifier_->Prepare(KernelSource(text, "scale_kernel", "c.cu"), evaluation);
    return prepared && std::holds_alternative<PreparedCandidate>(*prepared) ? "prepared"
                                                                            : Reason(evaluation);
  };
  EXPECT_THAT(judged("const float* x, float* y", "const double* x, float* y"),
              HasSubstr("x is f32 in the task, but f64 in "));
  EXPECT_EQ(judged("const float* x, float* y", "const float* __restrict__ x, float* y"),
            "prepared");
}

TEST_F(VerifierTest, ALaunchBeyondTheDeviceIsRejectedBeforeItRuns) {
  Start();
  Judge(Honest);
  Evaluation evaluation;
  std::string text = std::string(kSource) + "__device__ int many_registers;\n";
  text.replace(text.find("64>>>"), 5, "512>>>");
  const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
  ASSERT_TRUE(prepared);
  const size_t calls = device_.calls.size();
  ASSERT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation));
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L0: the launch of scale_kernel at line 7 cannot run: 255 registers"));
  EXPECT_EQ(device_.calls.size(), calls);
}

class DeliveredTest : public VerifierTest {
 protected:
  DeliveredReport Deliver(const std::string& written) {
    Start();
    EXPECT_EQ(BatteryMessage(), "passed");
    Evaluation evaluation;
    const KernelSource source(kSource, "scale", "best.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(prepared);
    const auto file = folder_.path() / "best.cu";
    EXPECT_TRUE(WriteFileAtomically(file, written));
    auto report = CheckDelivered(file, task_, std::get<PreparedCandidate>(*prepared), *verifier_,
                                 DeliveredOptions());
    EXPECT_TRUE(report) << report.error().message();
    return *std::move(report);
  }
};

TEST_F(DeliveredTest, TheVeryFilePasses) {
  const DeliveredReport report = Deliver(kSource);
  EXPECT_EQ(Reason(report.evaluation), "accepted");
  EXPECT_EQ(report.nvcc, "nvcc not present");
}

TEST_F(DeliveredTest, OtherLaunchesOrOtherCodeAreRejected) {
  std::string other = kSource;
  other.replace(other.find("64>>>"), 5, "32>>>");
  EXPECT_THAT(Reason(Deliver(other).evaluation),
              HasSubstr("delivered: best.cu: its launches at a checked shape are not those"));
  other = kSource;
  other.replace(other.find("a * x[i]"), 8, "x[i] * a");
  EXPECT_THAT(Reason(Deliver(other).evaluation), HasSubstr("its PTX is not the one"));
  EXPECT_THAT(Reason(Deliver("nonsense").evaluation), HasSubstr("delivered: best.cu: parse: "));
}

}  // namespace
}  // namespace optiml
