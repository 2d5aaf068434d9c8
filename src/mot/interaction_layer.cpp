#include "mot/interaction_layer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <ggml-alloc.h>

#include "base/check.h"

namespace optiml::mot {
namespace {

constexpr size_t kGraphTensors = 32;  // more than any of the graphs below has
constexpr float kInvisible = -std::numeric_limits<float>::infinity();

Error NoMemory(const DeviceBackend& backend) {
  return Error(ErrorCode::kUnavailable, "no memory on " + backend.name() + " for the interaction");
}

// left: [rows][inner], right: [inner][columns]; summed in double.
std::vector<float> Product(const std::vector<float>& left, const std::vector<float>& right,
                           int64_t inner) {
  const auto k = static_cast<size_t>(inner);
  const size_t rows = left.size() / k;
  const size_t columns = right.size() / k;
  std::vector<float> result(rows * columns);
  std::vector<double> sums(columns);
  for (size_t row = 0; row < rows; ++row) {
    sums.assign(columns, 0.0);
    for (size_t i = 0; i < k; ++i) {
      const double factor = left[row * k + i];
      for (size_t column = 0; column < columns; ++column) {
        sums[column] += factor * static_cast<double>(right[i * columns + column]);
      }
    }
    for (size_t column = 0; column < columns; ++column) {
      result[row * columns + column] = static_cast<float>(sums[column]);
    }
  }
  return result;
}

void Upload(ggml_tensor* tensor, const std::vector<float>& values) {
  OPTIML_CHECK(ggml_nbytes(tensor) == values.size() * sizeof(float), "a tensor's numbers");
  ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
}

// A tensor of `context` on the memory of `hidden`.
Result<ggml_tensor*> Alias(ggml_context* context, const ggml_tensor& hidden) {
  ggml_tensor* alias = ggml_new_tensor_2d(context, GGML_TYPE_F32, hidden.ne[0], hidden.ne[1]);
  if (ggml_backend_tensor_alloc(BufferOf(hidden), alias, hidden.data) != GGML_STATUS_SUCCESS) {
    return Error(ErrorCode::kInternal, "the rows of a boundary cannot be aliased");
  }
  return alias;
}

// Memory for the inner tensors of `graph`.
Result<GgmlAllocator> Allocate(const DeviceBackend& backend, ggml_cgraph* graph) {
  GgmlAllocator allocator(ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend.get())));
  if (allocator == nullptr || !ggml_gallocr_alloc_graph(allocator.get(), graph)) {
    return NoMemory(backend);
  }
  return allocator;
}

}  // namespace

Result<std::unique_ptr<PeerProjection>> PeerProjection::Make(
    const Bundle& bundle, size_t boundary, size_t expert, std::shared_ptr<DeviceBackend> backend) {
  const BoundaryWeights& weights = bundle.boundaries[boundary];
  const int64_t s = bundle.shared_width;
  std::unique_ptr<PeerProjection> made(new PeerProjection());
  made->shared_width_ = s;
  made->epsilon_ = bundle.norm_epsilon;
  made->backend_ = std::move(backend);
  made->context_ = MakeGgmlContext(4);
  ggml_context* context = made->context_.get();
  made->in_ = ggml_new_tensor_2d(context, GGML_TYPE_F32, bundle.experts[expert].width, s);
  made->kind_ = ggml_new_tensor_1d(context, GGML_TYPE_F32, s);
  made->key_ = ggml_new_tensor_2d(context, GGML_TYPE_F32, s, s);
  made->value_ = ggml_new_tensor_2d(context, GGML_TYPE_F32, s, s);
  made->buffer_.reset(ggml_backend_alloc_ctx_tensors(context, made->backend_->get()));
  if (made->buffer_ == nullptr) {
    return NoMemory(*made->backend_);
  }
  Upload(made->in_, weights.in[expert]);
  Upload(made->kind_, weights.kind[expert]);
  Upload(made->key_, weights.key);
  Upload(made->value_, weights.value);
  return made;
}

Result<Latents> PeerProjection::Project(ggml_tensor& hidden) const {
  const GgmlContext context = MakeGgmlContext(kGraphTensors);
  OPTIML_ASSIGN(ggml_tensor * rows, Alias(context.get(), hidden));
  ggml_tensor* shared =
      ggml_mul_mat(context.get(), in_, ggml_rms_norm(context.get(), rows, epsilon_));
  shared = ggml_add(context.get(), shared, kind_);
  ggml_tensor* keys = ggml_mul_mat(context.get(), key_, shared);
  ggml_tensor* values = ggml_mul_mat(context.get(), value_, shared);
  ggml_set_output(keys);
  ggml_set_output(values);
  ggml_cgraph* graph = ggml_new_graph_custom(context.get(), kGraphTensors, false);
  ggml_build_forward_expand(graph, keys);
  ggml_build_forward_expand(graph, values);
  OPTIML_ASSIGN(const GgmlAllocator allocator, Allocate(*backend_, graph));
  OPTIML_TRY(backend_->Compute(graph));
  Latents latents;
  latents.rows = hidden.ne[1];
  latents.keys.resize(static_cast<size_t>(latents.rows * shared_width_));
  latents.values.resize(latents.keys.size());
  ggml_backend_tensor_get(keys, latents.keys.data(), 0, ggml_nbytes(keys));
  ggml_backend_tensor_get(values, latents.values.data(), 0, ggml_nbytes(values));
  return latents;
}

