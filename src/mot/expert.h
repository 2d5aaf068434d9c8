#ifndef OPTIML_MOT_EXPERT_H_
#define OPTIML_MOT_EXPERT_H_

// Expert: one frozen language model of the pool: a GGUF file, its context (a key-value cache for
// several sequences), its own tokenizer and prompt format, and the hook through which its residual
// stream is read and written.
//
// Threads: used by one thread at a time.

#include <llama.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"
#include "llm/chat_model.h"
#include "mot/eval_hook.h"

namespace optiml::mot {

struct ExpertOptions {
  int64_t context_tokens = 4096;  // of one sequence; no more than the model was made for is used
  int sequences = 1;              // that live side by side
  int batch_tokens = 512;         // of one llama_decode; longer prompts go in pieces
  int micro_batch_tokens = 512;   // of one graph
  int threads = 0;                // 0: one a processor
  int gpu_layers = -1;            // on a GPU, where llama.cpp was built for one; -1: all
  bool exact = false;             // F32 cache and no flash attention, for comparisons of bits
  bool hook = true;               // false: no callback at all (the hook cannot be used)
};

// What a bundle has to know of an expert.
struct ExpertFacts {
  std::string file;          // its name, without folders
  std::string architecture;  // "qwen2"
  int layers = 0;
  int64_t width = 0;
  int64_t vocabulary_size = 0;
  int64_t parameters = 0;
  ContentHash weights;     // of the whole file
  ContentHash vocabulary;  // of every token's text and kind
  bool has_chat_template = false;
};

struct TokenRow {
  llama_token token = 0;
  llama_pos position = 0;
  llama_seq_id sequence = 0;
  bool wants_logits = false;
};

class Expert {
 public:
  // Fails with kNotFound, with kParse when llama.cpp refuses the file (truncated, an architecture
  // that it does not know), with kInvalidArgument when the model is none that can be an expert (an
  // encoder, a recurrent model, fewer than 3 layers).
  static Result<std::unique_ptr<Expert>> Open(const std::filesystem::path& file,
                                              const ExpertOptions& options);

  const ExpertFacts& facts() const { return facts_; }
  int64_t context_tokens() const;
  int threads() const { return options_.threads; }
  EvalHook& hook() { return hook_; }
  llama_context& context() { return *context_; }

  // Special tokens that are written out in `text` count as such.
  Result<std::vector<llama_token>> Tokenize(const std::string& text) const;
  std::string PieceOf(llama_token token) const;
  bool EndsAnswer(llama_token token) const;
  const llama_vocab* vocabulary() const;

  // The messages as the model wants them, up to where its answer starts. Special tokens that are
  // written out in a message are broken by a space: a message is material, and must not end its
  // turn or begin another. `format`: "raw" (the
  // texts, one after the other), "own" (the template in the file) or one of llama.cpp's built-in
  // formats ("chatml"). kInvalidArgument for any other.
  Result<std::string> FormatPrompt(const std::string& format,
                                   const std::vector<ChatMessage>& messages) const;

  // Runs the rows through the model, at most batch_tokens of them. The hook's handlers see them in
  // this order when they are of one sequence.
  Result<void> Decode(std::span<const TokenRow> rows);
  // `tokens` as positions `first`, `first`+1 ... of `sequence`, in pieces of batch_tokens. Only the
  // last token's logits are computed.
  Result<void> Prefill(std::span<const llama_token> tokens, llama_pos first, llama_seq_id sequence);
  // Of row `row` of the last Decode (of its last piece, for Prefill); -1 is the last row that
  // wanted them. Valid until the next one.
  std::span<const float> Logits(int row) const;

  void Forget();                                                // all sequences
  void CutSequence(llama_seq_id sequence, llama_pos from);      // positions from `from` on
  void CopySequence(llama_seq_id source, llama_seq_id target);  // whole

  int sequences() const { return options_.sequences; }
  // Room for that many; when there is less, all sequences are forgotten and the room is made.
  Result<void> MakeRoom(int sequences);

 private:
  struct FreeModel {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };
  struct FreeContext {
    void operator()(llama_context* context) const { llama_free(context); }
  };

  Expert(std::unique_ptr<llama_model, FreeModel> model, ExpertFacts facts,
         const ExpertOptions& options);
  Result<void> MakeContext();
  std::string WithoutSpecialTokens(std::string text) const;

  ExpertFacts facts_;
  ExpertOptions options_;
  EvalHook hook_;
  std::vector<std::string> special_texts_;  // of the vocabulary
  std::unique_ptr<llama_model, FreeModel> model_;
  std::unique_ptr<llama_context, FreeContext> context_;  // ends before the model
};

// Of a file's whole contents; kNotFound, kIo, or kParse for an empty file.
Result<ContentHash> HashFile(const std::filesystem::path& file);
// Whether FormatPrompt takes `format` of some model.
bool IsPromptFormat(const std::string& format);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_EXPERT_H_
