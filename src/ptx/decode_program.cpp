// A kernel with everything it can call: which shared variables it has and where, functions in turn,
// pointers last.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ptx/decoder.h"

namespace optiml::ptx {
namespace {

// Between shared variables, so that an index past one does not land in the next: a multiple of 32
// banks, which leaves bank numbers as they are.
constexpr uint32_t kSharedGuard = 256;

uint32_t RoundUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

void CountRegisters(const Operand& operand, std::vector<uint32_t>& uses) {
  if (operand.kind == OperandKind::kRegister) {
    ++uses[static_cast<size_t>(operand.index)];
  }
  for (const Operand& element : operand.elements) {
    CountRegisters(element, uses);
  }
}

// Of a function's accesses to global memory: see the fields of that name in Program.
struct GlobalUse {
  bool block_order_shows = false;
  bool atomics = false;
  bool returning = false;  // exchanges, and atomics whose old value is used
  bool strong = false;     // loads and stores that others may wait for, or that show their order
};

bool IsStrongAccess(const Opcode& opcode) {
  const Space space = SpaceOf(opcode);
  return (opcode.base == "ld" || opcode.base == "st") &&
         (space == Space::kGlobal || space == Space::kNone) &&
         (opcode.Has("volatile") || opcode.Has("relaxed") || opcode.Has("acquire") ||
          opcode.Has("release") || opcode.Has("mmio") || opcode.Has("cv"));
}

GlobalUse UseOf(const Function& function) {
  std::vector<uint32_t> uses(function.registers.size());  // as operand or predicate
  for (const Instruction& instruction : function.instructions) {
    for (const Operand& operand : instruction.operands) {
      CountRegisters(operand, uses);
    }
    if (instruction.predicate >= 0) {
      ++uses[static_cast<size_t>(instruction.predicate)];
    }
  }
  GlobalUse use;
  for (const Instruction& instruction : function.instructions) {
    const Opcode opcode = ParseOpcode(instruction.opcode);
    use.strong = use.strong || IsStrongAccess(opcode);
    const bool reduces_in_bulk = opcode.base == "cp" && opcode.Has("reduce");
    const bool atomic =
        (opcode.base == "atom" || opcode.base == "red") && SpaceOf(opcode) != Space::kShared;
    if (!atomic && !reduces_in_bulk) {
      continue;
    }
    use.atomics = true;
    const bool returning =
        reduces_in_bulk || opcode.Has("exch") || opcode.Has("cas") ||
        (opcode.base == "atom" && instruction.operands[0].kind == OperandKind::kRegister &&
         uses[static_cast<size_t>(instruction.operands[0].index)] > 1);
    use.returning = use.returning || returning;
    use.block_order_shows =
        use.block_order_shows || returning || (IsFloatType(opcode.type()) && opcode.Has("add"));
  }
  return use;
}

bool CallsThroughPointer(const Instruction& instruction) {
  if (BaseOpcode(instruction.opcode) != "call") {
    return false;
  }
  const auto pointer = std::ranges::find_if(instruction.operands, [](const Operand& operand) {
    return operand.kind != OperandKind::kList;
  });
  return pointer != instruction.operands.end() && pointer->kind == OperandKind::kRegister;
}

// Functions whose address is in a variable, or is taken by an instruction other than a call.
std::vector<const Function*> AddressTaken(const Module& module) {
  std::set<std::string> names;
  for (const Variable& variable : module.variables) {
    for (const Variable::Relocation& relocation : variable.relocations) {
      names.insert(relocation.symbol);
    }
  }
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.instructions) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == OperandKind::kSymbol && BaseOpcode(instruction.opcode) != "call") {
          names.insert(operand.text);
        }
      }
    }
  }
  std::vector<const Function*> functions;
  for (const std::string& name : names) {
    const Function* function = module.FindFunction(name);
    if (function != nullptr && !function->is_entry && !function->is_declaration) {
      functions.push_back(function);
    }
  }
  return functions;
}

// The kernel and all functions that it may call; fills the builder's address_taken when one calls
// through a pointer.
std::set<const Function*> ReachableFunctions(const Module& module, const Function& kernel,
                                             ProgramBuilder& builder) {
  std::set<const Function*> reachable{&kernel};
  std::vector<const Function*> work{&kernel};
  const auto reach = [&](const Function* function) {
    if (function != nullptr && reachable.insert(function).second) {
      work.push_back(function);
    }
  };
  while (!work.empty()) {
    const Function* function = work.back();
    work.pop_back();
    for (const Instruction& instruction : function->instructions) {
      if (BaseOpcode(instruction.opcode) != "call") {
        continue;
      }
      if (CallsThroughPointer(instruction) && builder.address_taken.empty()) {
        builder.address_taken = AddressTaken(module);
        std::ranges::for_each(builder.address_taken, reach);
      }
      for (const Operand& operand : instruction.operands) {
        reach(operand.kind == OperandKind::kSymbol ? module.FindFunction(operand.text) : nullptr);
      }
    }
  }
  return reachable;
}

// Puts the handler that follows values before those that touch them.
void WrapForShadows(Program& program) {
  program.shadow_sites.resize(program.ops.size());
  for (size_t i = 0; i < program.ops.size(); ++i) {
    ShadowSite& site = program.shadow_sites[i];
    site.run = program.ops[i].run;
    if (site.kind != ShadowKind::kNone) {
      program.ops[i].run = &RunShadowed;
    }
  }
}

}  // namespace

