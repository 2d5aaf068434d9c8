#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <stdexcept>

#include "ptx/decoder.h"
#include "ptx/load_rounds.h"

namespace optiml::ptx {
namespace {

uint32_t RoundUp(uint32_t value, uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

struct SpecialName {
  std::string_view name;
  SpecialRegister which;
};
constexpr SpecialName kSpecials[] = {
    {"%tid.x", SpecialRegister::kTidX},
    {"%tid.y", SpecialRegister::kTidY},
    {"%tid.z", SpecialRegister::kTidZ},
    {"%ntid.x", SpecialRegister::kNtidX},
    {"%ntid.y", SpecialRegister::kNtidY},
    {"%ntid.z", SpecialRegister::kNtidZ},
    {"%ctaid.x", SpecialRegister::kCtaidX},
    {"%ctaid.y", SpecialRegister::kCtaidY},
    {"%ctaid.z", SpecialRegister::kCtaidZ},
    {"%nctaid.x", SpecialRegister::kNctaidX},
    {"%nctaid.y", SpecialRegister::kNctaidY},
    {"%nctaid.z", SpecialRegister::kNctaidZ},
    {"%laneid", SpecialRegister::kLaneId},
    {"%warpid", SpecialRegister::kWarpId},
    {"%nwarpid", SpecialRegister::kNwarpId},
    {"%smid", SpecialRegister::kSmId},
    {"%nsmid", SpecialRegister::kNsmId},
    {"%gridid", SpecialRegister::kGridId},
    {"%lanemask_eq", SpecialRegister::kLanemaskEq},
    {"%lanemask_le", SpecialRegister::kLanemaskLe},
    {"%lanemask_lt", SpecialRegister::kLanemaskLt},
    {"%lanemask_ge", SpecialRegister::kLanemaskGe},
    {"%lanemask_gt", SpecialRegister::kLanemaskGt},
    {"%dynamic_smem_size", SpecialRegister::kDynamicSharedBytes},
    {"%total_smem_size", SpecialRegister::kTotalSharedBytes},
    {"%clock", SpecialRegister::kClock},
    {"%clock_hi", SpecialRegister::kClockHi},
    {"%clock64", SpecialRegister::kClock64},
    {"%globaltimer", SpecialRegister::kGlobalTimer},
    {"%globaltimer_lo", SpecialRegister::kGlobalTimerLo},
    {"%globaltimer_hi", SpecialRegister::kGlobalTimerHi},
    {"%cluster_ctarank", SpecialRegister::kClusterCtaRank},
    {"%cluster_nctarank", SpecialRegister::kClusterNctaRank},
    {"%cluster_ctaid.x", SpecialRegister::kClusterCtaidX},
    {"%cluster_ctaid.y", SpecialRegister::kClusterCtaidY},
    {"%cluster_ctaid.z", SpecialRegister::kClusterCtaidZ},
    {"%cluster_nctaid.x", SpecialRegister::kClusterNctaidX},
    {"%cluster_nctaid.y", SpecialRegister::kClusterNctaidY},
    {"%cluster_nctaid.z", SpecialRegister::kClusterNctaidZ},
    {"%clusterid.x", SpecialRegister::kClusterIdX},
    {"%clusterid.y", SpecialRegister::kClusterIdY},
    {"%clusterid.z", SpecialRegister::kClusterIdZ},
    {"%nclusterid.x", SpecialRegister::kNclusterIdX},
    {"%nclusterid.y", SpecialRegister::kNclusterIdY},
    {"%nclusterid.z", SpecialRegister::kNclusterIdZ},
    {"%envreg1", SpecialRegister::kWorkspaceHigh},
    {"%envreg2", SpecialRegister::kWorkspaceLow},
};

}  // namespace

Place ProgramBuilder::Constant(uint64_t bits, uint32_t bytes) {
  if (bytes < 8) {
    bits &= (uint64_t{1} << (8 * bytes)) - 1;
  }
  const auto [it, fresh] = constants.try_emplace({bits, bytes}, 0u);
  if (fresh) {
    const auto offset = static_cast<uint32_t>(program.constant_storage.size());
    it->second = offset;
    program.constant_storage.resize(offset + RoundUp(32 * bytes, 64));
    for (uint32_t l = 0; l < 32; ++l) {
      std::memcpy(program.constant_storage.data() + offset + l * bytes, &bits, bytes);
    }
  }
  return it->second | 1;
}

int32_t ProgramBuilder::FunctionIndex(const Function& function) {
  const auto [it, fresh] =
      functions.try_emplace(function.name, static_cast<int32_t>(program.functions.size()));
  if (fresh) {
    ProgramFunction entry;
    entry.name = function.name;
    program.functions.push_back(entry);
    frames.emplace_back();
    Frame& frame = frames.back();
    const auto place = [&](const std::string& name, uint64_t bytes, uint32_t alignment) {
      frame.bytes = RoundUp(frame.bytes, std::max(alignment, 1u));
      frame.places[name] = {frame.bytes, static_cast<uint32_t>(bytes)};
      frame.bytes += static_cast<uint32_t>(bytes);
    };
    if (!function.is_entry) {
      for (const Parameter& parameter : function.parameters) {
        place(parameter.name, parameter.bytes, std::max(parameter.alignment, 8u));
      }
      for (const Parameter& result : function.results) {
        place(result.name, result.bytes, std::max(result.alignment, 8u));
      }
    }
    for (const Variable& variable : function.variables) {
      if (variable.space == Space::kLocal || variable.space == Space::kParam) {
        place(variable.name, variable.bytes, std::max(variable.alignment, 8u));
      }
    }
    frame.bytes = RoundUp(frame.bytes, 16);
    program.functions.back().local_bytes = frame.bytes;
    pending.push_back(&function);
  }
  return it->second;
}

Decoder::Decoder(ProgramBuilder& builder, int32_t function_index)
    : b_(builder),
      program_(builder.program),
      index_(function_index),
      function_(*builder.pending[static_cast<size_t>(function_index)]),
      flow_(BuildControlFlow(function_)),
      load_rounds_(LoadRounds(function_, flow_)) {}

void Decoder::PlaceRegisters() {
  uint32_t predicates = 0;
  for (const Register& reg : function_.registers) {
    predicates += reg.type == Type::kPred ? 1 : 0;
  }
  // Two more for sinks and temporaries.
  next_predicate_ = frame_bytes_;
  predicate_room_ = predicates + 2;
  frame_bytes_ += RoundUp(4 * predicate_room_, 64);
  for (const Register& reg : function_.registers) {
    if (reg.type == Type::kPred) {
      registers_.push_back(next_predicate_);
      next_predicate_ += 4;
    } else {
      registers_.push_back(Slot(std::max(TypeBytes(reg.type), 2u)));
    }
  }
}

Place Decoder::Slot(uint32_t bytes) {
  const Place place = frame_bytes_;
  frame_bytes_ += 32 * bytes;
  return place;
}

Place Decoder::Special(std::string_view name, uint32_t bytes) {
  for (const SpecialName& special : kSpecials) {
    if (special.name != name) {
      continue;
    }
    const bool clock = special.which >= SpecialRegister::kClock &&
                       special.which <= SpecialRegister::kGlobalTimerHi;
    if (clock) {
      const Place place = Slot(bytes);
      Op& op = Emit(&ReadClock);
      op.d = place;
      op.aux = static_cast<uint32_t>(special.which);
      return place;
    }
    const auto [it, fresh] = specials_.try_emplace({special.which, bytes}, 0u);
    if (fresh) {
      it->second = Slot(bytes);
      program_.functions[static_cast<size_t>(index_)].specials.push_back(
          {special.which, static_cast<uint8_t>(bytes), it->second});
    }
    return it->second;
  }
  throw CannotDecode{fmt::format("special register {}", name)};
}

Op& Decoder::Emit(Handler run) {
  Op op;
  op.run = run;
  op.instruction = current_instruction_;
  program_.ops.push_back(op);
  return program_.ops.back();
}

uint32_t Decoder::RegisterBytes(const Operand& operand) const {
  return std::max(TypeBytes(function_.registers[static_cast<size_t>(operand.index)].type), 2u);
}

Place Decoder::ImmediatePlace(const Operand& operand, Type type, uint32_t bytes) {
  uint64_t bits = operand.bits;
  if (operand.is_float && operand.float_bits != 8 * bytes) {
    double value = operand.float_bits == 32
                       ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                       : std::bit_cast<double>(bits);
    if (bytes == 4) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    } else if (bytes == 8) {
      bits = std::bit_cast<uint64_t>(value);
    } else {
      throw CannotDecode{"a 16-bit floating-point constant"};
    }
  } else if (!operand.is_float && type == Type::kF32) {
    // An integer literal in a float instruction is its value.
    bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(bits)));
  } else if (!operand.is_float && type == Type::kF64) {
    bits = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(bits)));
  }
  return b_.Constant(bits, bytes);
}

