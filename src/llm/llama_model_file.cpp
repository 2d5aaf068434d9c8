#include "llm/llama_model_file.h"

#include <fmt/format.h>

#include <fstream>
#include <mutex>
#include <string>

#include "base/log.h"
#include "base/memory_limits.h"

namespace optiml {
namespace {

// The last error lines of llama.cpp on this thread.
thread_local std::string last_errors;

void OnLogLine(ggml_log_level level, const char* text, void*) {
  std::string line = text;
  while (!line.empty() && line.back() == '\n') {
    line.pop_back();
  }
  if (level == GGML_LOG_LEVEL_ERROR) {
    last_errors += (last_errors.empty() ? "" : "; ") + line;
  }
  Log(LogLevel::kDebug, "llama.cpp: " + line);
}

void StartLlama() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(&OnLogLine, nullptr);
    llama_backend_init();
  });
}

// What llama.cpp said, without the names of its functions and the lines that only say "failed".
std::string Reason() {
  static constexpr std::string_view kPrefix = "error loading model: ";
  const size_t at = last_errors.find(kPrefix);
  std::string reason =
      at == std::string::npos ? last_errors : last_errors.substr(at + kPrefix.size());
  reason = reason.substr(0, reason.find("; llama"));
  return reason.empty() ? "llama.cpp does not say why" : reason;
}

double Gibibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

Error TooLittleMemory(const std::string& what, uint64_t needed, uint64_t available) {
  return Error(ErrorCode::kUnavailable,
               fmt::format("{}: too little memory: {:.2f} GiB are needed and {:.2f} GiB are free",
                           what, Gibibytes(needed), Gibibytes(available)));
}

// The size of the file, if it begins as a GGUF file does.
Result<uint64_t> CheckedSize(const std::filesystem::path& file) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(file, error);
  if (error) {
    return Error(
        error == std::errc::no_such_file_or_directory ? ErrorCode::kNotFound : ErrorCode::kIo,
        file.string() + ": cannot open the model: " + error.message());
  }
  std::ifstream stream(file, std::ios::binary);
  char magic[4] = {};
  stream.read(magic, sizeof(magic));
  if (std::string_view(magic, 4) != "GGUF") {
    return Error(stream.bad() ? ErrorCode::kIo : ErrorCode::kParse,
                 file.string() + ": not a GGUF file");
  }
  return bytes;
}

}  // namespace

Result<LlamaModelPointer> LoadLlamaModel(const std::filesystem::path& file,
                                         std::optional<uint64_t> memory_bytes) {
  StartLlama();
  OPTIML_ASSIGN(const uint64_t bytes, CheckedSize(file));
  const auto available = memory_bytes ? memory_bytes : AvailableMemoryBytes();
  if (available && bytes > *available) {
    return TooLittleMemory(file.string(), bytes, *available);
  }
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;  // the GPU is the kernels'
  last_errors.clear();
  LlamaModelPointer model(llama_model_load_from_file(file.c_str(), params));
  if (model == nullptr) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: cannot load the model: {}", file.string(), Reason()));
  }
  return model;
}

Result<LlamaContextPointer> MakeLlamaContext(llama_model* model, const llama_context_params& params,
                                             std::optional<uint64_t> memory_bytes) {
  const auto per_token = static_cast<uint64_t>(llama_model_n_layer(model)) *
                         static_cast<uint64_t>(llama_model_n_embd(model)) *
                         static_cast<uint64_t>(llama_model_n_head_kv(model)) /
                         static_cast<uint64_t>(std::max(1, llama_model_n_head(model))) *
                         (ggml_type_size(params.type_k) + ggml_type_size(params.type_v));
  const uint64_t needed = per_token * params.n_ctx;
  const auto available = memory_bytes ? memory_bytes : AvailableMemoryBytes();
  const std::string what = fmt::format("a context of {} tokens", params.n_ctx);
  if (available && needed > *available) {
    return TooLittleMemory(what, needed, *available);
  }
  last_errors.clear();
  LlamaContextPointer context(llama_init_from_model(model, params));
  if (context == nullptr) {
    return Error(ErrorCode::kUnavailable, what + " cannot be made: " + Reason());
  }
  return context;
}

}  // namespace optiml
