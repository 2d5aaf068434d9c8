#include "ptx/control_flow.h"

#include <algorithm>

namespace optiml::ptx {
namespace {

bool EndsBlock(std::string_view base) {
  return base == "bra" || base == "brx" || base == "ret" || base == "exit" || base == "trap" ||
         base == "call";
}

}  // namespace

std::string_view BaseOpcode(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

ControlFlow BuildControlFlow(const Function& function) {
  const auto count = static_cast<uint32_t>(function.instructions.size());
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (const int32_t target : function.label_targets) {
    leader[static_cast<size_t>(target)] = true;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (EndsBlock(BaseOpcode(function.instructions[i].opcode))) {
      leader[i + 1] = true;
    }
  }
  ControlFlow flow;
  flow.block_of.resize(count + 1);
  for (uint32_t i = 0; i <= count; ++i) {
    if (leader[i] || i == count) {
      if (i == count && !flow.blocks.empty() && !leader[i]) {
        flow.block_of[i] = static_cast<uint32_t>(flow.blocks.size());
        break;
      }
      if (!flow.blocks.empty()) {
        flow.blocks.back().end = i;
      }
      BasicBlock block;
      block.begin = i;
      block.end = count;
      flow.blocks.push_back(block);
    }
    flow.block_of[i] = static_cast<uint32_t>(flow.blocks.size() - 1);
  }
  const auto blocks = static_cast<uint32_t>(flow.blocks.size());
  const uint32_t exit = blocks;
  std::vector<std::vector<uint32_t>> successors(blocks + 1);
  std::vector<std::vector<uint32_t>> predecessors(blocks + 1);
  const auto add = [&](uint32_t from, uint32_t to) {
    if (std::find(successors[from].begin(), successors[from].end(), to) == successors[from].end()) {
      successors[from].push_back(to);
      predecessors[to].push_back(from);
    }
  };
  for (uint32_t b = 0; b < blocks; ++b) {
    BasicBlock& block = flow.blocks[b];
    bool falls = true;
    if (block.end > block.begin) {
      const Instruction& last = function.instructions[block.end - 1];
      const std::string_view base = BaseOpcode(last.opcode);
      if (base == "bra") {
        add(b, flow.block_of[static_cast<size_t>(
                   function.label_targets[static_cast<size_t>(last.operands[0].index)])]);
        falls = last.predicate >= 0;
      } else if (base == "brx") {
        for (const auto& [name, labels] : function.branch_tables) {
          if (last.operands.size() == 2 && last.operands[1].text == name) {
            for (const int32_t label : labels) {
              add(b, flow.block_of[static_cast<size_t>(
                         function.label_targets[static_cast<size_t>(label)])]);
            }
          }
        }
        falls = last.predicate >= 0;
      } else if (base == "trap") {
        block.leaves = true;
        falls = last.predicate >= 0;
      } else if (base == "ret" || base == "exit") {
        add(b, exit);
        block.leaves = true;
        falls = last.predicate >= 0;
      }
    }
    if (falls) {
      add(b, b + 1 < blocks ? b + 1 : exit);
    }
    for (const uint32_t s : successors[b]) {
      if (s != exit) {
        block.successors.push_back(s);
      } else {
        block.leaves = true;
      }
    }
  }
  // A trap ends the launch: lanes that come to one never meet the others, so what leads to traps
  // alone has no part in where the others meet.
  std::vector<bool> doomed(blocks + 1, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < blocks; ++b) {
      if (!doomed[b] && std::all_of(successors[b].begin(), successors[b].end(),
                                    [&](uint32_t s) { return doomed[s]; })) {
        doomed[b] = true;
        changed = true;
      }
    }
  }
  // Other blocks that cannot reach the exit (endless loops) get an edge to it, so that each has a
  // post-dominator.
  std::vector<bool> reaches(blocks + 1, false);
  std::vector<uint32_t> work;
  const auto flood = [&](uint32_t from) {
    reaches[from] = true;
    work.push_back(from);
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t p : predecessors[at]) {
        if (!reaches[p]) {
          reaches[p] = true;
          work.push_back(p);
        }
      }
    }
  };
  flood(exit);
  for (uint32_t b = blocks; b-- > 0;) {
    if (!reaches[b] && !doomed[b]) {
      add(b, exit);
      flood(b);
    }
  }
  // Post-order of the reversed graph from the exit.
  std::vector<uint32_t> order(blocks + 1, 0);
  std::vector<uint32_t> sequence;
  std::vector<bool> seen(blocks + 1, false);
  std::vector<std::pair<uint32_t, size_t>> stack{{exit, 0}};
  seen[exit] = true;
  while (!stack.empty()) {
    auto& [at, next] = stack.back();
    if (next < predecessors[at].size()) {
      const uint32_t p = predecessors[at][next++];
      if (!seen[p]) {
        seen[p] = true;
        stack.emplace_back(p, 0);
      }
    } else {
      order[at] = static_cast<uint32_t>(sequence.size());
      sequence.push_back(at);
      stack.pop_back();
    }
  }
  constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> dominator(blocks + 1, kNone);
  dominator[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = sequence.rbegin(); it != sequence.rend(); ++it) {
      const uint32_t b = *it;
      if (b == exit) {
        continue;
      }
      uint32_t meet = kNone;
      for (const uint32_t s : successors[b]) {
        if (dominator[s] == kNone) {
          continue;
        }
        if (meet == kNone) {
          meet = s;
          continue;
        }
        uint32_t x = s;
        uint32_t y = meet;
        while (x != y) {
          while (order[x] < order[y]) {
            x = dominator[x];
          }
          while (order[y] < order[x]) {
            y = dominator[y];
          }
        }
        meet = x;
      }
      if (meet != dominator[b]) {
        dominator[b] = meet;
        changed = true;
      }
    }
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    flow.blocks[b].reconvergence =
        dominator[b] == exit || dominator[b] == kNone ? -1 : static_cast<int32_t>(dominator[b]);
  }
  return flow;
}

}  // namespace optiml::ptx