Place Decoder::SymbolPlace(const Operand& operand, uint32_t bytes) {
  const std::string& name = operand.text;
  const auto offset = static_cast<uint64_t>(operand.offset);
  if (const auto it = b_.shared_offsets.find(name); it != b_.shared_offsets.end()) {
    return b_.Constant(it->second + offset, bytes);
  }
  const auto& frame = b_.frames[static_cast<size_t>(index_)];
  if (const auto it = frame.places.find(name); it != frame.places.end()) {
    const Place place = Slot(bytes);
    Op& op = Emit(&LocalAddress);
    op.d = place;
    op.offset = static_cast<int64_t>(it->second.first + offset);
    op.aux = bytes == 4 ? 2 : 0;
    return place;
  }
  if (function_.is_entry) {
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.name == name) {
        return b_.Constant(kParamWindow + parameter.offset + offset, bytes);
      }
    }
  }
  const Variable* variable = b_.module->FindVariable(name);
  if (variable != nullptr &&
      (variable->space == Space::kGlobal || variable->space == Space::kConst)) {
    // A constant of its own: its bits are filled in at the launch.
    const auto at = static_cast<uint32_t>(program_.constant_storage.size());
    program_.constant_storage.resize(at + 256);
    program_.symbols.push_back({at, name, operand.offset, bytes});
    return at | 1;
  }
  if (const Function* function = b_.module->FindFunction(name); function != nullptr) {
    return b_.Constant(FunctionAddress(*b_.module, *function), bytes);
  }
  if (name == "WARP_SZ") {  // PTX's predefined constant
    return b_.Constant(kLanes, bytes);
  }
  throw CannotDecode{fmt::format("undefined symbol {}", name)};
}

