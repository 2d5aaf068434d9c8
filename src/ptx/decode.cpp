#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <stdexcept>

#include "ptx/decoder.h"

namespace optiml::ptx {
namespace {

// Between shared variables, so that an index past one does not land in the next: a multiple of 32
// banks, which leaves bank numbers as they are.
constexpr uint32_t kSharedGuard = 256;

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
    // Without clusters a block is a cluster of one.
    {"%cluster_ctarank", SpecialRegister::kZero},
    {"%cluster_ctaid.x", SpecialRegister::kZero},
    {"%cluster_ctaid.y", SpecialRegister::kZero},
    {"%cluster_ctaid.z", SpecialRegister::kZero},
    {"%cluster_nctarank", SpecialRegister::kOne},
    {"%cluster_nctaid.x", SpecialRegister::kOne},
    {"%cluster_nctaid.y", SpecialRegister::kOne},
    {"%cluster_nctaid.z", SpecialRegister::kOne},
    {"%clusterid.x", SpecialRegister::kCtaidX},
    {"%clusterid.y", SpecialRegister::kCtaidY},
    {"%clusterid.z", SpecialRegister::kCtaidZ},
    {"%nclusterid.x", SpecialRegister::kNctaidX},
    {"%nclusterid.y", SpecialRegister::kNctaidY},
    {"%nclusterid.z", SpecialRegister::kNctaidZ},
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
      flow_(BuildControlFlow(function_)) {}

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
  if (b_.module->FindFunction(name) != nullptr) {
    throw CannotDecode{fmt::format("the address of function {}", name)};
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
      Op& op = Emit(b_.handlers->alu(request));
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
    Op& op = Emit(b_.handlers->alu(request));
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

bool Decoder::BlockPolls(uint32_t block) const {
  for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
    const std::string& opcode = function_.instructions[i].opcode;
    const std::string_view base = BaseOpcode(opcode);
    if (base == "nanosleep") {
      return true;
    }
    if (base == "ld" &&
        (opcode.find(".volatile") != std::string::npos ||
         opcode.find(".relaxed") != std::string::npos ||
         opcode.find(".acquire") != std::string::npos || opcode.find(".cv") != std::string::npos ||
         opcode.find(".cg") != std::string::npos)) {
      return true;
    }
    // Exchanges, and additions of nothing: reads in disguise. Other atomics in a loop do work.
    if (base == "atom") {
      const Operand& last = function_.instructions[i].operands.back();
      if (opcode.find(".cas") != std::string::npos || opcode.find(".exch") != std::string::npos ||
          (last.kind == OperandKind::kImmediate && last.bits == 0)) {
        return true;
      }
    }
  }
  return false;
}

bool Decoder::LoopPolls(uint32_t from, uint32_t to) const {
  for (uint32_t block = from; block <= to; ++block) {
    if (BlockPolls(block)) {
      return true;
    }
  }
  return false;
}

// Rounds of global loads that can be in flight together, if each load issues as soon as its address
// is known and no store, atomic or barrier stands before it (ptxas hoists loads that way).
uint32_t Decoder::LoadRounds(const BasicBlock& block) const {
  std::map<int32_t, uint32_t> depth;
  uint32_t fence = 0;
  uint32_t deepest = 0;
  const auto depth_of = [&](const Operand& operand, const auto& self) -> uint32_t {
    uint32_t most = 0;
    if (operand.kind == OperandKind::kRegister) {
      const auto it = depth.find(operand.index);
      most = it != depth.end() ? it->second : 0;
    }
    for (const Operand& element : operand.elements) {
      most = std::max(most, self(element, self));
    }
    return most;
  };
  const auto set = [&](const Operand& operand, uint32_t value, const auto& self) -> void {
    if (operand.kind == OperandKind::kRegister) {
      depth[operand.index] = value;
    }
    for (const Operand& element : operand.elements) {
      self(element, value, self);
    }
  };
  for (uint32_t i = block.begin; i < block.end; ++i) {
    const Instruction& instruction = function_.instructions[i];
    const Opcode opcode = ParseOpcode(instruction.opcode);
    uint32_t sources = 0;
    for (size_t k = opcode.base == "st" ? 0 : 1; k < instruction.operands.size(); ++k) {
      sources = std::max(sources, depth_of(instruction.operands[k], depth_of));
    }
    const Space space = SpaceOf(opcode);
    uint32_t result = sources;
    if (opcode.base == "ld" && (space == Space::kGlobal || space == Space::kNone)) {
      result = std::max(sources, opcode.Has("nc") ? 0 : fence) + 1;
      deepest = std::max(deepest, result);
    } else if (opcode.base == "bar" || opcode.base == "barrier" || opcode.base == "atom" ||
               opcode.base == "red" || opcode.base == "membar" || opcode.base == "fence" ||
               (opcode.base == "st" && (space == Space::kGlobal || space == Space::kNone))) {
      fence = deepest;
    }
    if (!instruction.operands.empty() && opcode.base != "st") {
      set(instruction.operands[0], result, set);
    }
  }
  return deepest;
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
  facts.global_load_rounds = LoadRounds(block);
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
    const bool decoded = DecodeControl(instruction, opcode) || DecodeBarrier(instruction, opcode) ||
                         DecodeWarp(instruction, opcode) || DecodeLoadStore(instruction, opcode) ||
                         DecodeAtomic(instruction, opcode) ||
                         DecodeConvertAddress(instruction, opcode) ||
                         DecodeAlu(instruction, opcode);
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
  extensions_.clear();
  Emit(&Nothing);
}

bool Decoder::DecodeControl(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.base == "bra") {
    const uint32_t target = flow_.block_of[static_cast<size_t>(
        function_.label_targets[static_cast<size_t>(operands[0].index)])];
    const bool backward = target <= current_block_;
    const bool polls = backward && LoopPolls(target, current_block_);
    Op& op = Emit(instruction.predicate >= 0 ? &Branch : &Jump);
    op.aux = polls ? kBranchPolls : 0;
    if (instruction.predicate >= 0) {
      op.a = registers_[static_cast<size_t>(instruction.predicate)];
      op.aux |= instruction.predicate_negated ? kBranchNegated : 0;
    }
    branches_.push_back({b_.fixups.size(), {target, flow_.blocks[current_block_].reconvergence}});
    b_.fixups.push_back({static_cast<uint32_t>(program_.ops.size() - 1), -1, -1});
    return true;
  }
  if (opcode.base == "brx") {
    if (operands.size() != 2) {
      return false;
    }
    for (const auto& [name, labels] : function_.branch_tables) {
      if (name != operands[1].text) {
        continue;
      }
      const Place index = Source(operands[0], Type::kU32, 4);
      Op& op = Emit(&BranchIndexed);
      op.a = index;
      op.site = static_cast<uint32_t>(b_.branch_tables.size());
      std::vector<uint32_t> blocks;
      for (const int32_t label : labels) {
        blocks.push_back(flow_.block_of[static_cast<size_t>(
            function_.label_targets[static_cast<size_t>(label)])]);
      }
      tables_.emplace_back(b_.branch_tables.size(), std::move(blocks));
      b_.branch_tables.emplace_back();
      branches_.push_back({b_.fixups.size(), {~0u, flow_.blocks[current_block_].reconvergence}});
      b_.fixups.push_back({static_cast<uint32_t>(program_.ops.size() - 1), -1, -1});
      return true;
    }
    return false;
  }
  if (opcode.base == "ret" || opcode.base == "exit") {
    Op& op = Emit(opcode.base == "ret" ? &Return : &Exit);
    if (instruction.predicate >= 0) {
      op.a = registers_[static_cast<size_t>(instruction.predicate)];
      op.aux = instruction.predicate_negated ? 1 : 0;
    }
    return true;
  }
  if (opcode.base == "trap" || opcode.base == "brkpt") {
    Emit(&Trap).aux = opcode.base == "trap" ? 0 : 1;
    return true;
  }
  if (opcode.base == "membar" ||
      (opcode.base == "fence" && !opcode.Has("proxy") && !opcode.Has("mbarrier_init"))) {
    Emit(&Fence);
    return true;
  }
  if (opcode.base == "nanosleep" || (opcode.base == "prefetch" && !opcode.Has("tensormap")) ||
      opcode.base == "prefetchu" || opcode.base == "pmevent" || opcode.base == "discard" ||
      opcode.base == "applypriority") {
    Emit(&Nothing);
    return true;
  }
  if (opcode.base == "call") {
    return DecodeCall(instruction);
  }
  return false;
}

bool Decoder::DecodeCall(const Instruction& instruction) {
  // call (results), name, (arguments); each list may be missing.
  const Operand* name = nullptr;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == OperandKind::kList) {
      (name == nullptr ? results : arguments) = &operand;
    } else if (name == nullptr) {
      name = &operand;
    }
  }
  if (name == nullptr || name->kind != OperandKind::kSymbol) {
    throw CannotDecode{"a call through a pointer"};
  }
  const Function* callee = b_.module->FindFunction(name->text);
  if (callee == nullptr) {
    throw CannotDecode{fmt::format("undefined function {}", name->text)};
  }
  CallSite site;
  const auto& frame = b_.frames[static_cast<size_t>(index_)];
  const auto place_of = [&](const Operand& operand) {
    const auto it = frame.places.find(operand.text);
    if (operand.kind != OperandKind::kSymbol || it == frame.places.end()) {
      throw CannotDecode{"a call argument that is no .param variable"};
    }
    return it->second;
  };
  if (callee->is_declaration) {
    site.builtin = name->text == "vprintf"        ? Builtin::kPrintf
                   : name->text == "__assertfail" ? Builtin::kAssertFail
                                                  : Builtin::kNone;
    if (site.builtin == Builtin::kNone) {
      throw CannotDecode{fmt::format("undefined function {}", name->text)};
    }
    for (size_t i = 0; arguments != nullptr && i < arguments->elements.size(); ++i) {
      const auto place = place_of(arguments->elements[i]);
      site.arguments.push_back({place.first, 0, place.second});
    }
    for (size_t i = 0; results != nullptr && i < results->elements.size(); ++i) {
      const auto place = place_of(results->elements[i]);
      site.results.push_back({0, place.first, place.second});
    }
  } else {
    const size_t argument_count = arguments != nullptr ? arguments->elements.size() : 0;
    const size_t result_count = results != nullptr ? results->elements.size() : 0;
    if (argument_count != callee->parameters.size() || result_count != callee->results.size()) {
      throw CannotDecode{
          fmt::format("a call of {} with other parameters than its own", name->text)};
    }
    site.function = b_.FunctionIndex(*callee);
    const auto& callee_frame = b_.frames[static_cast<size_t>(site.function)];
    for (size_t i = 0; i < argument_count; ++i) {
      const auto from =
          b_.frames[static_cast<size_t>(index_)].places.find(arguments->elements[i].text);
      place_of(arguments->elements[i]);
      const auto to = callee_frame.places.at(callee->parameters[i].name);
      site.arguments.push_back(
          {from->second.first, to.first, std::min(from->second.second, to.second)});
    }
    for (size_t i = 0; i < result_count; ++i) {
      place_of(results->elements[i]);
      const auto to = b_.frames[static_cast<size_t>(index_)].places.find(results->elements[i].text);
      const auto from = callee_frame.places.at(callee->results[i].name);
      site.results.push_back(
          {from.first, to->second.first, std::min(to->second.second, from.second)});
    }
  }
  Op& op = Emit(&Call);
  op.site = static_cast<uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  return true;
}

