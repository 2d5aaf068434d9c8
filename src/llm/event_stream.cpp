#include "llm/event_stream.h"

namespace optiml {
namespace {

constexpr size_t kLargestEvent = size_t{1} << 20;

}  // namespace

Result<void> EventStream::Feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' && after_return_) {
      after_return_ = false;
      continue;
    }
    after_return_ = c == '\r';
    if (c == '\n' || c == '\r') {
      TakeLine();
      line_.clear();
      continue;
    }
    line_ += c;
    if (line_.size() + data_.size() > kLargestEvent) {
      return Error(ErrorCode::kInternal, "an event of more than 1 MiB");
    }
  }
  return {};
}

void EventStream::TakeLine() {
  if (line_.empty()) {
    if (has_data_) {
      on_data_(data_);
    }
    data_.clear();
    has_data_ = false;
    return;
  }
  std::string_view line = line_;
  if (!line.starts_with("data:") && line != "data") {
    return;
  }
  line.remove_prefix(std::min<size_t>(line.size(), 5));
  if (line.starts_with(' ')) {
    line.remove_prefix(1);
  }
  if (has_data_) {
    data_ += '\n';
  }
  data_ += line;
  has_data_ = true;
}

}  // namespace optiml