Place Decoder::Source(const Operand& operand, Type type, uint32_t bytes) {
  bytes = std::max(bytes, 2u);
  switch (operand.kind) {
    case OperandKind::kRegister: {
      const Register& reg = function_.registers[static_cast<size_t>(operand.index)];
      if (reg.type == Type::kPred || operand.negated) {
        throw CannotDecode{"a predicate as a number"};
      }
      const Place place = registers_[static_cast<size_t>(operand.index)];
      const uint32_t have = RegisterBytes(operand);
      if (have == bytes) {
        return place;
      }
      if (have < bytes) {
        throw CannotDecode{fmt::format("register {} is too narrow", operand.text)};
      }
      AluRequest request;
      request.op = AluOp::kNarrow;
      request.from_bytes = have;
      request.to_bytes = bytes;
      const Place narrow = Slot(bytes);
      Op& op = Emit(b_.handlers->alu(request), request);
      op.d = narrow;
      op.a = place;
      return narrow;
    }
    case OperandKind::kImmediate:
      return ImmediatePlace(operand, type, bytes);
    case OperandKind::kSpecial:
      return Special(operand.text, bytes);
    case OperandKind::kSymbol:
      return SymbolPlace(operand, bytes);
    default:
      throw CannotDecode{"this form of operand"};
  }
}

