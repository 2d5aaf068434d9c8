#include "cli/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::HasSubstr;

// Its libraries open; whether they compile is up to the test.
class ScriptedBuilder : public Builder {
 public:
  explicit ScriptedBuilder(Result<BuildOutcome> outcome) : outcome_(std::move(outcome)) {}
  Result<BuildOutcome> Build(const BuildRequest&) override { return outcome_; }
  Result<ToolchainInfo> Toolchain() override {
    ToolchainInfo info;
    info.nvrtc_version = "13.0";
    return info;
  }

 private:
  Result<BuildOutcome> outcome_;
};

TEST(MachineFacts, AToolchainThatCompilesIsReported) {
  ScriptedBuilder builder(BuildOutcome(Artifact{}));
  const MachineFacts facts = InspectThisMachine(builder);
  ASSERT_TRUE(facts.toolchain) << facts.toolchain.error().message();
  EXPECT_EQ(facts.toolchain->nvrtc_version, "13.0");
}

TEST(MachineFacts, LibrariesThatOpenButDoNotCompileAreNoToolchain) {
  ScriptedBuilder broken(Result<BuildOutcome>(
      Error(ErrorCode::kInternal, "failed to open libnvrtc-builtins.so.13.0")));
  MachineFacts facts = InspectThisMachine(broken);
  ASSERT_FALSE(facts.toolchain);
  EXPECT_THAT(facts.toolchain.error().message(), HasSubstr("libnvrtc-builtins"));

  BuildFailure failure;
  failure.stage = "assemble";
  failure.first_error = "unknown architecture";
  ScriptedBuilder refusing{BuildOutcome(failure)};
  facts = InspectThisMachine(refusing);
  ASSERT_FALSE(facts.toolchain);
  EXPECT_THAT(facts.toolchain.error().message(),
              HasSubstr("a trial kernel does not assemble: unknown architecture"));
}

}  // namespace
}  // namespace optiml
