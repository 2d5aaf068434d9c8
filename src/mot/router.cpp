#include "mot/router.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace optiml::mot {
namespace {

std::vector<double> RmsNorm(const std::vector<float>& code, double epsilon) {
  double squares = 0;
  for (const float value : code) {
    squares += static_cast<double>(value) * value;
  }
  const double scale = 1 / std::sqrt(squares / static_cast<double>(code.size()) + epsilon);
  std::vector<double> result;
  for (const float value : code) {
    result.push_back(value * scale);
  }
  return result;
}

std::vector<double> Affine(const std::vector<float>& matrix, const std::vector<float>& bias,
                           const std::vector<double>& input) {
  std::vector<double> result(bias.begin(), bias.end());
  for (size_t out = 0; out < result.size(); ++out) {
    for (size_t in = 0; in < input.size(); ++in) {
      result[out] += static_cast<double>(matrix[out * input.size() + in]) * input[in];
    }
  }
  return result;
}

}  // namespace

std::vector<double> RouterScores(const Bundle& bundle, const std::vector<float>& code) {
  const RouterWeights& router = bundle.router;
  OPTIML_CHECK(static_cast<int64_t>(code.size()) == router.code_width, "a code of that width");
  std::vector<double> hidden =
      Affine(router.hidden, router.hidden_bias, RmsNorm(code, bundle.norm_epsilon));
  for (double& value : hidden) {
    value = value / (1 + std::exp(-value));
  }
  std::vector<double> scores = Affine(router.output, router.output_bias, hidden);
  const double greatest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - greatest);
    sum += score;
  }
  for (double& score : scores) {
    score /= sum;
  }
  return scores;
}

Route ChooseRoute(const Bundle& bundle, std::vector<double> scores, int top_k,
                  std::optional<size_t> primary) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const auto writer = std::find_if(order.begin(), order.end(), [&](size_t m) {
    return primary ? m == *primary : bundle.experts[m].can_be_primary;
  });
  OPTIML_CHECK(writer != order.end() && bundle.experts[*writer].can_be_primary,
               "a bundle has an expert that can be the primary");
  Route route;
  route.primary = *writer;
  for (const size_t m : order) {
    if (m != route.primary && static_cast<int>(route.peers.size()) < top_k - 1) {
      route.peers.push_back(m);
    }
  }
  route.scores = std::move(scores);
  return route;
}

}  // namespace optiml::mot
