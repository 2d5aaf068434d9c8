#include "verify/verifier.h"

#include <gmock/gmock.h>

#include "task/npy.h"
#include "verify/compare.h"
#include "verify/verifier_test_support.h"

namespace optiml {
namespace {

using testing::HasSubstr;
using testing_verifier::Honest;
using testing_verifier::Kernel;
using testing_verifier::kSource;
using testing_verifier::kTask;
using testing_verifier::VerifierTest;

TEST_F(VerifierTest, AcceptsAnHonestCandidateAndSaysWhatItDid) {
  Start();
  const Evaluation evaluation = Judge(Honest);
  EXPECT_EQ(Reason(evaluation), "accepted");
  ASSERT_TRUE(evaluation.verify);
  EXPECT_GE(evaluation.verify->cases_run, 20);
  EXPECT_EQ(evaluation.verify->stage_reached, Stage::kL1);
  EXPECT_LE(evaluation.verify->max_budget_ratio, 1);
  EXPECT_TRUE(evaluation.plan_hash);
  EXPECT_TRUE(evaluation.ptx_hash);
  std::vector<Stage> stages;
  for (const StageTime& time : evaluation.stage_times) {
    stages.push_back(time.stage);
  }
  EXPECT_THAT(stages, testing::ElementsAre(Stage::kParse, Stage::kPlan, Stage::kBuild, Stage::kL0,
                                           Stage::kL1));
}

TEST_F(VerifierTest, TheReferenceRunsOncePerCaseForAllCandidates) {
  Start();
  Judge(Honest);
  const int runs = reference_.runs;
  Judge(Honest);
  EXPECT_EQ(reference_.runs, runs);
}

TEST_F(VerifierTest, AReferenceThatIsInterruptedEndsTheCheckWhicheverRunItIs) {
  Start();
  ASSERT_EQ(BatteryMessage(), "passed");
  const int all = reference_.runs;
  ASSERT_GT(all, 10);
  for (int run = 1; run <= all; run += run < 10 ? 1 : 7) {
    reference_.runs = 0;
    reference_.interrupted_at = run;
    Start();
    EXPECT_EQ(BatteryMessage(), "interrupted") << run;
  }
}

TEST_F(VerifierTest, EveryCaseShapeIsPoisonedWithBothPatterns) {
  Start();
  Judge(Honest);
  bool seen[2] = {false, false};
  for (const auto& call : device_.calls) {
    EXPECT_TRUE(call.buffers[0].read_only);
    EXPECT_TRUE(call.buffers[1].bytes.empty());
    seen[0] |= call.buffers[1].poison == kPoisonBytes[0];
    seen[1] |= call.buffers[1].poison == kPoisonBytes[1];
  }
  EXPECT_TRUE(seen[0] && seen[1]);
}

TEST_F(VerifierTest, UnwrittenOutputIsFoundAndNamed) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    const float last = y.back();
    Honest(x, y, a, n, before);
    y.back() = n > 1 ? last : y.back();  // the tail stays as it was
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L1: at n=67, declared fills, seed 1: y[66] is unwritten"));
  EXPECT_TRUE(evaluation.verify->first_mismatch->unwritten);
}

TEST_F(VerifierTest, WrongElementsAreNamedWithBothValues) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (n == 67) {
      y[10] += 1;
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("y[10]: expected"));
  EXPECT_EQ(evaluation.verify->mismatch_count, 1);
  EXPECT_EQ(evaluation.verify->failing_case, "n=67, declared fills, seed 1");
}

TEST_F(VerifierTest, AnIgnoredScalarIsFound) {
  Start();
  const Evaluation evaluation =
      Judge([](auto& x, auto& y, float, int n, int before) { Honest(x, y, 1.5f, n, before); });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: "));
}

TEST_F(VerifierTest, HalfPrecisionInsideIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    for (float& v : y) {
      std::byte half[2];
      StoreElement(DType::kF16, v, half);
      v = static_cast<float>(LoadElement(DType::kF16, half));
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: "));
}

TEST_F(VerifierTest, CodeForAlignedSizesRunsToo) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (n % 4 == 0) {
      y[2] = 0;  // the vector path is wrong; no checked size is a multiple of 4
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("n=1024"));
}

TEST_F(VerifierTest, SpecialDistributionsAreTried) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (std::all_of(x.begin(), x.end(), [](float v) { return v < 0; }) && n > 8) {
      y[0] = 0;  // a fast path for negative data
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("fill all_negative"));
}