std::shared_ptr<const Program> DecodeProgram(const Module& module, const Function& kernel,
                                             bool shadows) {
  ProgramBuilder builder;
  builder.shadows = shadows;
  builder.module = &module;
  builder.kernel = &kernel;
  builder.handlers = &HandlersOfHost();
  Program& program = builder.program;
  builder.FunctionIndex(kernel);
  // Shared variables of the module, of the kernel and of every function it may call.
  const std::set<const Function*> reachable = ReachableFunctions(module, kernel, builder);
  program.function_of_address.assign(module.functions.size(), -1);
  for (const Function* function : builder.address_taken) {
    program.function_of_address[static_cast<size_t>(function - module.functions.data())] =
        builder.FunctionIndex(*function);
  }
  std::set<std::string> used;
  uint32_t narrowest = 4;
  uint32_t narrowest_global = 4;
  GlobalUse global;
  for (const Function* function : reachable) {
    const GlobalUse use = UseOf(*function);
    global.atomics = global.atomics || use.atomics;
    global.returning = global.returning || use.returning;
    global.strong = global.strong || use.strong;
    program.block_order_shows = program.block_order_shows || use.block_order_shows;
    program.allocates =
        program.allocates ||
        (function->is_declaration && (function->name == "malloc" || function->name == "free"));
    for (const Instruction& instruction : function->instructions) {
      const Opcode opcode = ParseOpcode(instruction.opcode);
      program.uses_async = program.uses_async || UsesAsync(instruction);
      if (opcode.base == "ld" || opcode.base == "st" || opcode.base == "atom" ||
          opcode.base == "red" || opcode.base == "sust" ||
          (opcode.base == "wmma" && !opcode.Has("mma"))) {
        const Space space = SpaceOf(opcode);
        if (space == Space::kGlobal || space == Space::kNone) {
          narrowest_global = std::min(narrowest_global, std::max(TypeBytes(opcode.type()), 1u));
        }
        if (space == Space::kShared || space == Space::kNone) {
          narrowest = std::min(narrowest, std::max(TypeBytes(opcode.type()), 1u));
          program.shared_strong = program.shared_strong || opcode.base == "atom" ||
                                  opcode.base == "red" || opcode.Has("volatile") ||
                                  opcode.Has("relaxed") || opcode.Has("acquire") ||
                                  opcode.Has("release");
        }
      }
      const auto visit = [&](const Operand& operand, const auto& self) -> void {
        if (operand.kind == OperandKind::kSymbol) {
          used.insert(operand.text);
        }
        program.uses_workspace = program.uses_workspace || (operand.kind == OperandKind::kSpecial &&
                                                            operand.text == "%envreg2");
        for (const Operand& element : operand.elements) {
          self(element, self);
        }
      };
      for (const Operand& operand : instruction.operands) {
        visit(operand, visit);
      }
    }
  }
  program.shared_granule = narrowest;
  program.global_granule = narrowest_global;
  uint32_t end = 0;
  std::vector<const Variable*> dynamic;
  const auto lay_out = [&](const Variable& variable) {
    if (variable.space != Space::kShared || builder.shared_offsets.contains(variable.name)) {
      return;
    }
    if (variable.is_extern) {
      if (used.contains(variable.name)) {
        dynamic.push_back(&variable);
      }
      return;
    }
    if (!used.contains(variable.name)) {
      return;
    }
    program.static_shared_bytes = (program.static_shared_bytes + variable.alignment - 1) /
                                      variable.alignment * variable.alignment +
                                  variable.bytes;
    const uint32_t begin = RoundUp(end, std::max(variable.alignment, 128u));
    builder.shared_offsets[variable.name] = begin;
    program.shared.push_back({variable.name, begin, begin + static_cast<uint32_t>(variable.bytes),
                              std::max(TypeBytes(variable.type), 1u), false});
    end = begin + static_cast<uint32_t>(variable.bytes) + kSharedGuard;
  };
  for (const Variable& variable : module.variables) {
    lay_out(variable);
  }
  for (const Function* function : reachable) {
    for (const Variable& variable : function->variables) {
      lay_out(variable);
    }
  }
  program.dynamic_begin = RoundUp(end, 1024);
  for (const Variable* variable : dynamic) {
    builder.shared_offsets[variable->name] = program.dynamic_begin;
    program.dynamic_name = variable->name;
    program.dynamic_element_bytes = std::max(TypeBytes(variable->type), 1u);
  }
  for (size_t i = 0; i < builder.pending.size(); ++i) {
    Decoder(builder, static_cast<int32_t>(i)).Decode();
  }
  program.defers_atomics = global.atomics && !global.returning && !global.strong &&
                           !program.loops_poll && !program.uses_async && !program.allocates &&
                           program.textures.empty();
  for (IndirectSite& site : program.indirect_sites) {
    site.call_of_function.resize(program.functions.size(), -1);
  }
  for (const ProgramBuilder::Fixup& fixup : builder.fixups) {
    if (fixup.target >= 0) {
      program.ops[fixup.op].target = program.ops.data() + fixup.target;
    }
    program.ops[fixup.op].reconvergence =
        fixup.reconvergence >= 0 ? program.ops.data() + fixup.reconvergence : nullptr;
  }
  for (const auto& table : builder.branch_tables) {
    auto& targets = program.branch_tables.emplace_back();
    for (const int64_t op : table) {
      targets.push_back(program.ops.data() + op);
    }
  }
  if (shadows) {
    WrapForShadows(program);
  }
  return std::make_shared<const Program>(std::move(builder.program));
}

std::shared_ptr<const Program> ProgramOf(const Module& module, const Function& kernel,
                                         bool shadows) {
  Module::ProgramCache& cache = module.programs();
  const std::lock_guard lock(cache.mutex);
  const std::string key = kernel.name + (shadows ? " with shadows" : "");
  for (const auto& [name, program] : cache.programs) {
    if (name == key) {
      return program;
    }
  }
  auto program = DecodeProgram(module, kernel, shadows);
  cache.programs.emplace_back(key, program);
  return program;
}

}  // namespace optiml::ptx