Result<std::unique_ptr<InteractionLayer>> InteractionLayer::Make(
    const Bundle& bundle, size_t boundary, size_t primary, std::shared_ptr<DeviceBackend> backend) {
  OPTIML_CHECK(bundle.experts[primary].can_be_primary, "the bundle has a primary's side for it");
  const BoundaryWeights& weights = bundle.boundaries[boundary];
  const int64_t s = bundle.shared_width;
  std::unique_ptr<InteractionLayer> made(new InteractionLayer());
  made->width_ = bundle.experts[primary].width;
  made->shared_width_ = s;
  made->heads_ = bundle.heads;
  made->epsilon_ = bundle.norm_epsilon;
  made->null_key_ = weights.null_key;
  made->backend_ = std::move(backend);
  made->context_ = MakeGgmlContext(2);
  made->query_ = ggml_new_tensor_2d(made->context_.get(), GGML_TYPE_F32, made->width_, s);
  made->output_ = ggml_new_tensor_2d(made->context_.get(), GGML_TYPE_F32, s, made->width_);
  made->buffer_.reset(ggml_backend_alloc_ctx_tensors(made->context_.get(), made->backend_->get()));
  if (made->buffer_ == nullptr) {
    return NoMemory(*made->backend_);
  }
  // Two matrices, one after the other, are one: half the reading while decoding.
  Upload(made->query_, Product(weights.query, weights.down[primary], s));
  Upload(made->output_, Product(weights.up[primary], weights.output, s));
  return made;
}

Result<void> InteractionLayer::SetLatents(const Latents& latents, int64_t room) {
  graph_ = Graph();
  rows_ = 0;
  latent_buffer_.reset();
  latent_context_ = MakeGgmlContext(2);
  const int64_t capacity = latents.rows + room + 1;
  keys_ = ggml_new_tensor_3d(latent_context_.get(), GGML_TYPE_F32, shared_width_ / heads_, capacity,
                             heads_);
  values_ = ggml_new_tensor_2d(latent_context_.get(), GGML_TYPE_F32, capacity, shared_width_);
  latent_buffer_.reset(ggml_backend_alloc_ctx_tensors(latent_context_.get(), backend_->get()));
  if (latent_buffer_ == nullptr) {
    return NoMemory(*backend_);
  }
  ggml_backend_buffer_clear(latent_buffer_.get(), 0);  // the null key's value among them
  SetKeys(null_key_, 0);
  AppendLatents(latents);
  return {};
}

// Whole keys become heads, each head's side by side: that is how they are read.
void InteractionLayer::SetKeys(const std::vector<float>& keys, size_t first) {
  const auto s = static_cast<size_t>(shared_width_);
  const auto heads = static_cast<size_t>(heads_);
  const size_t width = s / heads;
  const size_t rows = keys.size() / s;
  std::vector<float> of_head(rows * width);
  for (size_t head = 0; head < heads; ++head) {
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(&keys[row * s + head * width], width, &of_head[row * width]);
    }
    ggml_backend_tensor_set(keys_, of_head.data(), head * keys_->nb[2] + first * keys_->nb[1],
                            of_head.size() * sizeof(float));
  }
}

void InteractionLayer::AppendLatents(const Latents& latents) {
  if (latents.rows == 0) {
    return;
  }
  OPTIML_CHECK(keys_ != nullptr && rows_ + 1 + latents.rows <= keys_->ne[1], "room for latents");
  const auto s = static_cast<size_t>(shared_width_);
  const auto rows = static_cast<size_t>(latents.rows);
  const auto first = static_cast<size_t>(rows_ + 1);
  SetKeys(latents.keys, first);
  // Values are read along the latents: they are kept with the latents innermost.
  std::vector<float> turned(rows * s);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < s; ++i) {
      turned[i * rows + row] = latents.values[row * s + i];
    }
  }
  for (size_t i = 0; i < s; ++i) {
    ggml_backend_tensor_set(values_, &turned[i * rows], i * values_->nb[1] + first * sizeof(float),
                            rows * sizeof(float));
  }
  rows_ += latents.rows;
}