TEST_F(VerifierTest, StateKeptBetweenLaunchesIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    if (before == 0) {
      Honest(x, y, a, n, before);  // the second launch relies on the first
    }
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("on a later call, y[0] is unwritten"));
}

TEST_F(VerifierTest, ResultsKeptFromOtherInputsAreFound) {
  Start();
  std::vector<float> kept;
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    if (before == 0) {
      Honest(x, y, a, n, before);
      kept = y;
    }
    y = kept;  // same pointers, new contents
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: at n=1, declared fills, seed 1: on a later call, "
                                            "y[0]: expected"));
}

TEST_F(VerifierTest, WorkThatIsSparedOnASecondCallIsFound) {
  Start();
  std::vector<float> kept_x;
  std::vector<float> kept_y;
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    if (before > 0 && x == kept_x) {
      y = kept_y;  // always right, and no work at all
      work_ = 5;
      return;
    }
    Honest(x, y, a, n, before);
    kept_x = x;
    kept_y = y;
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L0: at n=1, declared fills, seed 1: a second call with the same inputs "
                        "does 5 % of the first one's work"));
}

TEST_F(VerifierTest, WorkThatOneLaunchIsSparedIsFound) {
  Start();
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    work_ = 100'000;
    launch_work_ = {before > 0 ? uint64_t{20} : uint64_t{2000}, 98'000};
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L0: at n=1, declared fills, seed 1: a second call with "
                        "the same inputs does 1 % of the first one's work in "
                        "its launch number 1"));
}

TEST_F(VerifierTest, AFewStepsOfALaunchAreNothing) {
  Start();
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    work_ = 100'000;
    launch_work_ = {before > 0 ? uint64_t{20} : uint64_t{200}, 98'000};
  });
  EXPECT_EQ(Reason(evaluation), "accepted");
}

TEST_F(VerifierTest, AddressesAndClocksMustNotShow) {
  Start();
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, elsewhere_ ? -a : a, n, before);
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("L1: at n=1, declared fills, seed 1: where addresses "
                                            "and clocks are those of another machine, y[0]"));
}

TEST_F(VerifierTest, WhereAnOutputIsWrongIsDrawn) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (n > 60) {
      y[3] = -1000;
    }
  });
  ASSERT_TRUE(evaluation.verify->error_map);
  const ErrorMap& map = *evaluation.verify->error_map;
  EXPECT_EQ(map.argument, "y");
  EXPECT_NE(map.cells[3], kMapRight);
  EXPECT_EQ(map.cells[2], kMapRight);
  EXPECT_EQ(map.cells[4], kMapRight);
}

TEST_F(VerifierTest, TheOrderOfBlocksMustNotShow) {
  Start();
  const Evaluation evaluation = Judge([&](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    if (order_ == BlockOrder::kLastToFirst && n == 67) {
      y[66] = 0;  // waits for what an earlier block leaves behind
    }
  });
  EXPECT_THAT(Reason(evaluation),
              HasSubstr("L1: at n=67, declared fills, seed 1: with its blocks from last to first, "
                        "y[66]: expected"));
}

TEST_F(VerifierTest, AChangedInputIsFound) {
  Start();
  const Evaluation evaluation = Judge([](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    x[0] = 3;
  });
  EXPECT_THAT(Reason(evaluation), HasSubstr("the input x[0] was changed"));
}

TEST_F(VerifierTest, FindingsFaultsAndHangsAreRejections) {
  Start();
  Judge(Honest);
  const auto reason = [&] {
    Evaluation evaluation;
    const KernelSource source(std::string(kSource) + "// b\n", "scale", "candidate.cu");
    const auto prepared = verifier_->Prepare(source, evaluation);
    EXPECT_TRUE(verifier_->Verify(std::get<PreparedCandidate>(*prepared), evaluation));
    return Reason(evaluation);
  };
  outcome_.findings = {{"race", "scale_kernel", "threads 3 and 4 write s[1]", 4}};
  EXPECT_EQ(reason(),
            "L0: at n=1, declared fills, seed 1: scale_kernel: race: threads 3 and 4 write s[1] "
            "(line 4)");
  outcome_ = {};
  outcome_.status = RunStatus::kTimedOut;
  outcome_.reason = "the step limit was reached";
  EXPECT_THAT(reason(), HasSubstr("L0: at n=1, declared fills, seed 1: the step limit"));
  outcome_.status = RunStatus::kUnsupported;
  outcome_.reason = "instruction wgmma at line 9";
  EXPECT_THAT(reason(), HasSubstr("not checked by fake: instruction wgmma at line 9"));
}

