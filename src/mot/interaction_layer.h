#ifndef OPTIML_MOT_INTERACTION_LAYER_H_
#define OPTIML_MOT_INTERACTION_LAYER_H_

// The interaction as ggml graphs on the device that the model's rows lie on. The graphs work on the
// memory of the rows themselves, so that on a GPU nothing is copied through the host.
//
// A graph is made for a number of rows and latents and for a place in memory, and kept: while the
// primary decodes, none of them changes.

#include <ggml.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "mot/bundle.h"
#include "mot/device_backend.h"
#include "mot/latents.h"

namespace optiml::mot {

// A peer's side of a boundary: rows -> latents.
class PeerProjection {
 public:
  static Result<std::unique_ptr<PeerProjection>> Make(const Bundle& bundle, size_t boundary,
                                                      size_t expert,
                                                      std::shared_ptr<DeviceBackend> backend);

  // Of rows that lie on the backend's device. The latents come to the host.
  Result<Latents> Project(ggml_tensor& hidden) const;

 private:
  PeerProjection() = default;
  int64_t shared_width_ = 0;
  float epsilon_ = 0;
  std::shared_ptr<DeviceBackend> backend_;
  GgmlContext context_;
  GgmlBuffer buffer_;
  ggml_tensor* in_ = nullptr;
  ggml_tensor* kind_ = nullptr;
  ggml_tensor* key_ = nullptr;
  ggml_tensor* value_ = nullptr;
};

// The primary's side: rows += what their attention to the latents says.
class InteractionLayer {
 public:
  static Result<std::unique_ptr<InteractionLayer>> Make(const Bundle& bundle, size_t boundary,
                                                        size_t primary,
                                                        std::shared_ptr<DeviceBackend> backend);

  // The latents from now on, with room for `room` more rows. Without any the layer changes nothing.
  Result<void> SetLatents(const Latents& latents, int64_t room = 0);
  // REQUIRES: there is room for them
  void AppendLatents(const Latents& latents);
  int64_t latent_rows() const { return rows_; }

  // In place. `hidden` lies on the backend's device.
  Result<void> Apply(ggml_tensor& hidden, const Visibility& visible = {});

  // What Apply adds to rows ([n][width]) in host memory; computed by the same graph. For tests.
  Result<std::vector<float>> Update(std::span<const float> rows, const Visibility& visible = {});

 private:
  struct Graph {
    int64_t hidden_rows = 0;
    int64_t latents = 0;
    void* data = nullptr;
    bool masked = false;
    GgmlContext context;
    GgmlAllocator allocator;
    ggml_cgraph* graph = nullptr;
    ggml_tensor* mask = nullptr;
    ggml_tensor* update = nullptr;
  };

  InteractionLayer() = default;
  // On `hidden`'s memory, up to the sum when `add`.
  Result<Graph> MakeGraph(ggml_tensor& hidden, bool masked, bool add) const;
  void SetKeys(const std::vector<float>& keys, size_t first);
  ggml_tensor* Attention(Graph& made, ggml_tensor* hidden) const;
  void SetMask(const Graph& graph, const Visibility& visible) const;

  int64_t width_ = 0;
  int64_t shared_width_ = 0;
  int64_t heads_ = 1;
  float epsilon_ = 0;
  std::vector<float> null_key_;
  std::shared_ptr<DeviceBackend> backend_;
  GgmlContext context_;
  GgmlBuffer buffer_;
  ggml_tensor* query_ = nullptr;   // wq * down: [shared width][width]
  ggml_tensor* output_ = nullptr;  // up * wo: [width][shared width]
  // The null key is row 0 of them.
  GgmlContext latent_context_;
  GgmlBuffer latent_buffer_;
  ggml_tensor* keys_ = nullptr;    // [heads][room][shared width / heads]
  ggml_tensor* values_ = nullptr;  // [shared width][room]
  int64_t rows_ = 0;
  Graph graph_;  // the last one that Apply used
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_INTERACTION_LAYER_H_