ggml_tensor* InteractionLayer::Attention(Graph& made, ggml_tensor* hidden) const {
  ggml_context* context = made.context.get();
  const int64_t head = shared_width_ / heads_;
  const int64_t rows = hidden->ne[1];
  const int64_t latents = rows_ + 1;
  ggml_tensor* query = ggml_mul_mat(context, query_, ggml_rms_norm(context, hidden, epsilon_));
  query = ggml_reshape_3d(context, query, head, heads_, rows);
  query = ggml_permute(context, query, 0, 2, 1, 3);  // [heads][rows][head]
  ggml_tensor* keys =
      ggml_view_3d(context, keys_, head, latents, heads_, keys_->nb[1], keys_->nb[2], 0);
  ggml_tensor* values = ggml_view_3d(context, values_, latents, head, heads_, values_->nb[1],
                                     static_cast<size_t>(head) * values_->nb[1], 0);
  ggml_tensor* weights = ggml_mul_mat(context, keys, query);  // [heads][rows][latents]
  weights =
      ggml_soft_max_ext(context, weights, made.mask, 1 / std::sqrt(static_cast<float>(head)), 0.0F);
  ggml_tensor* attended = ggml_mul_mat(context, values, weights);  // [heads][rows][head]
  attended = ggml_permute(context, attended, 0, 2, 1, 3);
  attended = ggml_cont_2d(context, attended, shared_width_, rows);
  return ggml_mul_mat(context, output_, attended);
}

Result<InteractionLayer::Graph> InteractionLayer::MakeGraph(ggml_tensor& hidden, bool masked,
                                                            bool add) const {
  Graph made;
  made.hidden_rows = hidden.ne[1];
  made.latents = rows_;
  made.data = hidden.data;
  made.masked = masked;
  made.context = MakeGgmlContext(kGraphTensors);
  ggml_context* context = made.context.get();
  OPTIML_ASSIGN(ggml_tensor * rows, Alias(context, hidden));
  if (masked) {
    made.mask = ggml_new_tensor_2d(context, GGML_TYPE_F32, rows_ + 1, made.hidden_rows);
    ggml_set_input(made.mask);
  }
  made.update = Attention(made, rows);
  ggml_tensor* last = made.update;
  if (add) {
    last = ggml_add_inplace(context, rows, made.update);
  } else {
    ggml_set_output(made.update);
  }
  made.graph = ggml_new_graph_custom(context, kGraphTensors, false);
  ggml_build_forward_expand(made.graph, last);
  OPTIML_ASSIGN(made.allocator, Allocate(*backend_, made.graph));
  return made;
}

void InteractionLayer::SetMask(const Graph& graph, const Visibility& visible) const {
  const auto latents = static_cast<size_t>(rows_);
  OPTIML_CHECK(visible.size() == latents * static_cast<size_t>(graph.hidden_rows),
               "one mark a row and latent");
  std::vector<float> mask;
  for (size_t row = 0; row < static_cast<size_t>(graph.hidden_rows); ++row) {
    mask.push_back(0);  // the null key
    for (size_t j = 0; j < latents; ++j) {
      mask.push_back(visible[row * latents + j] != 0 ? 0 : kInvisible);
    }
  }
  Upload(graph.mask, mask);
}

Result<void> InteractionLayer::Apply(ggml_tensor& hidden, const Visibility& visible) {
  if (rows_ == 0) {
    return {};
  }
  const bool masked = !visible.empty();
  if (graph_.graph == nullptr || graph_.hidden_rows != hidden.ne[1] || graph_.latents != rows_ ||
      graph_.data != hidden.data || graph_.masked != masked) {
    OPTIML_ASSIGN(graph_, MakeGraph(hidden, masked, true));
  }
  if (masked) {
    SetMask(graph_, visible);
  }
  return backend_->Compute(graph_.graph);
}

Result<std::vector<float>> InteractionLayer::Update(std::span<const float> rows,
                                                    const Visibility& visible) {
  std::vector<float> update(rows.size());
  if (rows_ == 0 || rows.empty()) {
    return update;
  }
  const GgmlContext context = MakeGgmlContext(1);
  ggml_tensor* hidden = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, width_,
                                           static_cast<int64_t>(rows.size()) / width_);
  const GgmlBuffer buffer(ggml_backend_alloc_ctx_tensors(context.get(), backend_->get()));
  if (buffer == nullptr) {
    return NoMemory(*backend_);
  }
  ggml_backend_tensor_set(hidden, rows.data(), 0, ggml_nbytes(hidden));
  OPTIML_ASSIGN(const Graph graph, MakeGraph(*hidden, !visible.empty(), false));
  if (!visible.empty()) {
    SetMask(graph, visible);
  }
  OPTIML_TRY(backend_->Compute(graph.graph));
  ggml_backend_tensor_get(graph.update, update.data(), 0, ggml_nbytes(graph.update));
  return update;
}

}  // namespace optiml::mot