TEST_F(VerifierTest, SourcesThatCannotBePreparedAreRejections) {
  Start();
  const auto reason = [&](const std::string& text) {
    Evaluation evaluation;
    const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
    EXPECT_TRUE(prepared);
    EXPECT_TRUE(std::holds_alternative<Rejection>(*prepared));
    return Reason(evaluation);
  };
  EXPECT_THAT(reason("this is not CUDA"), HasSubstr("parse: c.cu:1"));
  EXPECT_THAT(reason("extern \"C\" void other(int n) {}"), HasSubstr("plan: "));
  EXPECT_THAT(reason("extern \"C\" void scale(const float* x, float* y, int n) {}"),
              HasSubstr("plan: task.toml:"));
  EXPECT_THAT(reason(std::string(kSource) + "__device__ int does_not_compile;"),
              HasSubstr("build: kernel.cu:3: no such thing"));
}

TEST_F(VerifierTest, ACandidateMayRenameItsParameters) {
  Start();
  Evaluation evaluation;
  std::string text = kSource;
  for (size_t at = text.find("float* x"); at != std::string::npos; at = text.find("float* x")) {
    text.replace(at, 8, "float* input");
  }
  for (size_t at = text.find("x[i]"); at != std::string::npos; at = text.find("x[i]")) {
    text.replace(at, 4, "input[i]");
  }
  text.replace(text.find("(x, y"), 5, "(input, y");
  const auto prepared = verifier_->Prepare(KernelSource(text, "scale", "c.cu"), evaluation);
  ASSERT_TRUE(prepared);
  EXPECT_TRUE(std::holds_alternative<PreparedCandidate>(*prepared)) << Reason(evaluation);
}

TEST_F(VerifierTest, AReferenceThatDisagreesWithTheOriginalIsAnError) {
  reference_.function = [](double x, double, double a) { return x * a + 0.5; };
  Start();
  EXPECT_THAT(BatteryMessage(),
              HasSubstr("the reference disagrees with the original kernel at n=1, declared fills, "
                        "seed 1: y[0]: expected"));
}

TEST_F(VerifierTest, ARangeReferenceIsComparedWithTheWholeOneOncePerCheckedRow) {
  reference_.range_error = 0;
  Start();
  EXPECT_EQ(BatteryMessage(), "passed");
  EXPECT_EQ(reference_.range_runs, 3);  // one range of the one element, two of the 67
  reference_.range_error = 1e-3;
  Start();
  EXPECT_THAT(BatteryMessage(), HasSubstr("scale_reference_range on elements [0, 1) gives "));
}

TEST_F(VerifierTest, AnOriginalThatLeavesOutputsUnwrittenIsAnError) {
  kernel_ = [](auto& x, auto& y, float a, int n, int before) { Honest(x, y, a, n - 1, before); };
  Start();
  EXPECT_THAT(BatteryMessage(), HasSubstr("the original kernel leaves outputs unwritten at n=1"));
}

TEST_F(VerifierTest, FillsOutsideOfTheOriginalsDomainAreLeftOutAndListed) {
  // The kernel is only right for small numbers, which is all that the task promises.
  const Kernel narrow = [](auto& x, auto& y, float a, int n, int before) {
    Honest(x, y, a, n, before);
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = std::fabs(x[i]) > 1000 ? 0 : y[i];
    }
  };
  kernel_ = narrow;
  Start();
  EXPECT_EQ(Reason(Judge(narrow)), "accepted");
  EXPECT_THAT(verifier_->DroppedCases(), testing::Contains(HasSubstr("fill mixed_scale, seed")));
}

TEST_F(VerifierTest, TheOriginalItselfCanBeTheReference) {
  Start(kTask, false);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(Reason(Judge([](auto& x, auto& y, float a, int n, int before) {
                Honest(x, y, a * 1.001f, n, before);
              })),
              HasSubstr("L1: "));
}

