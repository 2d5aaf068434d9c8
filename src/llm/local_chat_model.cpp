#include "llm/local_chat_model.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "llm/json_schema_grammar.h"
#include "llm/json_text.h"
#include "llm/llama_model_file.h"
#include "llm/llama_prompt.h"
#include "llm/token_sampler.h"

namespace optiml {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Tokens that are computed at once: between two such steps, and within them from one node of the
// graph to the next, the request can be ended.
constexpr uint32_t kBatchTokens = 512;

// When the request that is computed has to end. llama.cpp asks it between the nodes of its graph.
struct Limit {
  const std::atomic<bool>* stop = nullptr;
  SteadyClock::time_point deadline = SteadyClock::time_point::max();

  bool is_stopped() const { return stop != nullptr && stop->load(); }
  bool is_over() const { return is_stopped() || SteadyClock::now() >= deadline; }
  static bool Ask(void* limit) { return static_cast<Limit*>(limit)->is_over(); }
};

class LocalChatModel : public ChatModel {
 public:
  LocalChatModel(std::string name, LlamaModelPointer model, int context_tokens,
                 const LocalChatModelOptions& options)
      : name_(std::move(name)),
        model_(std::move(model)),
        vocab_(llama_model_get_vocab(model_.get())),
        prompt_(model_.get()),
        context_tokens_(context_tokens),
        options_(options) {}

  Result<void> MakeContext();
  std::string name() const override { return name_; }
  Result<ChatReply> Complete(const ChatRequest& request) override;

 private:
  Result<ChatReply> Answer(const ChatRequest& request);
  // Brings the context to the state behind `tokens`; keeps what it has in common with them.
  Result<void> Prefill(const std::vector<llama_token>& tokens, TokenUse& use);
  Result<void> Write(const ChatRequest& request, TokenSampler& sampler, ChatReply& reply);
  Result<void> Decode(llama_token* tokens, int32_t count);
  Error Ended() const;

  std::string name_;
  LlamaModelPointer model_;
  const llama_vocab* vocab_;
  LlamaPrompt prompt_;
  int context_tokens_;
  LocalChatModelOptions options_;
  Limit limit_;
  LlamaContextPointer context_;
  std::vector<llama_token> cached_;  // the tokens whose keys and values the context holds
};

Result<void> LocalChatModel::MakeContext() {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<uint32_t>(context_tokens_);
  params.n_batch = std::min<uint32_t>(kBatchTokens, params.n_ctx);
  params.n_ubatch = params.n_batch;
  const auto half = static_cast<int>(std::max(1u, std::thread::hardware_concurrency() / 2));
  params.n_threads = options_.threads > 0 ? options_.threads : half;
  params.n_threads_batch = params.n_threads;
  params.abort_callback = &Limit::Ask;
  params.abort_callback_data = &limit_;
  OPTIML_ASSIGN(context_, MakeLlamaContext(model_.get(), params, options_.memory_bytes));
  return {};
}

Error LocalChatModel::Ended() const {
  return limit_.is_stopped()
             ? Error(ErrorCode::kInterrupted, name_ + ": interrupted")
             : Error(ErrorCode::kTimeout, name_ + ": no whole answer within the time limit");
}

Result<ChatReply> LocalChatModel::Complete(const ChatRequest& request) {
  if (request.messages.empty() || request.max_tokens <= 0) {
    return Error(ErrorCode::kInvalidArgument, "a request has messages and max_tokens above 0");
  }
  limit_.stop = request.stop;
  limit_.deadline = SteadyClock::now() + request.time_limit;
  try {
    return Answer(request);
  } catch (const std::exception& error) {  // llama.cpp is C++ inside
    llama_memory_clear(llama_get_memory(context_.get()), true);
    cached_.clear();
    return Error(ErrorCode::kInternal, fmt::format("{}: llama.cpp: {}", name_, error.what()));
  }
}

Result<ChatReply> LocalChatModel::Answer(const ChatRequest& request) {
  SamplingOptions sampling;
  sampling.temperature = request.temperature;
  sampling.top_p = 1;
  sampling.top_k = 0;
  sampling.seed = request.seed;
  if (!request.json_schema.empty()) {
    OPTIML_ASSIGN(sampling.grammar, JsonSchemaGrammar(request.json_schema));
  }
  OPTIML_ASSIGN(TokenSampler sampler, TokenSampler::Make(sampling, vocab_));
  const std::vector<llama_token> tokens = prompt_.Tokens(request.messages);
  if (tokens.size() >= static_cast<size_t>(context_tokens_)) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: the prompt has {} tokens, and the context takes {}", name_,
                             tokens.size(), context_tokens_));
  }
  ChatReply reply;
  reply.tokens.prompt = static_cast<int64_t>(tokens.size());
  Result<void> done = Prefill(tokens, reply.tokens);
  if (done) {
    done = Write(request, sampler, reply);
  }
  if (!done) {
    if (options_.on_lost) {
      (void)options_.on_lost(reply.tokens, 0).has_value();  // nothing is tried again
    }
    return std::move(done).error();
  }
  reply.text = Utf8Text(reply.text);
  return reply;
}

