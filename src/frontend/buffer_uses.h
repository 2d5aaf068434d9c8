#ifndef OPTIML_FRONTEND_BUFFER_USES_H_
#define OPTIML_FRONTEND_BUFFER_USES_H_

// BufferUses: what becomes of a launcher's buffers: which the kernels only read, which they write,
// as far as the syntax tree says it. Pointers are followed through launches, calls of functions of
// the file, casts, offsets and local pointer variables, without regard to conditions.

#include <string>
#include <vector>

#include "frontend/ast.h"

namespace optiml {

struct BufferUse {
  bool is_read = false;
  bool is_written = false;
  // The first launch, copy or memset that touches the buffer only writes it.
  bool starts_written = false;
  // The pointer goes where it cannot be followed: the other fields are lower bounds.
  bool escapes = false;
};

// One entry a parameter of the host function `entry`; scalars have empty ones. Empty when the unit
// has no such function.
std::vector<BufferUse> BufferUses(const ast::SourceUnit& unit, const std::string& entry);

}  // namespace optiml

#endif  // OPTIML_FRONTEND_BUFFER_USES_H_
