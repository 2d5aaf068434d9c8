#include "mot/fixture_models.h"

#include <fmt/format.h>
#include <ggml.h>
#include <gguf.h>

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"

namespace optiml::mot {
namespace {

constexpr size_t kMemoryBytes = size_t{64} << 20;
constexpr int kRopeWidth = 4;  // deepseek2: of a head's width, the part with positions

class Writer {
 public:
  explicit Writer(const FixtureModel& model)
      : model_(model),
        rng_(model.seed),
        gguf_(gguf_init_empty()),
        ggml_(ggml_init({kMemoryBytes, nullptr, false})) {
    gguf_set_val_str(gguf_, "general.architecture", model.architecture.c_str());
  }
  ~Writer() {
    gguf_free(gguf_);
    ggml_free(ggml_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void Write(const std::filesystem::path& file) {
    Settings();
    const int64_t tokens = Vocabulary();
    Float("token_embd.weight", {model_.width, tokens}, 1.0F);
    if (!Is("bert")) {
      Norm("output_norm", model_.width);
    }
    if (Is("bert")) {
      Norm("token_embd_norm", model_.width);
      Float("position_embd.weight", {model_.width, 2048}, 0.1F);
      Float("token_types.weight", {model_.width, 2}, 0.1F);
    } else if (!Is("gemma3")) {
      Matrix("output.weight", model_.width, tokens);
    }
    for (int layer = 0; layer < model_.layers; ++layer) {
      Layer(fmt::format("blk.{}.", layer), layer);
    }
    OPTIML_CHECK(gguf_write_to_file(gguf_, file.c_str(), false), "the fixture can be written");
  }

 private:
  bool Is(const char* architecture) const { return model_.architecture == architecture; }
  bool has_biases() const { return Is("starcoder2") || Is("bert"); }
  int64_t head_width() const { return model_.width / model_.heads; }

  void Key(const char* key, uint32_t value) {
    gguf_set_val_u32(gguf_, fmt::format("{}.{}", model_.architecture, key).c_str(), value);
  }
  void Key(const char* key, float value) {
    gguf_set_val_f32(gguf_, fmt::format("{}.{}", model_.architecture, key).c_str(), value);
  }

  void Settings() {
    const auto head = static_cast<uint32_t>(head_width());
    Key("context_length", 2048U);
    Key("embedding_length", static_cast<uint32_t>(model_.width));
    Key("block_count", static_cast<uint32_t>(model_.layers));
    Key("feed_forward_length", static_cast<uint32_t>(model_.hidden));
    Key("attention.head_count", static_cast<uint32_t>(model_.heads));
    Key("attention.head_count_kv", static_cast<uint32_t>(KvHeads()));
    Key("attention.layer_norm_rms_epsilon", 1e-6F);
    Key("attention.layer_norm_epsilon", 1e-5F);
    Key("rope.freq_base", 10000.0F);
    if (Is("gemma3")) {
      Key("attention.sliding_window", 16U);
      Key("attention.key_length", head);
      Key("attention.value_length", head);
    }
    if (Is("bert")) {
      gguf_set_val_bool(gguf_, "bert.attention.causal", false);
      Key("pooling_type", 1U);
      gguf_set_val_u32(gguf_, "tokenizer.ggml.token_type_count", 2);
    }
    if (Is("deepseek2")) {
      Key("rope.dimension_count", static_cast<uint32_t>(kRopeWidth));
      Key("attention.key_length", head);
      Key("attention.value_length", head);
      Key("attention.q_lora_rank", 16U);
      Key("attention.kv_lora_rank", 16U);
      Key("leading_dense_block_count", 1U);
      Key("expert_feed_forward_length", 32U);
      Key("expert_shared_count", 1U);
      Key("expert_count", 4U);
      Key("expert_used_count", 2U);
    } else {
      Key("rope.dimension_count", head);
    }
  }

  int KvHeads() const { return Is("deepseek2") || Is("bert") ? model_.heads : model_.kv_heads; }

  int64_t Vocabulary() {
    std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
    std::vector<int32_t> kinds = {2, 3, 3};
    for (int byte = 0; byte < 256; ++byte) {
      texts.push_back(fmt::format("<0x{:02X}>", byte));
      kinds.push_back(6);
    }
    texts.emplace_back("\xE2\x96\x81");  // how the tokenizer writes a space
    for (int i = 0; i < model_.extra_tokens; ++i) {
      texts.push_back(
          fmt::format("{}{}", static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26)));
    }
    kinds.resize(texts.size(), 1);
    std::vector<float> scores(texts.size(), 0.0F);
    for (size_t i = 259; i < scores.size(); ++i) {
      scores[i] = -static_cast<float>(i);
    }
    std::vector<const char*> pointers;
    for (const std::string& text : texts) {
      pointers.push_back(text.c_str());
    }
    gguf_set_val_str(gguf_, "tokenizer.ggml.model", "llama");
    gguf_set_arr_str(gguf_, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
    gguf_set_arr_data(gguf_, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(),
                      scores.size());
    gguf_set_arr_data(gguf_, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(),
                      kinds.size());
    gguf_set_val_u32(gguf_, "tokenizer.ggml.bos_token_id", 1);
    gguf_set_val_u32(gguf_, "tokenizer.ggml.eos_token_id", 2);
    gguf_set_val_u32(gguf_, "tokenizer.ggml.unknown_token_id", 0);
    gguf_set_val_bool(gguf_, "tokenizer.ggml.add_bos_token", true);
    gguf_set_val_bool(gguf_, "tokenizer.ggml.add_space_prefix", false);
    return static_cast<int64_t>(texts.size());
  }

  void Float(const std::string& name, const std::vector<int64_t>& shape, float deviation,
             float mean = 0) {
    ggml_tensor* tensor =
        ggml_new_tensor(ggml_, GGML_TYPE_F32, static_cast<int>(shape.size()), shape.data());
    ggml_set_name(tensor, name.c_str());
    auto* data = static_cast<float*>(tensor->data);
    for (int64_t i = 0; i < ggml_nelements(tensor); ++i) {
      const double radius = std::sqrt(-2 * std::log(1 - rng_.NextUnit()));
      const double normal = radius * std::cos(2 * std::numbers::pi * rng_.NextUnit());
      data[i] = mean + deviation * static_cast<float>(normal);
    }
    gguf_add_tensor(gguf_, tensor);
  }
  void Matrix(const std::string& name, int64_t in, int64_t out, int64_t copies = 1) {
    const float deviation = 1 / std::sqrt(static_cast<float>(in));
    if (copies == 1) {
      Float(name, {in, out}, deviation);
    } else {
      Float(name, {in, out, copies}, deviation);
    }
  }
  void Bias(const std::string& name, int64_t width) { Float(name + ".bias", {width}, 0.1F); }
  void Norm(const std::string& name, int64_t width) {
    Float(name + ".weight", {width}, 0.1F, 1.0F);
    if (has_biases()) {
      Bias(name, width);
    }
  }

  void Layer(const std::string& block, int layer) {
    if (Is("deepseek2")) {
      LatentAttention(block);
    } else {
      Attention(block);
    }
    if (Is("bert")) {
      Norm(block + "attn_output_norm", model_.width);
      Norm(block + "layer_output_norm", model_.width);
    } else {
      Norm(block + "attn_norm", model_.width);
      Norm(block + "ffn_norm", model_.width);
    }
    if (Is("gemma3")) {
      Norm(block + "attn_q_norm", head_width());
      Norm(block + "attn_k_norm", head_width());
      Norm(block + "post_attention_norm", model_.width);
      Norm(block + "post_ffw_norm", model_.width);
    }
    if (Is("deepseek2") && layer > 0) {
      MixtureOfExperts(block);
    } else {
      FeedForward(block);
    }
  }

  void Attention(const std::string& block) {
    const int64_t kv_width = head_width() * KvHeads();
    Matrix(block + "attn_q.weight", model_.width, model_.width);
    Matrix(block + "attn_k.weight", model_.width, kv_width);
    Matrix(block + "attn_v.weight", model_.width, kv_width);
    Matrix(block + "attn_output.weight", model_.width, model_.width);
    if (has_biases() || Is("qwen2")) {
      Bias(block + "attn_q", model_.width);
      Bias(block + "attn_k", kv_width);
      Bias(block + "attn_v", kv_width);
    }
    if (has_biases()) {
      Bias(block + "attn_output", model_.width);
    }
  }

  void LatentAttention(const std::string& block) {
    const int64_t head = head_width();
    Matrix(block + "attn_q_a.weight", model_.width, 16);
    Norm(block + "attn_q_a_norm", 16);
    Matrix(block + "attn_q_b.weight", 16, model_.heads * head);
    Matrix(block + "attn_kv_a_mqa.weight", model_.width, 16 + kRopeWidth);
    Norm(block + "attn_kv_a_norm", 16);
    Matrix(block + "attn_kv_b.weight", 16, model_.heads * (head - kRopeWidth + head));
    Matrix(block + "attn_output.weight", model_.heads * head, model_.width);
  }

  void FeedForward(const std::string& block) {
    if (!has_biases()) {
      Matrix(block + "ffn_gate.weight", model_.width, model_.hidden);
    }
    Matrix(block + "ffn_up.weight", model_.width, model_.hidden);
    Matrix(block + "ffn_down.weight", model_.hidden, model_.width);
    if (has_biases()) {
      Bias(block + "ffn_up", model_.hidden);
      Bias(block + "ffn_down", model_.width);
    }
  }

  void MixtureOfExperts(const std::string& block) {
    Matrix(block + "ffn_gate_inp.weight", model_.width, 4);
    Matrix(block + "ffn_gate_exps.weight", model_.width, 32, 4);
    Matrix(block + "ffn_up_exps.weight", model_.width, 32, 4);
    Matrix(block + "ffn_down_exps.weight", 32, model_.width, 4);
    Matrix(block + "ffn_gate_shexp.weight", model_.width, 32);
    Matrix(block + "ffn_up_shexp.weight", model_.width, 32);
    Matrix(block + "ffn_down_shexp.weight", 32, model_.width);
  }

  const FixtureModel& model_;
  Rng rng_;
  gguf_context* gguf_;
  ggml_context* ggml_;
};

}  // namespace

void WriteFixtureModel(const std::filesystem::path& file, const FixtureModel& model) {
  Writer(model).Write(file);
}

std::vector<FixtureModel> FixtureModels() {
  std::vector<FixtureModel> models(5);
  models[1].architecture = "llama";
  models[1].layers = 10;
  models[2].architecture = "starcoder2";
  models[2].width = 48;
  models[3].architecture = "gemma3";
  models[3].layers = 7;
  models[4].architecture = "deepseek2";
  models[4].layers = 7;
  for (size_t i = 0; i < models.size(); ++i) {
    models[i].seed = i + 1;
  }
  return models;
}

}  // namespace optiml::mot
