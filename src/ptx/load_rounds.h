#ifndef OPTIML_PTX_LOAD_ROUNDS_H_
#define OPTIML_PTX_LOAD_ROUNDS_H_

// Rounds of global loads that can be in flight together, if each load issues as soon as its address
// is known: what ptxas makes of straight text. Short branches forward become predicates there, so
// that loads move across them; correctly rounded divisions and roots are branches of their own in
// machine code, so that none moves across those.

#include <cstdint>
#include <vector>

#include "ptx/control_flow.h"
#include "ptx/module.h"

namespace optiml::ptx {

// By block of `flow`: how many rounds of loads one run of it adds.
std::vector<uint32_t> LoadRounds(const Function& function, const ControlFlow& flow);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_LOAD_ROUNDS_H_
