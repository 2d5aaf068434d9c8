// Loads, stores, atomics and address conversions.

#include <fmt/format.h>

#include <algorithm>

#include "ptx/access.h"
#include "ptx/decoder.h"

namespace optiml::ptx {
namespace {

bool IsSigned(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

// Words that change neither result nor checks: scopes, orders, cache hints. Those that make an
// access strong are looked at separately.
bool HarmlessMemoryWord(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "weak",    "volatile",     "relaxed",     "acquire",
      "release", "acq_rel",      "cta",         "cluster",
      "gpu",     "sys",          "mmio",        "global",
      "shared",  "shared::cta",  "local",       "const",
      "param",   "param::entry", "param::func", "ca",
      "cg",      "cs",           "lu",          "cv",
      "wb",      "wt",           "nc",          "v2",
      "v4",      "unified",      "noftz",       "shared::cluster"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords) ||
         word.starts_with("L1::") || word.starts_with("L2::");
}

}  // namespace

Place Decoder::Widened(Place narrow) {
  AluRequest request;
  request.op = AluOp::kExtend;
  request.from_bytes = 4;
  request.to_bytes = 8;
  const Place wide = Slot(8);
  Op& op = Emit(b_.handlers->alu(request), request);
  op.a = narrow;
  op.d = wide;
  return wide;
}

bool Decoder::DecodeAddress(const Operand& operand, Space space, Address& address) {
  if (operand.kind != OperandKind::kAddress || operand.elements.size() != 1) {
    return false;
  }
  const Operand& base = operand.elements[0];
  address.offset = operand.offset;
  if (base.kind == OperandKind::kRegister) {
    const uint32_t bytes = RegisterBytes(base);
    if (bytes != 4 && bytes != 8) {
      return false;
    }
    address.wide = bytes == 8;
    address.place = registers_[static_cast<size_t>(base.index)];
    if (!address.wide &&
        (space == Space::kGlobal || space == Space::kNone || space == Space::kConst)) {
      address.place = Widened(address.place);
      address.wide = true;
    }
    return true;
  }
  if (base.kind == OperandKind::kImmediate) {
    address.place = b_.Constant(base.bits, 8);
    return true;
  }
  if (base.kind != OperandKind::kSymbol) {
    return false;
  }
  const auto& frame = b_.frames[static_cast<size_t>(index_)];
  if (const auto it = frame.places.find(base.text);
      it != frame.places.end() && (space == Space::kLocal || space == Space::kParam)) {
    address.place = b_.Constant(0, 8);
    address.offset += it->second.first;
    address.frame_relative = true;
    return true;
  }
  address.place = SymbolPlace(base, 8);
  return true;
}

bool Decoder::LoadParameter(const Instruction& instruction, uint64_t offset, Type type,
                            uint32_t vector) {
  const uint32_t bytes = TypeBytes(type);
  const Operand& result = instruction.operands.at(0);
  std::vector<const Operand*> results;
  if (vector == 1) {
    results.push_back(&result);
  } else {
    for (const Operand& element : result.elements) {
      results.push_back(&element);
    }
  }
  if (results.size() != vector || offset + uint64_t{bytes} * vector > b_.kernel->parameter_bytes ||
      !function_.is_entry) {
    return false;
  }
  for (uint32_t i = 0; i < vector; ++i) {
    const auto at = static_cast<uint32_t>(program_.constant_storage.size());
    program_.constant_storage.resize(at + 256);
    program_.parameters.push_back(
        {at, static_cast<uint32_t>(offset + uint64_t{i} * bytes), bytes, std::max(bytes, 2u)});
    AluRequest request;
    request.op = AluOp::kMov;
    request.type = bytes <= 2 ? Type::kB16 : bytes == 4 ? Type::kB32 : Type::kB64;
    const Place d = Destination(*results[i], bytes, IsSigned(type));
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = at | 1;
    op.d = d;
  }
  return true;
}

bool Decoder::DecodeLoadStore(const Instruction& instruction, const Opcode& opcode) {
  const bool store = opcode.base == "st";
  if (!store && opcode.base != "ld" && opcode.base != "ldu") {
    return false;
  }
  if (!std::all_of(opcode.others.begin(), opcode.others.end(), HarmlessMemoryWord) ||
      opcode.types.size() != 1) {
    return false;
  }
  const auto& operands = instruction.operands;
  if (operands.size() < 2) {
    return false;
  }
  const Type type = opcode.type();
  const uint32_t bytes = TypeBytes(type);
  const uint32_t vector = opcode.Has("v4") ? 4 : opcode.Has("v2") ? 2 : 1;
  Space space = SpaceOf(opcode);
  const Operand& where = operands[store ? 0 : 1];
  const Operand& what = operands[store ? 1 : 0];
  std::vector<const Operand*> elements;
  if (vector == 1) {
    elements.push_back(&what);
  } else {
    for (const Operand& element : what.elements) {
      elements.push_back(&element);
    }
  }
  if (elements.size() != vector || bytes == 0 || bytes > 8 || bytes * vector > 16 ||
      type == Type::kPred) {
    return false;
  }
  if (where.kind != OperandKind::kAddress || where.elements.empty()) {
    return false;
  }
  const Operand& base = where.elements[0];
  // Parameters of the kernel are constants of the launch; those of device functions and calls live
  // in the local frame.
  uint32_t aux = 0;
  if (space == Space::kParam) {
    if (base.kind == OperandKind::kSymbol && function_.is_entry) {
      for (const Parameter& parameter : function_.parameters) {
        if (parameter.name == base.text) {
          return !store &&
                 LoadParameter(instruction, parameter.offset + static_cast<uint64_t>(where.offset),
                               type, vector);
        }
      }
    }
    aux |= 4 | 8;
    if (base.kind == OperandKind::kRegister && function_.is_entry) {
      space = Space::kGlobal;  // the parameter block as an object at kParamWindow
    } else {
      space = Space::kLocal;
    }
  }
  if (space == Space::kConst) {
    if (store) {
      return false;
    }
    aux |= 8;
  }
  if (opcode.Has("volatile") || opcode.Has("relaxed") || opcode.Has("acquire") ||
      opcode.Has("release")) {
    aux |= kAccessStrong;
    aux |= opcode.Has("cta") ? kAccessBlockScope : 0;
    aux |= opcode.Has("release") ? kAccessRelease : 0;
  }
  Address address;
  if (!DecodeAddress(where, space, address)) {
    return false;
  }
  aux |= address.frame_relative ? 2 : 0;
  MemoryRequest request;
  request.space = space;
  request.store = store;
  request.bytes = bytes;
  request.vector = vector;
  request.wide_address = address.wide;
  const Handler handler = b_.handlers->memory(request);
  if (handler == nullptr) {
    return false;
  }
  Place places[4] = {0, 0, 0, 0};
  for (uint32_t i = 0; i < vector; ++i) {
    places[i] = store ? Source(*elements[i], type, bytes)
                      : Destination(*elements[i], bytes, IsSigned(type));
  }
  Op& op = Emit(handler, request);
  op.a = address.place;
  op.offset = address.offset;
  op.aux = aux;
  op.site = program_.memory_sites;
  program_.memory_sites += 2;
  if (store) {
    op.b = places[0];
    op.c = places[1];
    op.d = places[2];
    op.d2 = places[3];
  } else {
    op.d = places[0];
    op.d2 = places[1];
    op.b = places[2];
    op.c = places[3];
  }
  return true;
}

bool Decoder::DecodeAtomic(const Instruction& instruction, const Opcode& opcode) {
  const bool returns = opcode.base == "atom";
  if (!returns && opcode.base != "red") {
    return false;
  }
  static constexpr std::pair<std::string_view, AtomicOp> kNames[] = {
      {"add", AtomicOp::kAdd},   {"min", AtomicOp::kMin}, {"max", AtomicOp::kMax},
      {"and", AtomicOp::kAnd},   {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor},
      {"exch", AtomicOp::kExch}, {"cas", AtomicOp::kCas}, {"inc", AtomicOp::kInc},
      {"dec", AtomicOp::kDec}};
  AtomicRequest request;
  bool found = false;
  for (const std::string_view word : opcode.others) {
    bool known = HarmlessMemoryWord(word) && word != "v2" && word != "v4";
    for (const auto& [name, op] : kNames) {
      if (word == name) {
        request.op = op;
        found = true;
        known = true;
      }
    }
    if (!known) {
      return false;
    }
  }
  const auto& operands = instruction.operands;
  const size_t first = returns ? 1 : 0;
  if (!found || opcode.types.size() != 1 || operands.size() < first + 2) {
    return false;
  }
  request.type = opcode.type();
  request.space = SpaceOf(opcode);
  Address address;
  if (!DecodeAddress(operands[first], request.space, address)) {
    return false;
  }
  request.wide_address = address.wide;
  const Handler handler = SelectAtomic(request);
  if (handler == nullptr) {
    return false;
  }
  const uint32_t bytes = TypeBytes(request.type);
  const Place b = Source(operands[first + 1], request.type, bytes);
  const Place c =
      request.op == AtomicOp::kCas ? Source(operands.at(first + 2), request.type, bytes) : 0;
  const Place d = returns && operands[0].kind != OperandKind::kSink
                      ? Destination(operands[0], bytes, IsSigned(request.type))
                      : 0;
  Op& op = Emit(handler);
  op.a = address.place;
  op.offset = address.offset;
  op.b = b;
  op.c = c;
  op.d = d;
  op.aux = kAccessStrong | (opcode.Has("cta") ? kAccessBlockScope : 0) |
           (opcode.Has("release") || opcode.Has("acq_rel") ? kAccessRelease : 0) |
           (request.op == AtomicOp::kCas ? kAccessCompareAndSwap : 0);
  op.site = program_.memory_sites;
  program_.memory_sites += 2;
  return true;
}

bool Decoder::DecodeConvertAddress(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.base == "isspacep") {
    const Place a = Source(operands.at(1), Type::kU64, 8);
    const Place d = PredicateDestination(operands.at(0));
    const Space space = SpaceOf(opcode);
    if (space == Space::kNone) {
      return false;
    }
    Op& op = Emit(&IsSpace);
    op.a = a;
    op.d = d;
    op.aux = static_cast<uint32_t>(space);
    return true;
  }
  if (opcode.base != "cvta") {
    return false;
  }
  const Space space = SpaceOf(opcode);
  const bool to = opcode.Has("to");
  if (space == Space::kNone || TypeBytes(opcode.type()) != 8) {
    return false;
  }
  // Global, const and param addresses are generic addresses already.
  const uint64_t window = space == Space::kShared  ? kSharedWindow
                          : space == Space::kLocal ? kLocalWindow
                                                   : 0;
  const Place a = Source(operands.at(1), Type::kU64, 8);
  const Place d = Destination(operands.at(0), 8, false);
  if (window == 0) {
    AluRequest request;
    request.op = AluOp::kMov;
    request.type = Type::kB64;
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = a;
    op.d = d;
    return true;
  }
  Op& op = Emit(&ToSpace);
  op.a = a;
  op.d = d;
  op.offset = to ? -static_cast<int64_t>(window) : static_cast<int64_t>(window);
  return true;
}

}  // namespace optiml::ptx
