#include "propose/rewrite_proposer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::_;
using ::testing::IsNull;
using ::testing::NotNull;
using ::testing::Return;

class MockCatalogue : public rewrite::Catalogue {
 public:
  MOCK_METHOD(const std::vector<rewrite::LiftReport>&, Lifted, (), (const, override));
  MOCK_METHOD(std::vector<Edit>, Propose, (std::span<const Edit>, const Diagnosis*),
              (const, override));
  MOCK_METHOD(rewrite::ApplyOutcome, Apply, (std::span<const Edit>), (const, override));
  MOCK_METHOD(rewrite::ApplyOutcome, Identity, (), (const, override));
};

Edit Named(const std::string& rewrite, int64_t width, double prior = 1) {
  Edit edit;
  edit.rewrite = rewrite;
  edit.parameters = {{"width", width}};
  edit.prior = prior;
  return edit;
}

TEST(RewriteProposer, HandsChainAndDiagnosisToTheCatalogue) {
  MockCatalogue catalogue;
  const std::vector<Edit> chain = {Named("sketch", 1)};
  Evaluation evaluation;
  EXPECT_CALL(catalogue, Propose(testing::SizeIs(1), IsNull()))
      .WillOnce(Return(std::vector<Edit>{}));
  EXPECT_TRUE(RewriteProposer(catalogue).Propose({chain, &evaluation})->empty());
  evaluation.diagnosis.emplace();
  EXPECT_CALL(catalogue, Propose(_, NotNull()))
      .WillOnce(Return(std::vector<Edit>{Named("vector_width", 4)}));
  EXPECT_EQ(RewriteProposer(catalogue).Propose({chain, &evaluation})->size(), 1U);
}

TEST(RewriteProposer, KeepsTheFirstOfEqualLabels) {
  MockCatalogue catalogue;
  Evaluation evaluation;
  EXPECT_CALL(catalogue, Propose(_, _))
      .WillOnce(Return(std::vector<Edit>{Named("a", 2, 0.9), Named("a", 4), Named("a", 2, 0.1)}));
  const auto edits = RewriteProposer(catalogue).Propose({{}, &evaluation});
  ASSERT_EQ(edits->size(), 2U);
  EXPECT_EQ((*edits)[0].prior, 0.9);
  EXPECT_EQ((*edits)[1].Label(), "a(width=4)");
}

}  // namespace
}  // namespace optiml