TEST_F(VerifierTest, TheOriginalsOwnErrorIsMeasuredWhereTheDeviceFollowsIt) {
  // Some 130 roundoffs off: within 8 floors, not within 2 (with the conditioning, of 38).
  const Kernel inexact = [](auto& x, auto& y, float a, int n, int) {
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      y[at] = a * x[at] * (1 + 130 * 0x1p-24F);
    }
  };
  const std::string toml = std::string(kTask) + "[tolerance]\nreduction_length = \"1\"\n";
  Start(toml, false);
  EXPECT_EQ(Reason(Judge(inexact)), "accepted");
  int followed = 0;
  device_.on_run = [&](const RunRequest& request) -> Result<RunOutcome> {
    OPTIML_ASSIGN(RunOutcome outcome, Execute(request));
    if (request.buffers[1].shadow != DType::kF32) {
      return outcome;
    }
    ++followed;
    float a = 0;
    std::memcpy(&a, std::get<1>(std::get<KernelLaunch>(request.plan->steps[0]).arguments[2]).data(),
                4);
    outcome.shadows.resize(2);
    for (size_t at = 0; at < request.buffers[0].bytes.size(); at += 4) {
      float x = 0;
      std::memcpy(&x, request.buffers[0].bytes.data() + at, 4);
      outcome.shadows[1].push_back(static_cast<double>(a) * static_cast<double>(x));
    }
    return outcome;
  };
  kernel_ = Honest;
  Start(toml, false);
  EXPECT_THAT(Reason(Judge(inexact)), HasSubstr("y[0]"));
  EXPECT_GT(followed, 0);
  kernel_ = Honest;
  Start(toml, false);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
}

TEST_F(VerifierTest, NotesOfTheDevicesChecksAreHandedOn) {
  Start();
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_TRUE(verifier_->Notes().empty());
  outcome_.notes = {"race check incomplete: for a test"};
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_EQ(verifier_->Notes(), std::vector<std::string>{"race check incomplete: for a test"});
}

TEST_F(VerifierTest, InOutBuffersAreRestoredBeforeTheSecondLaunch) {
  const Kernel add = [](auto& x, auto& y, float a, int n, int) {
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      y[i] += a * x[i];
    }
  };
  kernel_ = add;
  reference_.function = [](double x, double y, double a) { return y + a * x; };
  std::string toml = kTask;
  toml.replace(toml.find("role = \"out\""), 12, "role = \"inout\"");
  Start(toml);
  EXPECT_EQ(Reason(Judge(add)), "accepted");
  EXPECT_THAT(Reason(Judge(Honest)), HasSubstr("L1: "));  // forgets what was there
}

TEST_F(VerifierTest, RecordedTensorsServeTheirRow) {
  Tensor x = MakeTensor(DType::kF32, {67});
  Tensor y = MakeTensor(DType::kF64, {67});
  for (size_t i = 0; i < 67; ++i) {
    StoreElement(DType::kF32, 0.125 * static_cast<double>(i), x.bytes.data() + 4 * i);
    StoreElement(DType::kF64, 0.25 * static_cast<double>(i), y.bytes.data() + 8 * i);
  }
  ASSERT_TRUE(SaveNpy(folder_.path() / "x.npy", x));
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", y));
  const std::string toml = R"([sizes]
timed   = [ { n = 4096 } ]
checked = [ { n = 67 } ]
[args]
x = { dtype = "f32", shape = ["n"] }
y = { dtype = "f32", shape = ["n"], role = "out" }
a = { dtype = "f32", value = 2.0 }
n = {}
[reference]
kind  = "recorded"
files = { x = "x.npy", y = "y.npy" }
)";
  Start(toml, false);
  EXPECT_EQ(Reason(Judge(Honest)), "accepted");
  EXPECT_THAT(Reason(Judge([](auto& in, auto& out, float, int n, int before) {
                Honest(in, out, 2.1f, n, before);
              })),
              HasSubstr("L1: at n=67, recorded inputs: y[1]: expected 0.25, got"));
  StoreElement(DType::kF64, 17, y.bytes.data() + 8);
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", y));
  kernel_ = Honest;
  Start(toml, false);
  EXPECT_THAT(BatteryMessage(), HasSubstr("the reference disagrees with the original kernel at "
                                          "n=67, recorded inputs: y[1]: expected 17"));
  Tensor short_y = MakeTensor(DType::kF64, {66});
  ASSERT_TRUE(SaveNpy(folder_.path() / "y.npy", short_y));
  Start(toml, false);
  EXPECT_THAT(BatteryMessage(), HasSubstr("y.npy: y has shape [66] in the file, but [67]"));
}

}  // namespace
}  // namespace optiml
