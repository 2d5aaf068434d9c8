// Every source that the catalogue makes parses, can be planned at the timed and at odd sizes, and,
// where NVRTC is there, compiles.

#include <gtest/gtest.h>

#include "rewrite/catalogue_test_kernels.h"
#include "rewrite/catalogue_test_support.h"

namespace optiml::rewrite::testing {
namespace {

std::vector<Argument> OddSizes(std::vector<Argument> arguments, int64_t size) {
  for (Argument& argument : arguments) {
    if (argument.kind == Argument::kInteger && argument.value > 0) {
      argument.value = static_cast<double>(size);
    }
  }
  return arguments;
}

void ExpectUsable(const KernelCase& kernel, const std::string& text, const std::string& what) {
  SCOPED_TRACE(kernel.entry + ": " + what);
  const ast::SourceUnit unit = Parse(KernelSource(text, kernel.entry, kernel.entry + ".cu"));
  const LaunchPlan timed = PlanOf(unit, kernel.entry, kernel.timed);
  EXPECT_FALSE(timed.Kernels().empty());
  for (const int64_t size : {1, 7, 33}) {
    EXPECT_FALSE(PlanOf(unit, kernel.entry, OddSizes(kernel.timed, size)).Kernels().empty());
  }
}

class EmittedSources : public ::testing::TestWithParam<KernelCase> {};

TEST_P(EmittedSources, ParseAndPlanAtEverySize) {
  const Made made = Make(GetParam());
  ASSERT_TRUE(made.catalogue->Lifted()[0].lifted) << made.catalogue->Lifted()[0].detail;
  const ApplyOutcome identity = made.catalogue->Identity();
  ASSERT_TRUE(std::holds_alternative<KernelSource>(identity));
  ExpectUsable(GetParam(), std::get<KernelSource>(identity).text(), "identity");
  for (const Edit& edit : made.catalogue->Propose({}, nullptr)) {
    ExpectUsable(GetParam(), made.Apply({edit}), edit.Label());
  }
}

TEST_P(EmittedSources, ChainsOfTwoParseAndPlan) {
  const Made made = Make(GetParam());
  const std::vector<Edit> roots = made.catalogue->Propose({}, nullptr);
  ASSERT_FALSE(roots.empty());
  for (size_t i = 0; i < roots.size() && i < 3; ++i) {
    for (const Edit& edit : made.catalogue->Propose(std::vector<Edit>{roots[i]}, nullptr)) {
      ExpectUsable(GetParam(), made.Apply({roots[i], edit}), roots[i].Label() + " " + edit.Label());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EmittedSources, ::testing::ValuesIn(AllKernels()),
                         [](const auto& one) { return one.param.entry; });

}  // namespace
}  // namespace optiml::rewrite::testing
