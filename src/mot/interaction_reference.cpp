#include "mot/interaction_reference.h"

#include <algorithm>
#include <cmath>

namespace optiml::mot {
namespace {

using Vector = std::vector<double>;

// matrix: [outputs][inputs].
Vector Times(const std::vector<float>& matrix, const Vector& vector) {
  Vector result(matrix.size() / vector.size());
  for (size_t out = 0; out < result.size(); ++out) {
    for (size_t in = 0; in < vector.size(); ++in) {
      result[out] += static_cast<double>(matrix[out * vector.size() + in]) * vector[in];
    }
  }
  return result;
}

Vector RmsNorm(std::span<const float> row, double epsilon) {
  double squares = 0;
  for (const float value : row) {
    squares += static_cast<double>(value) * value;
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
  Vector result(row.begin(), row.end());
  for (double& value : result) {
    value *= scale;
  }
  return result;
}

// One head: the weighted values of the visible latents beside the null key, whose value is 0.
void Attend(const Vector& query, const std::vector<float>& null_key,
            const ReferenceLatents& latents, std::span<const uint8_t> visible, size_t begin,
            size_t end, Vector& result) {
  const size_t s = query.size();
  const double scale = 1 / std::sqrt(static_cast<double>(end - begin));
  double null_score = 0;
  for (size_t i = begin; i < end; ++i) {
    null_score += query[i] * static_cast<double>(null_key[i]) * scale;
  }
  double greatest = null_score;
  Vector scores(static_cast<size_t>(latents.rows));
  for (size_t j = 0; j < scores.size(); ++j) {
    for (size_t i = begin; i < end; ++i) {
      scores[j] += query[i] * latents.keys[j * s + i] * scale;
    }
    if (visible.empty() || visible[j] != 0) {
      greatest = std::max(greatest, scores[j]);
    }
  }
  double sum = std::exp(null_score - greatest);
  for (size_t j = 0; j < scores.size(); ++j) {
    scores[j] = visible.empty() || visible[j] != 0 ? std::exp(scores[j] - greatest) : 0;
    sum += scores[j];
  }
  for (size_t j = 0; j < scores.size(); ++j) {
    for (size_t i = begin; i < end; ++i) {
      result[i] += scores[j] / sum * latents.values[j * s + i];
    }
  }
}

}  // namespace

ReferenceLatents ReferencePeer(const Bundle& bundle, size_t boundary, size_t expert,
                               std::span<const float> rows) {
  const BoundaryWeights& weights = bundle.boundaries[boundary];
  const auto width = static_cast<size_t>(bundle.experts[expert].width);
  ReferenceLatents latents;
  for (size_t row = 0; row < rows.size() / width; ++row) {
    Vector shared =
        Times(weights.in[expert], RmsNorm(rows.subspan(row * width, width), bundle.norm_epsilon));
    for (size_t i = 0; i < shared.size(); ++i) {
      shared[i] += static_cast<double>(weights.kind[expert][i]);
    }
    const Vector key = Times(weights.key, shared);
    const Vector value = Times(weights.value, shared);
    latents.keys.insert(latents.keys.end(), key.begin(), key.end());
    latents.values.insert(latents.values.end(), value.begin(), value.end());
    ++latents.rows;
  }
  return latents;
}

std::vector<double> ReferenceUpdate(const Bundle& bundle, size_t boundary, size_t primary,
                                    const ReferenceLatents& latents, std::span<const float> rows,
                                    const Visibility& visible) {
  const BoundaryWeights& weights = bundle.boundaries[boundary];
  const auto width = static_cast<size_t>(bundle.experts[primary].width);
  const auto latent_rows = static_cast<size_t>(latents.rows);
  const auto s = static_cast<size_t>(bundle.shared_width);
  const size_t head = s / static_cast<size_t>(bundle.heads);
  std::vector<double> update;
  for (size_t row = 0; row < rows.size() / width; ++row) {
    const Vector query =
        Times(weights.query, Times(weights.down[primary],
                                   RmsNorm(rows.subspan(row * width, width), bundle.norm_epsilon)));
    const auto seen = visible.empty() ? std::span<const uint8_t>()
                                      : std::span(visible).subspan(row * latent_rows, latent_rows);
    Vector attended(s);
    for (size_t begin = 0; begin < s; begin += head) {
      Attend(query, weights.null_key, latents, seen, begin, begin + head, attended);
    }
    const Vector added = Times(weights.up[primary], Times(weights.output, attended));
    update.insert(update.end(), added.begin(), added.end());
  }
  return update;
}

}  // namespace optiml::mot
