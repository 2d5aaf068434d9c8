#ifndef OPTIML_PTX_OPCODE_H_
#define OPTIML_PTX_OPCODE_H_

// Opcode: the parts of an opcode string. What belongs to no known part stays in `others`; the
// decoder of each operation decides whether it can live with them. Internal to ptx/.

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/alu.h"
#include "ptx/counters.h"
#include "ptx/module.h"

namespace optiml::ptx {

struct Opcode {
  std::string_view base;
  std::vector<Type> types;
  Rounding rounding = Rounding::kNone;
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;
  bool approximate = false;  // approx, full
  bool full_range = false;   // full
  bool relu = false;
  std::vector<std::string_view> others;  // in order

  bool Has(std::string_view word) const;
  // The only, or the last type; kNone without.
  Type type() const { return types.empty() ? Type::kNone : types.back(); }
};

Opcode ParseOpcode(std::string_view text);
bool IsFloatType(Type type);
std::optional<Compare> ParseCompare(std::string_view word);

// What an instruction counts as; `space` matters for loads, stores and atomics.
InstructionClass ClassOf(const Opcode& opcode, Space space);
// The state space that the opcode names; kNone: generic or not a memory operation.
Space SpaceOf(const Opcode& opcode);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_OPCODE_H_
