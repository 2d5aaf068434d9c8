#ifndef OPTIML_LLM_EVENT_STREAM_H_
#define OPTIML_LLM_EVENT_STREAM_H_

// EventStream: server-sent events (WHATWG HTML, section 9.2) out of bytes that come in pieces. Only
// the data of the events is kept; comments, names, ids and retry times are not.

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace optiml {

class EventStream {
 public:
  // `on_data` gets the data of each event as soon as the blank line behind it is there.
  explicit EventStream(std::function<void(const std::string& data)> on_data)
      : on_data_(std::move(on_data)) {}

  // Fails with kInternal when an event is larger than 1 MiB: an answer's pieces are not.
  Result<void> Feed(std::string_view bytes);

 private:
  void TakeLine();

  std::function<void(const std::string&)> on_data_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // the last byte was a carriage return: a newline belongs to it
};

}  // namespace optiml

#endif  // OPTIML_LLM_EVENT_STREAM_H_
