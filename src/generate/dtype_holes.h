#ifndef OPTIML_GENERATE_DTYPE_HOLES_H_
#define OPTIML_GENERATE_DTYPE_HOLES_H_

// What a dtype puts into a contract's holes (dtypes.toml): its C++ type, how it is loaded and
// stored.

#include <map>
#include <span>
#include <string>

#include "base/embedded_text.h"
#include "core/dtype.h"

namespace optiml {

// Empty for dtypes that no contract may have.
std::map<std::string, std::string> DTypeHoles(DType dtype);

std::span<const EmbeddedText> EmbeddedDTypes();

}  // namespace optiml

#endif  // OPTIML_GENERATE_DTYPE_HOLES_H_
