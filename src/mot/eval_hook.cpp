#include "mot/eval_hook.h"

#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <utility>

namespace optiml::mot {

std::optional<int> LayerOfNode(std::string_view name) {
  static constexpr std::string_view kPrefix = "l_out-";
  if (name.substr(0, kPrefix.size()) != kPrefix) {
    return std::nullopt;
  }
  name.remove_prefix(kPrefix.size());
  int layer = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), layer);
  const bool whole = error == std::errc() && stop == name.data() + name.size();
  return whole && layer >= 0 ? std::optional<int>(layer) : std::nullopt;
}

void EvalHook::Watch(int layer, Handler handler) {
  watched_[layer].handler = std::move(handler);
}

void EvalHook::Begin(int64_t rows) {
  rows_ = rows;
  error_.reset();
  for (auto& [layer, watched] : watched_) {
    watched.rows_seen = 0;
  }
}

Result<void> EvalHook::End() {
  if (error_) {
    Error error = *std::exchange(error_, std::nullopt);
    return error;
  }
  for (const auto& [layer, watched] : watched_) {
    if (watched.rows_seen != rows_) {
      return Error(ErrorCode::kInternal, fmt::format("layer {} gave {} rows for {} tokens", layer,
                                                     watched.rows_seen, rows_));
    }
  }
  return {};
}

EvalHook::Watched* EvalHook::Find(const ggml_tensor& node) {
  if (watched_.empty()) {
    return nullptr;
  }
  const std::optional<int> layer = LayerOfNode(node.name);
  const auto found = layer ? watched_.find(*layer) : watched_.end();
  return found == watched_.end() ? nullptr : &found->second;
}

void EvalHook::Take(ggml_tensor& node, Watched& watched) {
  if (error_) {
    return;
  }
  const bool as_expected = node.type == GGML_TYPE_F32 && ggml_is_contiguous(&node) &&
                           node.ne[0] == width_ && node.ne[2] == 1 && node.ne[3] == 1;
  if (!as_expected) {
    error_ =
        Error(ErrorCode::kInternal, fmt::format("{} is {} [{}, {}, {}, {}], not F32 [{}, rows]",
                                                node.name, ggml_type_name(node.type), node.ne[0],
                                                node.ne[1], node.ne[2], node.ne[3], width_));
    return;
  }
  watched.rows_seen += node.ne[1];
  try {
    if (auto result = watched.handler(node); !result) {
      error_ = std::move(result).error();
    }
  } catch (const std::exception& exception) {
    // llama.cpp is not made for exceptions that pass through it.
    error_ = Error(ErrorCode::kInternal, fmt::format("{}: {}", node.name, exception.what()));
  }
}

bool EvalHook::Callback(ggml_tensor* node, bool ask, void* hook) {
  auto& self = *static_cast<EvalHook*>(hook);
  Watched* watched = self.Find(*node);
  if (ask) {
    return watched != nullptr;
  }
  if (watched != nullptr) {
    self.Take(*node, *watched);
  }
  return true;
}

}  // namespace optiml::mot
