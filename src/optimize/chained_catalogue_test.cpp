#include "optimize/chained_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimize/scripted_run.h"
#include "rewrite/model_edits.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

std::string Text(const rewrite::ApplyOutcome& outcome) {
  const auto* refusal = std::get_if<rewrite::ApplyRefusal>(&outcome);
  return refusal != nullptr ? "refused: " + refusal->reason
                            : std::get<KernelSource>(outcome).text();
}

class ChainedCatalogueTest : public ::testing::Test {
 protected:
  ChainedCatalogueTest()
      : catalogue_(std::make_unique<ScriptedCatalogue>(script_, std::vector<std::string>{}),
                   [this](const KernelSource& source) -> Result<ChainedCatalogue::Made> {
                     made_.push_back(source.text());
                     if (source.text().find("opaque") != std::string::npos) {
                       return ChainedCatalogue::Made("it cannot be parsed");
                     }
                     return ChainedCatalogue::Made(std::make_unique<ScriptedCatalogue>(
                         script_, std::vector<std::string>{}, source.text()));
                   }) {}
  std::string Apply(const std::vector<Edit>& chain) {
    EXPECT_TRUE(catalogue_.Prepare(chain, false));
    return Text(catalogue_.Apply(chain));
  }
  std::vector<std::string> Propose(const std::vector<Edit>& chain) {
    EXPECT_TRUE(catalogue_.Prepare(chain, true));
    std::vector<std::string> names;
    for (const Edit& edit : catalogue_.Propose(chain, nullptr)) {
      names.push_back(edit.rewrite);
    }
    return names;
  }

  Script script_;
  std::vector<std::string> made_;  // texts that a catalogue was asked for
  ChainedCatalogue catalogue_;
};

const Edit kA = ScriptedEdit("a");
const Edit kB = ScriptedEdit("b");

TEST_F(ChainedCatalogueTest, WithoutModelsIsTheRootsCatalogue) {
  EXPECT_EQ(Apply({}), "root");
  EXPECT_EQ(Apply({kA, kB}), "a+b");
  EXPECT_THAT(Propose({kA}), testing::ElementsAre("b", "c"));
  EXPECT_TRUE(made_.empty());
}

TEST_F(ChainedCatalogueTest, AModelsEditIsAppliedToWhatCameBefore) {
  const Edit hunks = rewrite::MakeHunksEdit({{"+b", "+x"}});
  EXPECT_EQ(Apply({kA, kB, hunks}), "a+x");
  EXPECT_THAT(Apply({kA, hunks}), HasSubstr("refused: hunks("));
  EXPECT_EQ(Apply({kA, rewrite::MakeKernelEdit("z"), rewrite::MakeHunksEdit({{"z", "y"}})}), "y");
  EXPECT_TRUE(made_.empty());  // text alone
}

TEST_F(ChainedCatalogueTest, RewritesFollowOnTheNewText) {
  const Edit kernel = rewrite::MakeKernelEdit("z");
  EXPECT_EQ(Apply({kA, kernel, kA, kB}), "z+a+b");
  EXPECT_THAT(Propose({kA, kernel}), testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(Propose({kernel, kB}), testing::ElementsAre("a", "c"));
  EXPECT_EQ(made_.size(), 1U);  // once for each text
  EXPECT_EQ(Apply({kernel, kA, rewrite::MakeHunksEdit({{"z", "y"}}), kB}), "y+a+b");
  EXPECT_THAT(made_, testing::ElementsAre("z", "y+a"));
}

TEST_F(ChainedCatalogueTest, WhatCannotBeLiftedIsFollowedByModelsAlone) {
  const Edit opaque = rewrite::MakeKernelEdit("opaque");
  EXPECT_THAT(Propose({opaque}), testing::IsEmpty());
  EXPECT_EQ(Apply({opaque, kA}), "refused: no rewrite can follow: it cannot be parsed");
  EXPECT_EQ(Apply({opaque, rewrite::MakeHunksEdit({{"opaque", "clear"}}), kA}), "clear+a");
}

TEST_F(ChainedCatalogueTest, AChainThatCannotBeAppliedIsAValue) {
  const Edit hunks = rewrite::MakeHunksEdit({{"b", "x"}});
  EXPECT_THAT(Apply({kA, hunks, kA}), HasSubstr("is not in the source"));
  EXPECT_THAT(Propose({kA, hunks}), testing::IsEmpty());
}

}  // namespace
}  // namespace optiml
