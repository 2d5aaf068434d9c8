// What every rewrite emits for every spelling of its computation (src/rewrite/spelled/) is built by
// NVRTC, run on the emulator with all its checks, and compared with the values that must come out:
// at odd sizes, where rows cannot be aligned and tiles stick out, and at larger ones, where packs
// and whole tiles are used. Skipped without NVRTC.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "build/builder.h"
#include "device/emulator_device.h"
#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using Values = std::vector<std::vector<double>>;

struct Workshop {
  std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
  std::unique_ptr<Device> device = *MakeEmulatorDevice({});

  static Workshop& Get() {
    static Workshop workshop;
    return workshop;
  }
};

// The argument of the launcher that is written.
size_t WrittenArgument(const SpelledShape& shape) {
  size_t written = 0;
  while (shape.arguments[written].role != SpelledArgument::kOutput &&
         shape.arguments[written].role != SpelledArgument::kInPlace) {
    ++written;
  }
  return written;
}

std::vector<std::byte> Packed(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * DTypeBytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    StoreElement(dtype, values[i], bytes.data() + i * DTypeBytes(dtype));
  }
  return bytes;
}

// What the written buffer holds after the plan; fails the test when the run does or a check finds
// something.
std::vector<double> Run(const SpelledShape& shape, const Artifact& artifact, const LaunchPlan& plan,
                        const Values& arguments) {
  const size_t written = WrittenArgument(shape);
  RunRequest request;
  request.artifact = &artifact;
  request.plan = &plan;
  request.checks = CheckLevel::kFull;
  request.step_limit = 500'000'000;
  size_t place = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (buffer.argument < 0) {
      continue;
    }
    const auto index = static_cast<size_t>(buffer.argument);
    const SpelledArgument& argument = shape.arguments[index];
    place = index == written ? request.buffers.size() : place;
    BufferContents contents;
    contents.bytes = Packed(argument.dtype, arguments[index]);
    contents.read_only = index != written;
    contents.element_bytes = static_cast<uint32_t>(DTypeBytes(argument.dtype));
    request.buffers.push_back(std::move(contents));
  }
  const Result<RunOutcome> outcome = Workshop::Get().device->Run(request);
  if (!outcome || outcome->status != RunStatus::kCompleted || !outcome->findings.empty()) {
    ADD_FAILURE() << (outcome
                          ? fmt::format("{}: {}", RunStatusName(outcome->status), outcome->reason)
                          : outcome.error().message());
    return {};
  }
  const DType dtype = shape.arguments[written].dtype;
  const std::vector<std::byte>& bytes = outcome->buffers[place];
  std::vector<double> values;
  for (size_t at = 0; at < bytes.size(); at += DTypeBytes(dtype)) {
    values.push_back(LoadElement(dtype, bytes.data() + at));
  }
  return values;
}

// The first element that is wrong; empty when none is.
std::string Difference(const std::vector<double>& expected, const std::vector<double>& got,
                       double tolerance) {
  if (expected.size() != got.size()) {
    return fmt::format("{} elements instead of {}", got.size(), expected.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double allowed = tolerance * std::max(1.0, std::abs(expected[i]));
    if (!(std::abs(got[i] - expected[i]) <= allowed)) {
      return fmt::format("[{}]: expected {}, got {}", i, expected[i], got[i]);
    }
  }
  return "";
}

void ExpectRight(const SpelledShape& shape, const KernelCase& kernel, const std::string& text) {
  const ast::SourceUnit unit = Parse(KernelSource(text, kernel.entry, "emitted.cu"));
  std::vector<LaunchPlan> plans;
  BuildRequest build;
  build.device_text = unit.device_text;
  build.file_name = "emitted.cu";
  for (const Sizes& sizes : shape.checked) {
    plans.push_back(PlanOf(unit, kernel.entry, ArgumentsAt(shape, sizes)));
    for (const std::string& name : plans.back().Kernels()) {
      if (std::find(build.name_expressions.begin(), build.name_expressions.end(), name) ==
          build.name_expressions.end()) {
        build.name_expressions.push_back(name);
      }
    }
  }
  const Result<BuildOutcome> built = Workshop::Get().builder->Build(build);
  ASSERT_TRUE(built) << built.error().message();
  if (const auto* failure = std::get_if<BuildFailure>(&*built)) {
    FAIL() << failure->log << "\n" << text;
  }
  for (size_t i = 0; i < plans.size(); ++i) {
    const Values arguments = FillArguments(shape, shape.checked[i]);
    const std::vector<double> got = Run(shape, std::get<Artifact>(*built), plans[i], arguments);
    EXPECT_EQ(Difference(shape.reference(shape.checked[i], arguments), got, shape.tolerance), "")
        << "at the checked sizes " << i << "\n"
        << text;
  }
}

struct SpelledCase {
  const SpelledShape* shape = nullptr;
  const Spelling* spelling = nullptr;
};

std::vector<SpelledCase> AllCases() {
  std::vector<SpelledCase> cases;
  for (const SpelledShape& shape : SpelledShapes()) {
    for (const Spelling& spelling : shape.spellings) {
      cases.push_back({&shape, &spelling});
    }
  }
  return cases;
}

class SpelledRuns : public ::testing::TestWithParam<SpelledCase> {};

TEST_P(SpelledRuns, EveryRewriteComputesTheSame) {
  if (const auto toolchain = Workshop::Get().builder->Toolchain(); !toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  const SpelledShape& shape = *GetParam().shape;
  const KernelCase kernel = CaseOf(shape, *GetParam().spelling);
  const Made made = Make(kernel);
  int tried = 0;
  for (const SpelledEdit& edit : SpelledEdits()) {
    if (edit.shape == shape.name) {
      SCOPED_TRACE(edit.Name());
      ExpectRight(shape, kernel, made.Apply(edit.chain));
      ++tried;
    }
  }
  EXPECT_GT(tried, 0) << "no rewrite is tried on this computation";
}

INSTANTIATE_TEST_SUITE_P(Rewrites, SpelledRuns, ::testing::ValuesIn(AllCases()),
                         [](const auto& one) {
                           return one.param.shape->name + "_" + one.param.spelling->name;
                         });

}  // namespace
}  // namespace optiml::rewrite::testing
