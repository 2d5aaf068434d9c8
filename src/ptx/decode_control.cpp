// Branches, calls, barriers and exchanges between lanes; which loops poll.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ptx/async_ops.h"
#include "ptx/decoder.h"

namespace optiml::ptx {

bool Decoder::BlockPolls(uint32_t block) const {
  for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
    const std::string& opcode = function_.instructions[i].opcode;
    const std::string_view base = BaseOpcode(opcode);
    if (base == "nanosleep" || opcode.starts_with("mbarrier.test_wait") ||
        opcode.starts_with("mbarrier.try_wait")) {
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

bool Decoder::DecodeControl(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.base == "bra") {
    const uint32_t target = flow_.block_of[static_cast<size_t>(
        function_.label_targets[static_cast<size_t>(operands[0].index)])];
    const bool backward = target <= current_block_;
    const bool polls = backward && LoopPolls(target, current_block_);
    program_.loops_poll = program_.loops_poll || polls;
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
    Emit(&Fence).aux = opcode.Has("cta") ? 1 : 0;
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
  if (name != nullptr && name->kind == OperandKind::kRegister) {
    return DecodeIndirectCall(*name, results, arguments);
  }
  if (name == nullptr || name->kind != OperandKind::kSymbol) {
    throw CannotDecode{"this form of call"};
  }
  const Function* callee = b_.module->FindFunction(name->text);
  if (callee == nullptr) {
    throw CannotDecode{fmt::format("undefined function {}", name->text)};
  }
  CallSite site = SiteOf(*callee, results, arguments);
  Op& op = Emit(&Call);
  op.site = static_cast<uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  return true;
}

CallSite Decoder::SiteOf(const Function& callee, const Operand* results, const Operand* arguments) {
  CallSite site;
  const auto place_of = [&](const Operand& operand) {
    const auto& places = b_.frames[static_cast<size_t>(index_)].places;
    const auto it = places.find(operand.text);
    if (operand.kind != OperandKind::kSymbol || it == places.end()) {
      throw CannotDecode{"a call argument that is no .param variable"};
    }
    return it->second;
  };
  const size_t argument_count = arguments != nullptr ? arguments->elements.size() : 0;
  const size_t result_count = results != nullptr ? results->elements.size() : 0;
  if (callee.is_declaration) {
    site.builtin = callee.name == "vprintf"        ? Builtin::kPrintf
                   : callee.name == "__assertfail" ? Builtin::kAssertFail
                   : callee.name == "malloc"       ? Builtin::kMalloc
                   : callee.name == "free"         ? Builtin::kFree
                                                   : Builtin::kNone;
    if (site.builtin == Builtin::kNone || (site.builtin == Builtin::kMalloc && result_count != 1)) {
      throw CannotDecode{fmt::format("undefined function {}", callee.name)};
    }
    for (size_t i = 0; i < argument_count; ++i) {
      const auto place = place_of(arguments->elements[i]);
      site.arguments.push_back({place.first, 0, place.second});
    }
    for (size_t i = 0; i < result_count; ++i) {
      const auto place = place_of(results->elements[i]);
      site.results.push_back({0, place.first, place.second});
    }
    return site;
  }
  if (argument_count != callee.parameters.size() || result_count != callee.results.size()) {
    throw CannotDecode{fmt::format("a call of {} with other parameters than its own", callee.name)};
  }
  site.function = b_.FunctionIndex(callee);
  const auto& callee_frame = b_.frames[static_cast<size_t>(site.function)];
  for (size_t i = 0; i < argument_count; ++i) {
    const auto from = place_of(arguments->elements[i]);
    const auto to = callee_frame.places.at(callee.parameters[i].name);
    site.arguments.push_back({from.first, to.first, std::min(from.second, to.second)});
  }
  for (size_t i = 0; i < result_count; ++i) {
    const auto to = place_of(results->elements[i]);
    const auto from = callee_frame.places.at(callee.results[i].name);
    site.results.push_back({from.first, to.first, std::min(to.second, from.second)});
  }
  return site;
}

bool Decoder::DecodeIndirectCall(const Operand& pointer, const Operand* results,
                                 const Operand* arguments) {
  const auto fits = [&](const Operand* list, const std::vector<Parameter>& parameters) {
    const size_t count = list != nullptr ? list->elements.size() : 0;
    if (count != parameters.size()) {
      return false;
    }
    const auto& places = b_.frames[static_cast<size_t>(index_)].places;
    for (size_t i = 0; i < count; ++i) {
      const auto it = places.find(list->elements[i].text);
      if (it == places.end() || it->second.second != parameters[i].bytes) {
        return false;
      }
    }
    return true;
  };
  IndirectSite site;
  site.call_of_function.resize(program_.functions.size(), -1);
  for (const Function* callee : b_.address_taken) {
    if (fits(results, callee->results) && fits(arguments, callee->parameters)) {
      site.call_of_function[static_cast<size_t>(b_.FunctionIndex(*callee))] =
          static_cast<int32_t>(program_.calls.size());
      program_.calls.push_back(SiteOf(*callee, results, arguments));
    }
  }
  const Place a = Source(pointer, Type::kU64, 8);
  Op& op = Emit(&CallIndirect);
  op.a = a;
  op.site = static_cast<uint32_t>(program_.indirect_sites.size());
  program_.indirect_sites.push_back(std::move(site));
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
    const Place a =
        operands.empty() ? b_.Constant(0xffffffff, 4) : Source(operands[0], Type::kB32, 4);
    Emit(&BarrierWarp).a = a;
    return true;
  }
  const uint32_t unaligned =
      opcode.base == "barrier" && !opcode.Has("aligned") ? kBarrierUnaligned : 0;
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
    op.aux = aux | (negated ? 0x100 : 0) | unaligned;
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
  op.aux = aux | unaligned;
  return true;
}

// The member mask of an exchange; forms without .sync have none.
Place Decoder::Members(const std::vector<Operand>& operands, size_t at) {
  return at < operands.size() ? Source(operands[at], Type::kB32, 4) : b_.Constant(0, 4);
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
    const Place e = Members(operands, 4);
    const Place d = Destination(pair ? result.elements[0] : result, 4, false);
    const Place d2 = pair ? PredicateDestination(result.elements[1]) : 0;
    Op& op = Emit(&Shuffle);
    op.e = e;
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
    const Place e = Members(operands, 2);
    const Place d = ballot ? Destination(operands[0], 4, false) : PredicateDestination(operands[0]);
    Op& op = Emit(&Vote);
    op.e = e;
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
    const Place e = Members(operands, 2);
    const Place d = Destination(pair ? operands[0].elements[0] : operands[0], 4, false);
    const Place d2 = pair ? PredicateDestination(operands[0].elements[1]) : 0;
    Op& op = Emit(&Match);
    op.e = e;
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
    const Place e = Members(operands, 2);
    const Place d = Destination(operands[0], 4, false);
    Op& op = Emit(&Reduce);
    op.e = e;
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

}  // namespace optiml::ptx
