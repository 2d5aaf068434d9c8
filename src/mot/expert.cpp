#include "mot/expert.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include "base/check.h"
#include "mot/llama_runtime.h"

namespace optiml::mot {
namespace {

constexpr int kFewestLayers = 3;  // a boundary is neither layer 0 nor the last one

ContentHash HashVocabulary(const llama_vocab* vocabulary) {
  ContentHasher hasher;
  const int32_t tokens = llama_vocab_n_tokens(vocabulary);
  hasher.Add(std::to_string(llama_vocab_type(vocabulary)));
  hasher.Add(std::to_string(tokens));
  if (llama_vocab_type(vocabulary) == LLAMA_VOCAB_TYPE_NONE) {
    return hasher.Finish();
  }
  for (llama_token token = 0; token < tokens; ++token) {
    hasher.Add(llama_vocab_get_text(vocabulary, token));
    hasher.Add(std::to_string(llama_vocab_get_attr(vocabulary, token)));
  }
  for (const llama_token special :
       {llama_vocab_bos(vocabulary), llama_vocab_eos(vocabulary), llama_vocab_eot(vocabulary)}) {
    hasher.Add(std::to_string(special));
  }
  return hasher.Finish();
}

std::string MetaText(const llama_model* model, const char* key) {
  std::array<char, 256> text{};
  const int32_t length = llama_model_meta_val_str(model, key, text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data());
}

Result<void> CheckCanBeExpert(const llama_model* model) {
  const char* why = nullptr;
  if (llama_model_has_encoder(model) || !llama_model_has_decoder(model)) {
    why = "an encoder cannot be an expert";
  } else if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model)) {
    why = "a recurrent model cannot be an expert";
  } else if (llama_model_n_layer(model) < kFewestLayers) {
    why = "a model of fewer than 3 layers has no place for a boundary";
  }
  if (why != nullptr) {
    return Error(ErrorCode::kInvalidArgument, why);
  }
  return {};
}

std::vector<const char*> BuiltInFormats() {
  std::vector<const char*> names(
      static_cast<size_t>(std::max(0, llama_chat_builtin_templates(nullptr, 0))));
  llama_chat_builtin_templates(names.data(), names.size());
  return names;
}

}  // namespace

Result<ContentHash> HashFile(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("{}: {}", file.string(), std::generic_category().message(errno)));
  }
  struct stat status{};
  const bool is_file = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto bytes = static_cast<size_t>(is_file ? status.st_size : 0);
  // Mapped: models are too large for a string.
  void* memory =
      bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: {}", file.string(), is_file ? "empty" : "not a file"));
  }
  const ContentHash hash = ContentHash::Of(std::span(static_cast<const std::byte*>(memory), bytes));
  munmap(memory, bytes);
  return hash;
}

bool IsPromptFormat(const std::string& format) {
  if (format == "raw" || format == "own") {
    return true;
  }
  const std::vector<const char*> names = BuiltInFormats();
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return format == name; });
}

Expert::Expert(std::unique_ptr<llama_model, FreeModel> model, ExpertFacts facts,
               const ExpertOptions& options)
    : facts_(std::move(facts)), options_(options), hook_(facts_.width), model_(std::move(model)) {
  OPTIML_CHECK(options.sequences >= 1 && options.batch_tokens >= 1 && options.context_tokens >= 1,
               "an expert has room for something");
  if (options_.threads <= 0) {
    options_.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
}

Result<std::unique_ptr<Expert>> Expert::Open(const std::filesystem::path& file,
                                             const ExpertOptions& options) {
  ExpertFacts facts;
  OPTIML_ASSIGN(facts.weights, HashFile(file));
  llama_model_params parameters = llama_model_default_params();
  parameters.n_gpu_layers = options.gpu_layers;
  std::unique_ptr<llama_model, FreeModel> model;
  {
    const LlamaLog log;
    model.reset(llama_model_load_from_file(file.c_str(), parameters));
    if (model == nullptr) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}: {}", file.string(), log.Reason("llama.cpp cannot load it")));
    }
  }
  if (auto fits = CheckCanBeExpert(model.get()); !fits) {
    return std::move(fits).error().WithContext(file.string());
  }
  const llama_vocab* vocabulary = llama_model_get_vocab(model.get());
  facts.file = file.filename().string();
  facts.architecture = MetaText(model.get(), "general.architecture");
  facts.layers = llama_model_n_layer(model.get());
  facts.width = llama_model_n_embd(model.get());
  facts.vocabulary_size = llama_vocab_n_tokens(vocabulary);
  facts.parameters = static_cast<int64_t>(llama_model_n_params(model.get()));
  facts.vocabulary = HashVocabulary(vocabulary);
  facts.has_chat_template = llama_model_chat_template(model.get(), nullptr) != nullptr;
  std::unique_ptr<Expert> expert(new Expert(std::move(model), std::move(facts), options));

  const bool has_words = llama_vocab_type(vocabulary) != LLAMA_VOCAB_TYPE_NONE;
  for (llama_token token = 0; has_words && token < llama_vocab_n_tokens(vocabulary); ++token) {
    const auto attributes = llama_vocab_get_attr(vocabulary, token);
    const std::string text = llama_vocab_get_text(vocabulary, token);
    // What the tokenizer takes for a token where special ones count. A single character cannot be
    // broken, and means nothing.
    if ((attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0 &&
        text.size() > 1) {
      expert->special_texts_.push_back(text);
    }
  }
  if (auto made = expert->MakeContext(); !made) {
    return std::move(made).error().WithContext(file.string());
  }
  return expert;
}