bool Decoder::DecodeBarrier(const Instruction& instruction, const Opcode& opcode) {
  if (opcode.base != "bar" && opcode.base != "barrier") {
    return false;
  }
  const auto& operands = instruction.operands;
  if (opcode.Has("cluster")) {
    return false;
  }
  if (opcode.Has("warp")) {
    Emit(&BarrierWarp);
    return true;
  }
  const auto id = [&](const Operand& operand, uint32_t& aux) -> Place {
    if (operand.kind == OperandKind::kImmediate) {
      aux = static_cast<uint32_t>(std::min<uint64_t>(operand.bits, 255));
      return 0;
    }
    return Source(operand, Type::kU32, 4);
  };
  if (opcode.Has("red")) {
    const uint32_t kind = opcode.Has("popc") ? 0 : opcode.Has("and") ? 1 : 2;
    const bool counted = operands.size() == 4;
    if (operands.size() < 3) {
      return false;
    }
    uint32_t aux = 0;
    const Place a = id(operands[1], aux);
    const Place b = counted ? Source(operands[2], Type::kU32, 4) : 0;
    bool negated = false;
    const Place c = PredicateSource(operands.back(), negated);
    const Place d =
        kind == 0 ? Destination(operands[0], 4, false) : PredicateDestination(operands[0]);
    Op& op = Emit(&BarrierReduce);
    op.a = a;
    op.b = b;
    op.c = c;
    op.d = d;
    op.aux = aux | (negated ? 0x100 : 0);
    op.aux2 = kind;
    return true;
  }
  if (!opcode.Has("sync") && !opcode.Has("arrive")) {
    return false;
  }
  uint32_t aux = 0;
  const Place a = operands.empty() ? 0 : id(operands[0], aux);
  const Place b = operands.size() > 1 ? Source(operands[1], Type::kU32, 4) : 0;
  Op& op = Emit(opcode.Has("sync") ? &BarrierSync : &BarrierArrive);
  op.a = a;
  op.b = b;
  op.aux = aux;
  return true;
}