Place Decoder::PredicateSource(const Operand& operand, bool& negated) {
  negated = operand.negated;
  if (operand.kind == OperandKind::kImmediate) {
    // A constant predicate: all or no lanes. The 32-lane constant's first word serves as the mask.
    return b_.Constant(operand.bits != 0 ? 0xffffffff : 0, 4);
  }
  if (operand.kind != OperandKind::kRegister ||
      function_.registers[static_cast<size_t>(operand.index)].type != Type::kPred) {
    throw CannotDecode{"a predicate operand that is none"};
  }
  return registers_[static_cast<size_t>(operand.index)];
}

Place Decoder::PredicateDestination(const Operand& operand) {
  if (operand.kind == OperandKind::kSink) {
    return next_predicate_;
  }
  if (operand.kind != OperandKind::kRegister ||
      function_.registers[static_cast<size_t>(operand.index)].type != Type::kPred) {
    throw CannotDecode{"a predicate result that is none"};
  }
  return registers_[static_cast<size_t>(operand.index)];
}

Place Decoder::Destination(const Operand& operand, uint32_t bytes, bool is_signed) {
  const uint32_t natural = std::max(bytes, 2u);
  if (operand.kind == OperandKind::kSink) {
    return Slot(natural);
  }
  if (operand.kind != OperandKind::kRegister ||
      function_.registers[static_cast<size_t>(operand.index)].type == Type::kPred) {
    throw CannotDecode{"a result that is no register"};
  }
  const Place place = registers_[static_cast<size_t>(operand.index)];
  const uint32_t have = RegisterBytes(operand);
  if (have < natural) {
    throw CannotDecode{fmt::format("register {} is too narrow", operand.text)};
  }
  if (have == natural && !(bytes == 1 && is_signed)) {
    return place;
  }
  const Place narrow = Slot(natural);
  extensions_.push_back({narrow, place, bytes, have, is_signed});
  return narrow;
}

void Decoder::EmitExtensions() {
  for (const Extension& extension : extensions_) {
    AluRequest request;
    request.op = AluOp::kExtend;
    request.from_bytes = extension.from_bytes;
    request.to_bytes = extension.to_bytes;
    request.is_signed = extension.is_signed;
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = extension.from;
    op.d = extension.to;
  }
  extensions_.clear();
}

void Decoder::Unsupported(const Instruction& instruction, std::string_view why) {
  std::string message = fmt::format("unsupported: {}", instruction.opcode);
  if (!why.empty()) {
    message += fmt::format(" ({})", why);
  }
  message += fmt::format(" at PTX line {}", instruction.ptx_line);
  if (instruction.source_line > 0) {
    message += fmt::format(", source line {}", instruction.source_line);
  }
  program_.unsupported.push_back(std::move(message));
}

void Decoder::Decode() {
  PlaceRegisters();
  program_.functions[static_cast<size_t>(index_)].first_op =
      static_cast<uint32_t>(program_.ops.size());
  for (uint32_t block = 0; block < flow_.blocks.size(); ++block) {
    DecodeBlock(block);
  }
  // A text may run off its end.
  current_instruction_ =
      program_.instructions.empty() ? 0 : static_cast<uint32_t>(program_.instructions.size() - 1);
  Emit(&Return);
  for (const auto& [fixup, blocks] : branches_) {
    ProgramBuilder::Fixup& f = b_.fixups[fixup];
    if (blocks.first != ~0u) {
      f.target = block_ops_[blocks.first];
    }
    f.reconvergence = blocks.second < 0
                          ? -1
                          : static_cast<int64_t>(block_ops_[static_cast<size_t>(blocks.second)]);
  }
  for (const auto& [table, blocks] : tables_) {
    for (const uint32_t block : blocks) {
      b_.branch_tables[table].push_back(block_ops_[block]);
    }
  }
  program_.functions[static_cast<size_t>(index_)].frame_bytes = RoundUp(frame_bytes_, 64);
}

