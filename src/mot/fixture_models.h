#ifndef OPTIML_MOT_FIXTURE_MODELS_H_
#define OPTIML_MOT_FIXTURE_MODELS_H_

// Tiny random language models for tests, written as GGUF in milliseconds. Their vocabulary is one
// token a byte (and a few longer ones, which `extra_tokens` varies), so every text can be read.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace optiml::mot {

struct FixtureModel {
  std::string architecture = "qwen2";  // llama, starcoder2, gemma3, deepseek2; bert is an encoder
  int layers = 8;
  int64_t width = 32;
  int heads = 4;
  int kv_heads = 2;
  int64_t hidden = 64;  // of the feed-forward part
  int extra_tokens = 0;
  uint64_t seed = 1;
};

// Aborts the test program when the file cannot be written.
void WriteFixtureModel(const std::filesystem::path& file, const FixtureModel& model);

// The five shapes that the tests go over.
std::vector<FixtureModel> FixtureModels();

}  // namespace optiml::mot

#endif  // OPTIML_MOT_FIXTURE_MODELS_H_
