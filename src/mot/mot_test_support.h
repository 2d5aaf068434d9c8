#ifndef OPTIML_MOT_MOT_TEST_SUPPORT_H_
#define OPTIML_MOT_MOT_TEST_SUPPORT_H_

// Experts, bundles and pools for tests, on tiny models in a folder of their own. Failures stop the
// test program: they are not what is tested.

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file_system.h"
#include "base/rng.h"
#include "mot/device_backend.h"
#include "mot/expert_pool.h"
#include "mot/fixture_models.h"

namespace optiml::mot {

template <typename T>
T Must(Result<T> result) {
  if (!result) {
    CheckFailed("test", 0, result.error().message().c_str(), "a test's own preparation");
  }
  return *std::move(result);
}
inline void Must(const Result<void>& result) {
  if (!result) {
    CheckFailed("test", 0, result.error().message().c_str(), "a test's own preparation");
  }
}

inline ExpertOptions ExactOptions() {
  ExpertOptions options;
  options.context_tokens = 256;
  options.batch_tokens = 64;
  options.micro_batch_tokens = 64;
  options.threads = 1;
  options.exact = true;
  return options;
}

// A folder with model files, written when they are first asked for.
class ModelFolder {
 public:
  ModelFolder() : folder_(Must(TemporaryDirectory::Create("mot"))) {}
  const fs::path& path() const { return folder_.path(); }

  fs::path Write(const std::string& name, const FixtureModel& model) const {
    const fs::path file = folder_.path() / (name + ".gguf");
    WriteFixtureModel(file, model);
    return file;
  }

 private:
  TemporaryDirectory folder_;
};

inline std::vector<llama_token> SomeTokens(int count, uint64_t seed) {
  Rng rng(seed);
  std::vector<llama_token> tokens;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(static_cast<llama_token>(3 + rng.NextBelow(250)));
  }
  return tokens;
}

inline void FillRandom(std::vector<float>& values, double deviation, Rng& rng) {
  for (float& value : values) {
    value = static_cast<float>(deviation * (2 * rng.NextUnit() - 1) * std::sqrt(3.0));
  }
}

// As training leaves a bundle: the up matrices are not zero.
inline void Train(Bundle& bundle, uint64_t seed) {
  Rng rng(seed);
  for (BoundaryWeights& weights : bundle.boundaries) {
    for (std::vector<float>& up : weights.up) {
      FillRandom(up, 1 / std::sqrt(static_cast<double>(bundle.shared_width)), rng);
    }
  }
  bundle.training = "random numbers of a test";
}

struct NamedModel {
  std::string name;
  FixtureModel model;
  bool can_be_primary = true;
  std::vector<std::string> view = {"prompt"};
};

// A qwen2 primary with peers of other kinds and widths.
inline std::vector<NamedModel> ThreeModels() {
  const std::vector<FixtureModel> models = FixtureModels();
  return {{"writer", models[0]},
          {"star", models[2], false, {"prompt", "ptx"}},
          {"lama", models[1], true, {"profile"}}};
}

inline UntrainedOptions SmallOptions() {
  UntrainedOptions options;
  options.shared_width = 16;
  options.heads = 2;
  options.encoder = "ngrams";
  options.ngram_width = 32;
  options.router_hidden_width = 8;
  options.top_k = 3;
  return options;
}

// Models, their files and a bundle for them.
struct Workplace {
  explicit Workplace(const std::vector<NamedModel>& models,
                     const UntrainedOptions& options = SmallOptions()) {
    std::vector<UntrainedExpert> experts;
    for (const NamedModel& each : models) {
      files[each.name] = folder.Write(each.name, each.model);
      UntrainedExpert expert;
      expert.name = each.name;
      expert.facts = Must(Expert::Open(files[each.name], ExactOptions()))->facts();
      expert.can_be_primary = each.can_be_primary;
      expert.view = each.view;
      experts.push_back(expert);
    }
    bundle = Must(MakeUntrainedBundle(experts, options));
  }

  std::unique_ptr<ExpertPool> Open(const ExpertOptions& options = ExactOptions()) const {
    return Must(ExpertPool::Open(bundle, files, {options, false}));
  }

  ModelFolder folder;
  ExpertFiles files;
  Bundle bundle;
};

// The logits of every token, read in pieces of `chunk`.
inline std::vector<float> AllLogits(Expert& expert, const std::vector<llama_token>& tokens,
                                    size_t chunk) {
  std::vector<float> all;
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    std::vector<TokenRow> rows;
    for (size_t i = begin; i < std::min(tokens.size(), begin + chunk); ++i) {
      rows.push_back({tokens[i], static_cast<llama_pos>(i), 0, true});
    }
    Must(expert.Decode(rows));
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto logits = expert.Logits(static_cast<int>(i));
      all.insert(all.end(), logits.begin(), logits.end());
    }
  }
  return all;
}

inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline double GreatestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  OPTIML_CHECK(a.size() == b.size(), "two results of one shape");
  double greatest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return greatest;
}

}  // namespace optiml::mot

#endif  // OPTIML_MOT_MOT_TEST_SUPPORT_H_
