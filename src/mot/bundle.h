#ifndef OPTIML_MOT_BUNDLE_H_
#define OPTIML_MOT_BUNDLE_H_

// Bundle: what is trained of a mixture of thoughts, one GGUF file (docs/mot.md): for which experts,
// where their layers are cut, the interaction's weights at each cut, the router.
//
// Matrices are row-major, [outputs][inputs], F32. In the file `inputs` is the first dimension.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"
#include "mot/expert.h"

namespace optiml::mot {

inline constexpr uint32_t kBundleFormat = 1;

// What the peers have read when the primary answers.
enum class PeerMode {
  kStatic,     // their views alone; they stand still while the primary answers
  kAligned,    // the answer too; a row sees the peers' rows at its own place
  kAttention,  // the answer too; a row sees all the peers' rows up to its own place
};
std::string PeerModeName(PeerMode mode);
Result<PeerMode> ParsePeerMode(const std::string& name);

// The parts that a view can be made of, in the order in which they are written.
const std::vector<std::string>& ViewParts();

struct BundleExpert {
  std::string name;  // how people call it: letters, digits, . _ -; unique in the bundle
  std::string file;  // the GGUF file's name, a hint
  std::string architecture;
  int layers = 0;
  int64_t width = 0;
  ContentHash weights;
  ContentHash vocabulary;
  std::string prompt_format = "raw";  // see Expert::FormatPrompt
  std::vector<std::string> view;      // of ViewParts(): what it reads
  bool can_be_primary = true;
  std::vector<int> boundaries;  // layers, ascending, each within 1 .. layers-2
};

// The interaction at one boundary. s is the shared width, d an expert's.
struct BoundaryWeights {
  std::vector<std::vector<float>> in;            // [expert] [s][d]
  std::vector<std::vector<float>> kind;          // [expert] [s], added to what `in` gives
  std::vector<float> query, key, value, output;  // [s][s]
  std::vector<float> null_key;                   // [s]
  std::vector<std::vector<float>> down;          // [expert] [s][d]; empty when it cannot be primary
  std::vector<std::vector<float>> up;            // [expert] [d][s]; likewise
};

// scores = output * silu(hidden * RMSNorm(code) + hidden_bias) + output_bias, one an expert.
struct RouterWeights {
  std::string encoder = "hidden-mean";  // "ngrams", "bert": see prompt_encoder.h
  int64_t code_width = 0;
  int64_t hidden_width = 0;
  int top_k = 2;              // experts that take part, the primary among them
  ContentHash encoder_model;  // of a "bert" encoder's file
  std::vector<float> hidden, hidden_bias, output, output_bias;
};

struct Bundle {
  int64_t shared_width = 0;
  int heads = 0;  // divides shared_width
  float norm_epsilon = 1e-6F;
  PeerMode peer_mode = PeerMode::kStatic;
  std::string training;  // where its numbers come from; "untrained"
  std::vector<BundleExpert> experts;
  std::vector<BoundaryWeights> boundaries;
  RouterWeights router;

  int64_t ParameterCount() const;
  // Index of the expert of that name, or kNotFound.
  Result<size_t> FindExpert(const std::string& name) const;
};

// Every error is one line that says what is wrong with the file (kParse) or that it is not there.
Result<Bundle> LoadBundle(const std::filesystem::path& file);
Result<Bundle> ParseBundle(std::string_view bytes);
// Writes the whole file or nothing. REQUIRES: CheckBundle(bundle)
Result<void> SaveBundle(const Bundle& bundle, const std::filesystem::path& file);

// Whether all sizes fit together and every number is finite.
Result<void> CheckBundle(const Bundle& bundle);

// The first of the narrowest experts: whose rows the "hidden-mean" encoder takes.
size_t SmallestExpert(const Bundle& bundle);

// Over everything that decides an answer: two bundles with equal hashes behave alike.
ContentHash HashOfBundle(const Bundle& bundle);

struct UntrainedExpert {
  std::string name;
  ExpertFacts facts;
  std::string prompt_format = "raw";
  std::vector<std::string> view = {"prompt"};
  bool can_be_primary = true;
};

struct UntrainedOptions {
  int64_t shared_width = 256;
  int heads = 8;
  int stacks = 4;  // of an expert's layers; the boundaries are between them
  std::string encoder = "hidden-mean";
  int64_t ngram_width = 512;  // of the "ngrams" encoder's code
  int64_t bert_width = 0;     // of the "bert" encoder's code
  ContentHash bert_model;
  int64_t router_hidden_width = 64;
  int top_k = 2;
  uint64_t seed = 1;
};

// A bundle that changes nothing: its up matrices are zero, and its router likes all experts alike.
Result<Bundle> MakeUntrainedBundle(const std::vector<UntrainedExpert>& experts,
                                   const UntrainedOptions& options);

// Whether a model is the one that the bundle was made for. `other_weights` allows another
// quantisation: the same architecture, shape and vocabulary with other bytes.
Result<void> MatchExpert(const BundleExpert& expert, const ExpertFacts& facts, bool other_weights);

// The last layers of all stacks but the last one, when `layers` layers are cut into `stacks`
// stacks; kInvalidArgument when there are too few of them.
Result<std::vector<int>> BoundariesOf(int layers, int stacks);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_BUNDLE_H_
