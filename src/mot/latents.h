#ifndef OPTIML_MOT_LATENTS_H_
#define OPTIML_MOT_LATENTS_H_

// What a boundary keeps of its peers: one key and one value a row that a peer has read.

#include <cstdint>
#include <vector>

namespace optiml::mot {

struct Latents {
  int64_t rows = 0;
  std::vector<float> keys;    // [rows][shared width]
  std::vector<float> values;  // [rows][shared width]

  void Append(const Latents& more) {
    rows += more.rows;
    keys.insert(keys.end(), more.keys.begin(), more.keys.end());
    values.insert(values.end(), more.values.begin(), more.values.end());
  }
};

// Which latents each of the primary's rows may see: [primary rows][latent rows], 1 or 0. Empty: all
// of them.
using Visibility = std::vector<uint8_t>;

}  // namespace optiml::mot

#endif  // OPTIML_MOT_LATENTS_H_
