#include "mot/prompt_encoder.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "mot/expert.h"
#include "mot/llama_runtime.h"

namespace optiml::mot {
namespace {

constexpr size_t kLongestNgram = 4;

void Normalise(std::vector<float>& code) {
  double squares = 0;
  for (const float value : code) {
    squares += static_cast<double>(value) * value;
  }
  if (squares > 0) {
    const double scale = 1 / std::sqrt(squares);
    for (float& value : code) {
      value = static_cast<float>(value * scale);
    }
  }
}

class NgramEncoder : public PromptEncoder {
 public:
  explicit NgramEncoder(int64_t width) : width_(width) {}
  int64_t width() const override { return width_; }

  Result<std::vector<float>> Encode(const std::string& text) override {
    std::vector<float> code(static_cast<size_t>(width_));
    for (size_t begin = 0; begin < text.size(); ++begin) {
      uint64_t hash = 0;
      for (size_t length = 1; length <= kLongestNgram && begin + length <= text.size(); ++length) {
        hash = RandomAt(hash, static_cast<unsigned char>(text[begin + length - 1]));
        code[hash % code.size()] += 1;
      }
    }
    Normalise(code);
    return code;
  }

 private:
  int64_t width_;
};

class EncoderModel : public PromptEncoder {
 public:
  static Result<std::unique_ptr<PromptEncoder>> Open(const std::filesystem::path& file,
                                                     int threads) {
    auto made = std::make_unique<EncoderModel>();
    const LlamaLog log;
    llama_model_params parameters = llama_model_default_params();
    made->model_.reset(llama_model_load_from_file(file.c_str(), parameters));
    if (made->model_ == nullptr) {
      return Error(ErrorCode::kParse, log.Reason("llama.cpp cannot load it"));
    }
    llama_context_params context = llama_context_default_params();
    made->most_tokens_ = std::clamp(llama_model_n_ctx_train(made->model_.get()), 1, 8192);
    context.n_ctx = context.n_batch = context.n_ubatch = static_cast<uint32_t>(made->most_tokens_);
    context.embeddings = true;
    context.n_threads = context.n_threads_batch = threads;
    made->context_.reset(llama_init_from_model(made->model_.get(), context));
    if (made->context_ == nullptr ||
        llama_pooling_type(made->context_.get()) == LLAMA_POOLING_TYPE_NONE) {
      return Error(ErrorCode::kInvalidArgument, "it gives no embedding of a whole text");
    }
    return std::unique_ptr<PromptEncoder>(std::move(made));
  }

  int64_t width() const override { return llama_model_n_embd(model_.get()); }

  Result<std::vector<float>> Encode(const std::string& text) override {
    const llama_vocab* vocabulary = llama_model_get_vocab(model_.get());
    std::vector<llama_token> tokens(text.size() + 8);
    const int32_t count =
        llama_tokenize(vocabulary, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                       static_cast<int32_t>(tokens.size()), true, false);
    if (count < 1) {
      return Error(ErrorCode::kInvalidArgument, "the encoder cannot tokenize the prompt");
    }
    tokens.resize(static_cast<size_t>(std::min(count, most_tokens_)));
    llama_batch batch = llama_batch_get_one(tokens.data(), static_cast<int32_t>(tokens.size()));
    const LlamaLog log;
    if (llama_encode(context_.get(), batch) != 0) {
      return Error(ErrorCode::kInternal, log.Reason("the encoder failed"));
    }
    const float* embedding = llama_get_embeddings_seq(context_.get(), 0);
    if (embedding == nullptr) {
      return Error(ErrorCode::kInternal, "the encoder gave no embedding");
    }
    std::vector<float> code(embedding, embedding + width());
    Normalise(code);
    return code;
  }

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;  // ends before the model
  int32_t most_tokens_ = 1;
};

}  // namespace

std::unique_ptr<PromptEncoder> MakeNgramEncoder(int64_t width) {
  return std::make_unique<NgramEncoder>(width);
}

Result<BertEncoder> OpenBertEncoder(const std::filesystem::path& file, int threads) {
  BertEncoder made;
  OPTIML_ASSIGN(made.model, HashFile(file));
  auto encoder = EncoderModel::Open(file, threads);
  if (!encoder) {
    return std::move(encoder).error().WithContext(file.string());
  }
  made.encoder = *std::move(encoder);
  return made;
}

}  // namespace optiml::mot