void Decoder::DecodeBlock(uint32_t block_index) {
  const BasicBlock& block = flow_.blocks[block_index];
  current_block_ = block_index;
  block_ops_.push_back(static_cast<uint32_t>(program_.ops.size()));
  BlockFacts facts;
  facts.instructions = block.end - block.begin;
  facts.first_instruction = static_cast<uint32_t>(program_.instructions.size());
  facts.global_load_rounds = load_rounds_[block_index];
  std::map<InstructionClass, uint32_t> classes;
  std::map<InstructionClass, uint32_t> predicated;
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const Instruction& instruction = function_.instructions[i];
    const Opcode opcode = ParseOpcode(instruction.opcode);
    InstructionFacts fact;
    fact.source_line = instruction.source_line;
    fact.ptx_line = instruction.ptx_line;
    fact.instruction_class = ClassOf(opcode, SpaceOf(opcode));
    const bool own_predicate =
        opcode.base == "bra" || opcode.base == "ret" || opcode.base == "exit";
    ++(instruction.predicate >= 0 && !own_predicate ? predicated : classes)[fact.instruction_class];
    facts.conditional_branch = facts.conditional_branch ||
                               (opcode.base == "bra" && instruction.predicate >= 0) ||
                               opcode.base == "brx";
    program_.instructions.push_back(fact);
  }
  facts.classes.assign(classes.begin(), classes.end());
  facts.predicated.assign(predicated.begin(), predicated.end());
  current_instruction_ = facts.first_instruction;
  if (facts.instructions == 0 && facts.first_instruction > 0) {
    current_instruction_ = facts.first_instruction - 1;
  }
  Op& enter = Emit(&EnterBlock);
  enter.site = static_cast<uint32_t>(program_.blocks.size());
  enter.aux = facts.instructions;
  enter.aux2 = facts.instructions + facts.global_load_rounds * kLoadRoundWork;
  const uint32_t first = facts.first_instruction;
  program_.blocks.push_back(std::move(facts));
  for (uint32_t i = block.begin; i < block.end; ++i) {
    current_instruction_ = first + (i - block.begin);
    DecodeInstruction(function_.instructions[i]);
  }
}

void Decoder::DecodeInstruction(const Instruction& instruction) {
  const Opcode opcode = ParseOpcode(instruction.opcode);
  const size_t rollback = program_.ops.size();
  const bool own_predicate = opcode.base == "bra" || opcode.base == "ret" || opcode.base == "exit";
  try {
    if (instruction.predicate >= 0 && !own_predicate) {
      if (opcode.base == "call" || opcode.base == "brx") {
        throw CannotDecode{"under a predicate"};
      }
      Op& begin = Emit(&PredicateBegin);
      begin.a = registers_[static_cast<size_t>(instruction.predicate)];
      begin.aux = instruction.predicate_negated ? 1 : 0;
      begin.aux2 =
          static_cast<uint32_t>(program_.instructions[current_instruction_].instruction_class);
    }
    const bool decoded =
        DecodeControl(instruction, opcode) || DecodeBarrier(instruction, opcode) ||
        DecodeWarp(instruction, opcode) || DecodeAsync(instruction, opcode) ||
        DecodeLoadStore(instruction, opcode) || DecodeAtomic(instruction, opcode) ||
        DecodeConvertAddress(instruction, opcode) || DecodeMatrix(instruction, opcode) ||
        DecodeTexture(instruction, opcode) || DecodeAlu(instruction, opcode);
    if (!decoded) {
      throw CannotDecode{};
    }
    EmitExtensions();
    if (instruction.predicate >= 0 && !own_predicate) {
      Emit(&PredicateEnd);
      b_.fixups.push_back(
          {static_cast<uint32_t>(rollback), static_cast<int64_t>(program_.ops.size()), -1});
    }
    return;
  } catch (const CannotDecode& reason) {
    Unsupported(instruction, reason.why);
  } catch (const std::out_of_range&) {
    Unsupported(instruction, "too few operands");
  }
  program_.ops.resize(rollback);
  if (b_.shadows) {
    program_.shadow_sites.resize(std::min(rollback, program_.shadow_sites.size()));
  }
  extensions_.clear();
  Emit(&Nothing);
}

}  // namespace optiml::ptx
