#ifndef OPTIML_MOT_EVAL_HOOK_H_
#define OPTIML_MOT_EVAL_HOOK_H_

// EvalHook: the one callback that llama.cpp's scheduler calls, and all that we know of its rules.
//
// The residual stream that leaves layer N is the node "l_out-N": F32, [width, rows], contiguous.
// The scheduler computes up to a node that was asked for, waits for its device, hands it out, and
// goes on with what is in its memory then: a handler may read it and write it. Copies of the node
// for other devices carry other names ("CUDA0#l_out-3#0") and are left alone.
//
// A callback that returns false makes llama_decode succeed with garbage. So this one never does:
// the first error is kept, the handlers that follow are not called, and End returns it.
//
// Threads: used by the thread that calls llama_decode.

#include <ggml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace optiml::mot {

class EvalHook {
 public:
  // `hidden` holds the rows of one micro-batch; valid during the call.
  using Handler = std::function<Result<void>(ggml_tensor& hidden)>;

  explicit EvalHook(int64_t width) : width_(width) {}

  // Calls `handler` with the rows that leave `layer`. One handler a layer.
  void Watch(int layer, Handler handler);
  void Clear() { watched_.clear(); }
  bool empty() const { return watched_.empty(); }

  // Around one llama_decode of `rows` tokens. End fails with the first handler's error, and with
  // kInternal when a watched node did not appear with that many rows in all, or not as it should
  // be.
  void Begin(int64_t rows);
  Result<void> End();

  // For llama_context_params; `hook` is an EvalHook.
  static bool Callback(ggml_tensor* node, bool ask, void* hook);

 private:
  struct Watched {
    Handler handler;
    int64_t rows_seen = 0;
  };
  Watched* Find(const ggml_tensor& node);
  void Take(ggml_tensor& node, Watched& watched);

  int64_t width_;
  int64_t rows_ = 0;
  std::map<int, Watched> watched_;  // by layer
  std::optional<Error> error_;
};

// N of "l_out-N"; absent for every other name.
std::optional<int> LayerOfNode(std::string_view name);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_EVAL_HOOK_H_
