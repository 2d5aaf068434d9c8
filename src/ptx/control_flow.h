#ifndef OPTIML_PTX_CONTROL_FLOW_H_
#define OPTIML_PTX_CONTROL_FLOW_H_

// Basic blocks of a function and where diverging lanes meet again: the immediate post-dominator
// (Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm", 2001, on the reversed graph with
// one virtual exit). For ptx/ and for analyses of its modules.

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace optiml::ptx {

struct BasicBlock {
  uint32_t begin = 0;  // instructions [begin, end)
  uint32_t end = 0;
  std::vector<uint32_t> successors;
  bool leaves = false;  // ends the function for some lanes
  int32_t reconvergence =
      -1;  // block where lanes that diverge at its end meet; -1: at the end of the function
};

struct ControlFlow {
  std::vector<BasicBlock>
      blocks;  // in the text's order; every block is reached from its predecessor in the text
  std::vector<uint32_t> block_of;  // by instruction; one entry more for the end
};

ControlFlow BuildControlFlow(const Function& function);

// "bra.uni" -> "bra".
std::string_view BaseOpcode(std::string_view opcode);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_CONTROL_FLOW_H_