bool Decoder::DecodeWarp(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.base == "shfl") {
    if (operands.size() < 4) {
      return false;
    }
    const Operand& result = operands[0];
    const bool pair = result.kind == OperandKind::kPair;
    const Place a = Source(operands[1], Type::kB32, 4);
    const Place b = Source(operands[2], Type::kU32, 4);
    const Place c = Source(operands[3], Type::kU32, 4);
    const Place d = Destination(pair ? result.elements[0] : result, 4, false);
    const Place d2 = pair ? PredicateDestination(result.elements[1]) : 0;
    Op& op = Emit(&Shuffle);
    op.a = a;
    op.b = b;
    op.c = c;
    op.d = d;
    op.d2 = d2;
    op.aux = opcode.Has("up") ? 0 : opcode.Has("down") ? 1 : opcode.Has("bfly") ? 2 : 3;
    return opcode.Has("up") || opcode.Has("down") || opcode.Has("bfly") || opcode.Has("idx");
  }
  if (opcode.base == "vote") {
    if (operands.size() < 2) {
      return false;
    }
    bool negated = false;
    const Place a = PredicateSource(operands[1], negated);
    const bool ballot = opcode.Has("ballot");
    const Place d = ballot ? Destination(operands[0], 4, false) : PredicateDestination(operands[0]);
    Op& op = Emit(&Vote);
    op.a = a;
    op.d = d;
    op.aux = (ballot              ? 3u
              : opcode.Has("any") ? 1u
              : opcode.Has("uni") ? 2u
                                  : 0u) |
             (negated ? 8u : 0u);
    return true;
  }
  if (opcode.base == "activemask") {
    const Place d = Destination(operands.at(0), 4, false);
    Emit(&ActiveMask).d = d;
    return true;
  }
  if (opcode.base == "match") {
    if (operands.size() < 3) {
      return false;
    }
    const bool pair = operands[0].kind == OperandKind::kPair;
    const uint32_t bytes = TypeBytes(opcode.type());
    const Place a = Source(operands[1], opcode.type(), bytes);
    const Place d = Destination(pair ? operands[0].elements[0] : operands[0], 4, false);
    const Place d2 = pair ? PredicateDestination(operands[0].elements[1]) : 0;
    Op& op = Emit(&Match);
    op.a = a;
    op.d = d;
    op.d2 = d2;
    op.aux = opcode.Has("all") ? 1 : 0;
    op.aux2 = bytes;
    return true;
  }
  if (opcode.base == "redux") {
    if (operands.size() < 3 || TypeBytes(opcode.type()) != 4 || opcode.type() == Type::kF32) {
      return false;
    }
    const Place a = Source(operands[1], opcode.type(), 4);
    const Place d = Destination(operands[0], 4, false);
    Op& op = Emit(&Reduce);
    op.a = a;
    op.d = d;
    op.aux = opcode.Has("add")   ? 0
             : opcode.Has("min") ? 1
             : opcode.Has("max") ? 2
             : opcode.Has("and") ? 3
             : opcode.Has("or")  ? 4
                                 : 5;
    op.aux2 = opcode.type() == Type::kS32 ? 1 : 0;
    return true;
  }
  return false;
}