Result<void> Expert::MakeContext() {
  const int64_t made_for = llama_model_n_ctx_train(model_.get());
  const int64_t context =
      made_for > 0 ? std::min(options_.context_tokens, made_for) : options_.context_tokens;
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = static_cast<uint32_t>(context * options_.sequences);
  parameters.n_seq_max = static_cast<uint32_t>(options_.sequences);
  parameters.n_batch = static_cast<uint32_t>(options_.batch_tokens);
  parameters.n_ubatch =
      static_cast<uint32_t>(std::min(options_.micro_batch_tokens, options_.batch_tokens));
  parameters.n_threads = parameters.n_threads_batch = options_.threads;
  parameters.kv_unified = false;  // a sequence's numbers do not depend on its neighbours
  parameters.swa_full = true;     // sequences are cut back to their prompts
  parameters.no_perf = true;
  if (options_.exact) {
    parameters.type_k = parameters.type_v = GGML_TYPE_F32;
    parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  }
  if (options_.hook) {
    parameters.cb_eval = EvalHook::Callback;
    parameters.cb_eval_user_data = &hook_;
  }
  const LlamaLog log;
  context_.reset();  // its memory is given back first
  context_.reset(llama_init_from_model(model_.get(), parameters));
  if (context_ == nullptr) {
    return Error(ErrorCode::kUnavailable, log.Reason("llama.cpp makes no context for it"));
  }
  return {};
}

Result<void> Expert::MakeRoom(int sequences) {
  if (sequences <= options_.sequences) {
    return {};
  }
  options_.sequences = sequences;
  return MakeContext();
}

int64_t Expert::context_tokens() const {
  return llama_n_ctx_seq(context_.get());
}

const llama_vocab* Expert::vocabulary() const {
  return llama_model_get_vocab(model_.get());
}

Result<std::vector<llama_token>> Expert::Tokenize(const std::string& text) const {
  if (llama_vocab_type(vocabulary()) == LLAMA_VOCAB_TYPE_NONE) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("{} has no vocabulary", facts_.file));
  }
  std::vector<llama_token> tokens(text.size() + 8);
  const auto run = [&] {
    return llama_tokenize(vocabulary(), text.data(), static_cast<int32_t>(text.size()),
                          tokens.data(), static_cast<int32_t>(tokens.size()), true, true);
  };
  int32_t count = run();
  if (count < 0 && count != INT32_MIN) {
    tokens.resize(static_cast<size_t>(-count));
    count = run();
  }
  if (count < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} cannot tokenize {} bytes of text", facts_.file, text.size()));
  }
  tokens.resize(static_cast<size_t>(count));
  return tokens;
}

std::string Expert::PieceOf(llama_token token) const {
  std::string piece(64, '\0');
  const auto run = [&] {
    return llama_token_to_piece(vocabulary(), token, piece.data(),
                                static_cast<int32_t>(piece.size()), 0, false);
  };
  int32_t length = run();
  if (length < 0) {
    piece.resize(static_cast<size_t>(-length));
    length = run();
  }
  piece.resize(static_cast<size_t>(std::max(0, length)));
  return piece;
}

bool Expert::EndsAnswer(llama_token token) const {
  return llama_vocab_is_eog(vocabulary(), token);
}

