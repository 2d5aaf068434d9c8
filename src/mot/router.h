#ifndef OPTIML_MOT_ROUTER_H_
#define OPTIML_MOT_ROUTER_H_

// Router: which experts take part in an answer, and which one of them writes it.

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "mot/bundle.h"

namespace optiml::mot {

struct Route {
  size_t primary = 0;
  std::vector<size_t> peers;   // the better one first; without the primary
  std::vector<double> scores;  // of every expert, a softmax
};

// Over the bundle's numbers. REQUIRES: code.size() == bundle.router.code_width
std::vector<double> RouterScores(const Bundle& bundle, const std::vector<float>& code);

// The `top_k` best experts; equal ones in the bundle's order. The primary is the best of them that
// can be one, or, if none can, the best of all that can, who takes the last one's place; `primary`,
// when it is given, likewise. REQUIRES: 1 <= top_k <= experts
Route ChooseRoute(const Bundle& bundle, std::vector<double> scores, int top_k,
                  std::optional<size_t> primary);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_ROUTER_H_
