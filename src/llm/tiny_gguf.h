#ifndef OPTIML_LLM_TINY_GGUF_H_
#define OPTIML_LLM_TINY_GGUF_H_

// TinyGguf: a model for tests, of random weights and with a vocabulary of single bytes, written as
// a GGUF file of under half a megabyte. Built only with llama.cpp.

#include <gguf.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/rng.h"

namespace optiml {

struct TinyGguf {
  std::string architecture = "llama";
  std::string chat_template;  // empty: none
  bool vocabulary = true;
  uint32_t context_length = 512;
  uint32_t width = 32;
  uint32_t layers = 2;
  uint64_t seed = 1;

  void Write(const std::filesystem::path& file) const {
    gguf_context* gguf = gguf_init_empty();
    ggml_context* tensors = ggml_init({size_t{8} << 20, nullptr, false});
    WriteFacts(gguf);
    const uint32_t tokens = vocabulary ? WriteVocabulary(gguf) : 64;
    gguf_set_val_u32(gguf, (architecture + ".vocab_size").c_str(), tokens);
    WriteTensors(gguf, tensors, tokens);
    OPTIML_CHECK(gguf_write_to_file(gguf, file.c_str(), false), "the test's model is not written");
    gguf_free(gguf);
    ggml_free(tensors);
  }

 private:
  static constexpr uint32_t kHeads = 4;
  static constexpr uint32_t kForward = 64;

  void WriteFacts(gguf_context* gguf) const {
    gguf_set_val_str(gguf, "general.architecture", architecture.c_str());
    const auto fact = [&](const char* name, uint32_t value) {
      gguf_set_val_u32(gguf, (architecture + "." + name).c_str(), value);
    };
    fact("context_length", context_length);
    fact("embedding_length", width);
    fact("block_count", layers);
    fact("feed_forward_length", kForward);
    fact("attention.head_count", kHeads);
    fact("attention.head_count_kv", kHeads);
    fact("rope.dimension_count", width / kHeads);
    gguf_set_val_f32(gguf, (architecture + ".attention.layer_norm_rms_epsilon").c_str(), 1e-5f);
    gguf_set_val_str(gguf, "tokenizer.ggml.model", vocabulary ? "llama" : "no_vocab");
    if (!chat_template.empty()) {
      gguf_set_val_str(gguf, "tokenizer.chat_template", chat_template.c_str());
    }
  }

  // <unk>, <s>, </s>, two marks of a chat template, the blank, and the 256 bytes.
  static uint32_t WriteVocabulary(gguf_context* gguf) {
    std::vector<std::string> texts = {"<unk>",        "<s>",        "</s>",
                                      "<|im_start|>", "<|im_end|>", "\xe2\x96\x81"};
    std::vector<int32_t> types = {2, 3, 3, 3, 3, 1};  // unknown, control, normal
    for (int byte = 0; byte < 256; ++byte) {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      texts.push_back(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">");
      types.push_back(6);  // byte
    }
    std::vector<const char*> pointers;
    for (const std::string& text : texts) {
      pointers.push_back(text.c_str());
    }
    const std::vector<float> scores(texts.size(), 0.0f);
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
    gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(),
                      scores.size());
    gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(),
                      types.size());
    gguf_set_val_u32(gguf, "tokenizer.ggml.unknown_token_id", 0);
    gguf_set_val_u32(gguf, "tokenizer.ggml.bos_token_id", 1);
    gguf_set_val_u32(gguf, "tokenizer.ggml.eos_token_id", 2);
    gguf_set_val_bool(gguf, "tokenizer.ggml.add_bos_token", true);
    gguf_set_val_bool(gguf, "tokenizer.ggml.add_space_prefix", false);
    return static_cast<uint32_t>(texts.size());
  }

  void WriteTensors(gguf_context* gguf, ggml_context* tensors, uint32_t tokens) const {
    Rng rng(seed);
    // Uniform around `mean`, with about the deviation that keeps the sums near 1.
    const auto add = [&](const std::string& name, int64_t columns, int64_t rows, float mean) {
      ggml_tensor* tensor = rows == 0 ? ggml_new_tensor_1d(tensors, GGML_TYPE_F32, columns)
                                      : ggml_new_tensor_2d(tensors, GGML_TYPE_F32, columns, rows);
      const float spread = rows == 0 ? 0.1f : 1.7f / std::sqrt(static_cast<float>(columns));
      auto* values = static_cast<float*>(tensor->data);
      for (int64_t i = 0; i < ggml_nelements(tensor); ++i) {
        values[i] = mean + spread * static_cast<float>(2 * rng.NextUnit() - 1);
      }
      ggml_set_name(tensor, name.c_str());
      gguf_add_tensor(gguf, tensor);
    };
    add("token_embd.weight", width, tokens, 0);
    add("output_norm.weight", width, 0, 1);
    add("output.weight", width, tokens, 0);
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const std::string block = "blk." + std::to_string(layer) + ".";
      add(block + "attn_norm.weight", width, 0, 1);
      for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
        add(block + name + ".weight", width, width, 0);
      }
      add(block + "ffn_norm.weight", width, 0, 1);
      add(block + "ffn_gate.weight", width, kForward, 0);
      add(block + "ffn_up.weight", width, kForward, 0);
      add(block + "ffn_down.weight", kForward, width, 0);
    }
  }
};

}  // namespace optiml

#endif  // OPTIML_LLM_TINY_GGUF_H_