std::string Expert::WithoutSpecialTokens(std::string text) const {
  for (const std::string& special : special_texts_) {
    for (size_t at = text.find(special); at != std::string::npos; at = text.find(special, at + 1)) {
      text.insert(at + 1, " ");
    }
  }
  return text;
}

Result<std::string> Expert::FormatPrompt(const std::string& format,
                                         const std::vector<ChatMessage>& given) const {
  std::vector<ChatMessage> messages = given;
  for (ChatMessage& message : messages) {
    message.text = WithoutSpecialTokens(std::move(message.text));
  }
  if (format == "raw") {
    std::string text;
    for (const ChatMessage& message : messages) {
      text += (text.empty() ? "" : "\n\n") + message.text;
    }
    return text;
  }
  const char* own = llama_model_chat_template(model_.get(), nullptr);
  const char* format_text = format == "own" ? own : format.c_str();
  if (!IsPromptFormat(format) || format_text == nullptr) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} has no prompt format \"{}\"", facts_.file, format));
  }
  std::vector<std::string> roles;
  std::vector<llama_chat_message> chat;
  for (const ChatMessage& message : messages) {
    roles.push_back(ChatRoleName(message.role));
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    chat.push_back({roles[i].c_str(), messages[i].text.c_str()});
  }
  std::string text;
  const auto run = [&] {
    return llama_chat_apply_template(format_text, chat.data(), chat.size(), true, text.data(),
                                     static_cast<int32_t>(text.size()));
  };
  const int32_t length = run();
  if (length < 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: llama.cpp does not know its chat template", facts_.file));
  }
  text.resize(static_cast<size_t>(length) + 1);
  run();
  text.resize(static_cast<size_t>(length));
  return text;
}

Result<void> Expert::Decode(std::span<const TokenRow> rows) {
  OPTIML_CHECK(!rows.empty() && rows.size() <= static_cast<size_t>(options_.batch_tokens),
               "a batch has between 1 and batch_tokens rows");
  llama_batch batch = llama_batch_init(static_cast<int32_t>(rows.size()), 0, 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    batch.token[i] = rows[i].token;
    batch.pos[i] = rows[i].position;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = rows[i].sequence;
    batch.logits[i] = rows[i].wants_logits ? 1 : 0;
  }
  batch.n_tokens = static_cast<int32_t>(rows.size());
  hook_.Begin(static_cast<int64_t>(rows.size()));
  int32_t status = 0;
  std::string reason;
  {
    const LlamaLog log;
    status = llama_decode(context_.get(), batch);
    llama_synchronize(context_.get());
    reason = status == 0 ? "" : log.Reason("llama_decode failed");
  }
  llama_batch_free(batch);
  auto hooked = hook_.End();
  if (status != 0) {
    return Error(ErrorCode::kInternal, fmt::format("{}: {} ({})", facts_.file, reason, status));
  }
  if (!hooked) {
    return std::move(hooked).error().WithContext(facts_.file);
  }
  return {};
}

Result<void> Expert::Prefill(std::span<const llama_token> tokens, llama_pos first,
                             llama_seq_id sequence) {
  if (first + static_cast<int64_t>(tokens.size()) > context_tokens()) {
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} tokens are more than the context of {} ({})",
                    first + static_cast<int64_t>(tokens.size()), facts_.file, context_tokens()));
  }
  std::vector<TokenRow> rows;
  for (size_t i = 0; i < tokens.size(); ++i) {
    rows.push_back(
        {tokens[i], first + static_cast<llama_pos>(i), sequence, i + 1 == tokens.size()});
    if (rows.size() == static_cast<size_t>(options_.batch_tokens) || i + 1 == tokens.size()) {
      OPTIML_TRY(Decode(rows));
      rows.clear();
    }
  }
  return {};
}

std::span<const float> Expert::Logits(int row) const {
  const float* logits = llama_get_logits_ith(context_.get(), row);
  OPTIML_CHECK(logits != nullptr, "the row wanted its logits");
  return {logits, static_cast<size_t>(facts_.vocabulary_size)};
}

void Expert::Forget() {
  llama_memory_clear(llama_get_memory(context_.get()), true);
}

void Expert::CutSequence(llama_seq_id sequence, llama_pos from) {
  llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, from, -1);
}

void Expert::CopySequence(llama_seq_id source, llama_seq_id target) {
  llama_memory_t memory = llama_get_memory(context_.get());
  llama_memory_seq_rm(memory, target, -1, -1);
  llama_memory_seq_cp(memory, source, target, -1, -1);
}

}  // namespace optiml::mot
