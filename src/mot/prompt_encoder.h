#ifndef OPTIML_MOT_PROMPT_ENCODER_H_
#define OPTIML_MOT_PROMPT_ENCODER_H_

// PromptEncoder: a prompt as one vector of fixed width, for the router.
//
//   "hidden-mean"  the mean of the smallest expert's rows at its last boundary; costs nothing when
//                  that expert takes part (made by MotGenerator, which has the experts)
//   "ngrams"       counts of hashed character n-grams; needs no model
//   "bert"         the embedding of an encoder model in a GGUF file

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"

namespace optiml::mot {

class PromptEncoder {
 public:
  virtual ~PromptEncoder() = default;
  virtual int64_t width() const = 0;
  virtual Result<std::vector<float>> Encode(const std::string& text) = 0;
};

// Of 1 to 4 bytes, each hashed into one of `width` counts; the vector's length is 1, or 0 for an
// empty text.
std::unique_ptr<PromptEncoder> MakeNgramEncoder(int64_t width);

struct BertEncoder {
  std::unique_ptr<PromptEncoder> encoder;
  ContentHash model;  // of the file
};
// Fails as Expert::Open does, and with kInvalidArgument for a model that is no encoder. Longer
// texts than the model was made for are cut.
Result<BertEncoder> OpenBertEncoder(const std::filesystem::path& file, int threads);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_PROMPT_ENCODER_H_
