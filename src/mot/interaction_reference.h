#ifndef OPTIML_MOT_INTERACTION_REFERENCE_H_
#define OPTIML_MOT_INTERACTION_REFERENCE_H_

// The interaction in double precision, written as docs/mot.md writes it: slow and obvious. What the
// graphs of interaction_layer.h compute is compared with it.

#include <cstddef>
#include <span>
#include <vector>

#include "mot/bundle.h"
#include "mot/latents.h"

namespace optiml::mot {

struct ReferenceLatents {
  int64_t rows = 0;
  std::vector<double> keys, values;  // [rows][shared width]
};

// Of `rows` ([n][width of expert]) that leave that expert's boundary.
ReferenceLatents ReferencePeer(const Bundle& bundle, size_t boundary, size_t expert,
                               std::span<const float> rows);

// What is added to `rows` ([n][width of primary]); of the same shape.
std::vector<double> ReferenceUpdate(const Bundle& bundle, size_t boundary, size_t primary,
                                    const ReferenceLatents& latents, std::span<const float> rows,
                                    const Visibility& visible = {});

}  // namespace optiml::mot

#endif  // OPTIML_MOT_INTERACTION_REFERENCE_H_