std::shared_ptr<const Program> DecodeProgram(const Module& module, const Function& kernel) {
  ProgramBuilder builder;
  builder.module = &module;
  builder.kernel = &kernel;
  builder.handlers = &HandlersOfHost();
  Program& program = builder.program;
  builder.FunctionIndex(kernel);
  // Shared variables of the module, of the kernel and of every function it may call.
  std::set<const Function*> reachable{&kernel};
  std::vector<const Function*> work{&kernel};
  while (!work.empty()) {
    const Function* function = work.back();
    work.pop_back();
    for (const Instruction& instruction : function->instructions) {
      if (BaseOpcode(instruction.opcode) != "call") {
        continue;
      }
      for (const Operand& operand : instruction.operands) {
        const Function* callee =
            operand.kind == OperandKind::kSymbol ? module.FindFunction(operand.text) : nullptr;
        if (callee != nullptr && reachable.insert(callee).second) {
          work.push_back(callee);
        }
      }
    }
  }
  std::set<std::string> used;
  uint32_t narrowest = 4;
  for (const Function* function : reachable) {
    for (const Instruction& instruction : function->instructions) {
      const Opcode opcode = ParseOpcode(instruction.opcode);
      if (opcode.base == "ld" || opcode.base == "st" || opcode.base == "atom" ||
          opcode.base == "red") {
        const Space space = SpaceOf(opcode);
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
  return std::make_shared<const Program>(std::move(builder.program));
}

std::shared_ptr<const Program> ProgramOf(const Module& module, const Function& kernel) {
  Module::ProgramCache& cache = module.programs();
  const std::lock_guard lock(cache.mutex);
  for (const auto& [name, program] : cache.programs) {
    if (name == kernel.name) {
      return program;
    }
  }
  auto program = DecodeProgram(module, kernel);
  cache.programs.emplace_back(kernel.name, program);
  return program;
}

}  // namespace optiml::ptx
