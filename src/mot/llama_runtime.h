#ifndef OPTIML_MOT_LLAMA_RUNTIME_H_
#define OPTIML_MOT_LLAMA_RUNTIME_H_

// What llama.cpp asks of a process: to be initialised once, and somebody who takes its log. The log
// is the only place where it says why a file was refused.

#include <mutex>
#include <string>
#include <vector>

namespace optiml::mot {

// The first call initialises the library and silences its log; further calls do nothing. Thread
// safe.
void InitialiseLlama();

// Collects what llama.cpp logs as an error while it lives. One at a time in a process: a second one
// waits for the first.
class LlamaLog {
 public:
  LlamaLog();
  ~LlamaLog();
  LlamaLog(const LlamaLog&) = delete;  // its address is known to the library
  LlamaLog& operator=(const LlamaLog&) = delete;

  // The reason in the errors so far, on one line; `otherwise` when none was logged.
  std::string Reason(const std::string& otherwise) const;
  void Add(const std::string& text) { lines_.push_back(text); }

 private:
  std::unique_lock<std::mutex> lock_;
  std::vector<std::string> lines_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_LLAMA_RUNTIME_H_
