#ifndef OPTIML_LLM_EXCHANGE_FILE_H_
#define OPTIML_LLM_EXCHANGE_FILE_H_

// ExchangeFile: a recording (llm/recording_chat_model.h) read one line at a time, so that its
// length does not matter. A last line without its newline was cut off by a crash and counts as
// absent.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/result.h"

namespace optiml {

class ExchangeFile {
 public:
  // Fails with kNotFound, kIo, or kParse when the first line is not a recording's.
  static Result<ExchangeFile> Open(const std::filesystem::path& file);
  // The first line of a recording of `model`, without the newline.
  static std::string Header(const std::string& model);

  // No line at all: a recording that was not begun.
  bool is_empty() const { return whole_bytes_ == 0; }
  const std::string& model() const { return model_; }
  // The size of the file up to its last newline.
  uint64_t whole_bytes() const { return whole_bytes_; }

  // The next exchange's line; absent at the end.
  std::optional<std::string> NextLine();

 private:
  std::ifstream stream_;
  std::string model_;
  uint64_t whole_bytes_ = 0;
  uint64_t read_bytes_ = 0;
};

}  // namespace optiml

#endif  // OPTIML_LLM_EXCHANGE_FILE_H_