Result<void> LocalChatModel::Decode(llama_token* tokens, int32_t count) {
  const int32_t status = llama_decode(context_.get(), llama_batch_get_one(tokens, count));
  if (status == 0) {
    cached_.insert(cached_.end(), tokens, tokens + count);
    return {};
  }
  llama_memory_clear(llama_get_memory(context_.get()), true);
  cached_.clear();
  if (status == 2) {
    return Ended();
  }
  return Error(ErrorCode::kInternal,
               fmt::format("{}: llama.cpp cannot compute (status {})", name_, status));
}

Result<void> LocalChatModel::Prefill(const std::vector<llama_token>& tokens, TokenUse& use) {
  // The last token is computed in any case: what follows it is asked for.
  const auto most = static_cast<std::ptrdiff_t>(std::min(cached_.size(), tokens.size() - 1));
  auto same = static_cast<size_t>(
      std::mismatch(cached_.begin(), cached_.begin() + most, tokens.begin()).first -
      cached_.begin());
  llama_memory_t memory = llama_get_memory(context_.get());
  if (same < cached_.size() && !llama_memory_seq_rm(memory, 0, static_cast<llama_pos>(same), -1)) {
    llama_memory_clear(memory, true);  // a model whose state has no beginning that could be kept
    same = 0;
  }
  cached_.resize(same);
  use.cached_prompt = static_cast<int64_t>(same);
  for (size_t at = same; at < tokens.size(); at += kBatchTokens) {
    if (limit_.is_over()) {
      return Ended();
    }
    std::vector<llama_token> batch(
        tokens.begin() + static_cast<std::ptrdiff_t>(at),
        tokens.begin() + static_cast<std::ptrdiff_t>(std::min(tokens.size(), at + kBatchTokens)));
    OPTIML_TRY(Decode(batch.data(), static_cast<int32_t>(batch.size())));
  }
  return {};
}

Result<void> LocalChatModel::Write(const ChatRequest& request, TokenSampler& sampler,
                                   ChatReply& reply) {
  const auto words = static_cast<size_t>(llama_vocab_n_tokens(vocab_));
  while (true) {
    if (limit_.is_over()) {
      return Ended();
    }
    llama_token token = sampler.Next({llama_get_logits_ith(context_.get(), -1), words});
    if (token == LLAMA_TOKEN_NULL) {
      return Error(ErrorCode::kInternal,
                   name_ + ": no token of the model's vocabulary follows the JSON schema");
    }
    if (llama_vocab_is_eog(vocab_, token)) {
      return {};
    }
    reply.text += prompt_.Piece(token);
    ++reply.tokens.completion;
    if (reply.tokens.completion >= request.max_tokens ||
        cached_.size() + 1 >= static_cast<size_t>(context_tokens_)) {
      reply.end = ChatReply::End::kLength;
      return {};
    }
    OPTIML_TRY(Decode(&token, 1));
  }
}

}  // namespace

bool HasLocalModels() {
  return true;
}

Result<std::unique_ptr<ChatModel>> OpenLocalChatModel(const std::filesystem::path& file,
                                                      const LocalChatModelOptions& options) {
  OPTIML_ASSIGN(LlamaModelPointer model, LoadLlamaModel(file, options.memory_bytes));
  const llama_vocab* vocab = llama_model_get_vocab(model.get());
  if (!llama_model_has_decoder(model.get()) || llama_model_has_encoder(model.get()) ||
      llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE) {
    return Error(ErrorCode::kInvalidArgument,
                 file.string() + ": not a model that writes text (no vocabulary or no decoder)");
  }
  const int trained = llama_model_n_ctx_train(model.get());
  if (options.context_tokens > trained) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: a context of {} tokens is more than the model was trained for ({})",
                    file.string(), options.context_tokens, trained));
  }
  const int context_tokens =
      options.context_tokens > 0 ? options.context_tokens : std::min(trained, kDefaultContext);
  auto local = std::make_unique<LocalChatModel>(file.stem().string(), std::move(model),
                                                context_tokens, options);
  if (auto made = local->MakeContext(); !made) {
    return std::move(made).error().WithContext(file.string());
  }
  return std::unique_ptr<ChatModel>(std::move(local));
}

}  // namespace optiml
