#include "ptx/load_rounds.h"

#include <algorithm>
#include <map>

#include "ptx/opcode.h"

namespace optiml::ptx {
namespace {

// Instructions of a branch's body that ptxas still turns into predicated ones.
constexpr uint32_t kPredicatedBody = 16;

bool IsGlobal(Space space) {
  return space == Space::kGlobal || space == Space::kNone;
}

// Loads do not move across it.
bool Fences(const Opcode& opcode, Space space) {
  static constexpr std::string_view kFences[] = {"bar",    "barrier", "atom", "red",
                                                 "membar", "fence",   "call"};
  if (std::find(std::begin(kFences), std::end(kFences), opcode.base) != std::end(kFences) ||
      (opcode.base == "st" && IsGlobal(space))) {
    return true;
  }
  switch (ClassOf(opcode, space)) {
    case InstructionClass::kFp32Division:
    case InstructionClass::kFp32Reciprocal:
    case InstructionClass::kFp32Root:
      return true;
    default:
      return false;
  }
}

class Rounds {
 public:
  // A loop begins: what was known of registers holds no longer.
  void Reset() { *this = Rounds(); }
  void Fence() { fence_ = deepest_; }
  uint32_t deepest() const { return deepest_; }

  void Take(const Instruction& instruction) {
    const Opcode opcode = ParseOpcode(instruction.opcode);
    const Space space = SpaceOf(opcode);
    uint32_t result = 0;
    for (size_t k = opcode.base == "st" ? 0 : 1; k < instruction.operands.size(); ++k) {
      result = std::max(result, DepthOf(instruction.operands[k]));
    }
    if (opcode.base == "cp" && ClassOf(opcode, space) == InstructionClass::kLoadGlobal) {
      deepest_ = std::max(deepest_, std::max(result, fence_) + 1);
      return;
    }
    if (opcode.base == "cp" || opcode.base == "mbarrier") {
      Fence();
      return;
    }
    if (opcode.base == "ld" && IsGlobal(space)) {
      result = std::max(result, opcode.Has("nc") ? 0 : fence_) + 1;
      deepest_ = std::max(deepest_, result);
    } else if (Fences(opcode, space)) {
      Fence();
    }
    if (!instruction.operands.empty() && opcode.base != "st") {
      Set(instruction.operands[0], result);
    }
  }

 private:
  uint32_t DepthOf(const Operand& operand) const {
    uint32_t most = 0;
    if (operand.kind == OperandKind::kRegister) {
      const auto it = depth_.find(operand.index);
      most = it != depth_.end() ? it->second : 0;
    }
    for (const Operand& element : operand.elements) {
      most = std::max(most, DepthOf(element));
    }
    return most;
  }
  void Set(const Operand& operand, uint32_t value) {
    if (operand.kind == OperandKind::kRegister) {
      depth_[operand.index] = value;
    }
    for (const Operand& element : operand.elements) {
      Set(element, value);
    }
  }

  std::map<int32_t, uint32_t> depth_;  // by register: rounds that its value waits for
  uint32_t fence_ = 0;
  uint32_t deepest_ = 0;
};

struct Shape {
  std::vector<bool> loop_head;  // by block: a branch leads back to it
  std::vector<bool> long_skip;  // a branch that skips much leads to it
};

Shape ShapeOf(const ControlFlow& flow) {
  Shape shape{std::vector<bool>(flow.blocks.size()), std::vector<bool>(flow.blocks.size())};
  for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
    for (const uint32_t to : flow.blocks[b].successors) {
      if (to >= flow.blocks.size()) {
        continue;
      }
      if (to <= b) {
        shape.loop_head[to] = true;
      } else if (flow.blocks[to].begin - flow.blocks[b].end > kPredicatedBody) {
        shape.long_skip[to] = true;
      }
    }
  }
  return shape;
}

}  // namespace

std::vector<uint32_t> LoadRounds(const Function& function, const ControlFlow& flow) {
  const Shape shape = ShapeOf(flow);
  std::vector<uint32_t> added;
  Rounds rounds;
  bool loop_before = false;
  for (uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const BasicBlock& block = flow.blocks[b];
    if (shape.loop_head[b] || loop_before) {
      rounds.Reset();
    } else if (shape.long_skip[b]) {
      rounds.Fence();
    }
    const uint32_t before = rounds.deepest();
    for (uint32_t i = block.begin; i < block.end; ++i) {
      rounds.Take(function.instructions[i]);
    }
    added.push_back(rounds.deepest() - before);
    loop_before = std::any_of(block.successors.begin(), block.successors.end(),
                              [&](uint32_t to) { return to <= b; });
    // The body of a long branch, which some warps skip, stands for itself.
    const bool skips = std::any_of(block.successors.begin(), block.successors.end(), [&](auto to) {
      return to < flow.blocks.size() && to > b && shape.long_skip[to];
    });
    if (skips) {
      rounds.Fence();
    }
  }
  return added;
}

}  // namespace optiml::ptx
