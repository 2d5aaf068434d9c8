#include "mot/llama_runtime.h"

#include <llama.h>

#include <algorithm>

#include "base/log.h"

namespace optiml::mot {
namespace {

std::mutex& LogMutex() {
  static std::mutex mutex;
  return mutex;
}

void DropText(ggml_log_level, const char* text, void*) {
  Log(LogLevel::kDebug, text);
}

void KeepErrors(ggml_log_level level, const char* text, void* user) {
  if (level == GGML_LOG_LEVEL_ERROR) {
    static_cast<LlamaLog*>(user)->Add(text);
  }
}

// "llama_model_load: error loading model: x\n" -> "x"; "function: x" -> "x".
std::string Stripped(std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.erase(line.find_last_not_of(' ') + 1);
  static constexpr std::string_view kLoading = "error loading model: ";
  if (const size_t at = line.find(kLoading); at != std::string::npos) {
    return line.substr(at + kLoading.size());
  }
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

}  // namespace

void InitialiseLlama() {
  static const bool done = [] {
    llama_log_set(DropText, nullptr);
    llama_backend_init();
    ggml_backend_load_all();
    return true;
  }();
  static_cast<void>(done);
}

LlamaLog::LlamaLog() : lock_(LogMutex()) {
  InitialiseLlama();
  llama_log_set(KeepErrors, this);
}

LlamaLog::~LlamaLog() {
  llama_log_set(DropText, nullptr);
}

std::string LlamaLog::Reason(const std::string& otherwise) const {
  // The first error is the cause; those after it say that a caller of the failed function failed.
  // Only a reader of GGUF files says less than the loader above it.
  for (const std::string& line : lines_) {
    const std::string reason = Stripped(line);
    if (!reason.empty()) {
      return reason;
    }
  }
  return otherwise;
}

}  // namespace optiml::mot
