// What the catalogue prefers compiles with NVRTC, for every kernel. Skipped where NVRTC is not.

#include <gtest/gtest.h>

#include "build/builder.h"
#include "rewrite/catalogue_test_kernels.h"
#include "rewrite/catalogue_test_support.h"

namespace optiml::rewrite::testing {
namespace {

constexpr size_t kEditsOfAKernel = 2;  // the preferred ones: a build takes 30 ms

TEST(EmittedBuilds, PreferredEditsCompileAndLink) {
  const std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
  if (const Result<ToolchainInfo> toolchain = builder->Toolchain(); !toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  for (const KernelCase& kernel : AllKernels()) {
    const Made made = Make(kernel);
    const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
    for (size_t i = 0; i < edits.size() && i < kEditsOfAKernel; ++i) {
      SCOPED_TRACE(kernel.entry + " " + edits[i].Label());
      const ast::SourceUnit unit =
          Parse(KernelSource(made.Apply({edits[i]}), kernel.entry, kernel.entry + ".cu"));
      BuildRequest request;
      request.device_text = unit.device_text;
      request.file_name = kernel.entry + ".cu";
      request.name_expressions = PlanOf(unit, kernel.entry, kernel.timed).Kernels();
      const Result<BuildOutcome> outcome = builder->Build(request);
      ASSERT_TRUE(outcome.has_value()) << outcome.error().message();
      if (const auto* failure = std::get_if<BuildFailure>(&*outcome)) {
        ADD_FAILURE() << failure->log;
        continue;
      }
      for (const KernelResources& resources : std::get<Artifact>(*outcome).kernels) {
        EXPECT_EQ(resources.spill_store_bytes, 0u) << resources.name_expression;
      }
    }
  }
}

}  // namespace
}  // namespace optiml::rewrite::testing
