// Arithmetic, comparisons, conversions and moves.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/decoder.h"

namespace optiml::ptx {
namespace {

struct AluName {
  std::string_view base;
  AluOp op;
  uint32_t sources;
};
// Operations whose sources and result all have the instruction's type.
constexpr AluName kPlain[] = {
    {"add", AluOp::kAdd, 2},   {"sub", AluOp::kSub, 2},           {"div", AluOp::kDiv, 2},
    {"rem", AluOp::kRem, 2},   {"min", AluOp::kMin, 2},           {"max", AluOp::kMax, 2},
    {"neg", AluOp::kNeg, 1},   {"abs", AluOp::kAbs, 1},           {"and", AluOp::kAnd, 2},
    {"or", AluOp::kOr, 2},     {"xor", AluOp::kXor, 2},           {"not", AluOp::kNot, 1},
    {"cnot", AluOp::kCnot, 1}, {"fma", AluOp::kFma, 3},           {"sqrt", AluOp::kSqrt, 1},
    {"rcp", AluOp::kRcp, 1},   {"rsqrt", AluOp::kRsqrt, 1},       {"ex2", AluOp::kEx2, 1},
    {"lg2", AluOp::kLg2, 1},   {"sin", AluOp::kSin, 1},           {"cos", AluOp::kCos, 1},
    {"tanh", AluOp::kTanh, 1}, {"copysign", AluOp::kCopysign, 2}, {"brev", AluOp::kBrev, 1},
    {"sad", AluOp::kSad, 3},
};

// Modifiers that change nothing here.
bool Harmless(std::string_view word) {
  return word == "noftz" || word == "uni" || word == "aligned";
}

}  // namespace

Handler Decoder::Find(const AluRequest& request) const {
  Handler handler = nullptr;
  if (request.op == AluOp::kCvt || request.op == AluOp::kCvtPack) {
    handler = b_.handlers->convert(request);
  } else if (IsFloatType(request.op == AluOp::kSet ? request.source_type : request.type) &&
             request.op != AluOp::kMov && request.op != AluOp::kSelp &&
             request.op != AluOp::kSlct) {
    handler = b_.handlers->floating(request);
  } else {
    handler = b_.handlers->alu(request);
  }
  return handler;
}

bool Decoder::EmitAlu(const AluRequest& request, const Instruction& instruction,
                      uint32_t result_bytes, const std::vector<std::pair<Type, uint32_t>>& sources,
                      uint32_t aux, uint32_t aux2) {
  const Handler handler = Find(request);
  if (handler == nullptr || instruction.operands.size() < sources.size() + 1) {
    return false;
  }
  Place places[4] = {0, 0, 0, 0};
  for (size_t i = 0; i < sources.size(); ++i) {
    places[i] = Source(instruction.operands[i + 1], sources[i].first, sources[i].second);
  }
  const bool is_signed = request.type == Type::kS8 || request.type == Type::kS16 ||
                         request.type == Type::kS32 || request.type == Type::kS64;
  const Place d = Destination(instruction.operands[0], result_bytes, is_signed);
  Op& op = Emit(handler, request);
  op.d = d;
  op.a = places[0];
  op.b = places[1];
  op.c = places[2];
  op.e = places[3];
  op.aux = aux;
  op.aux2 = aux2;
  return true;
}

bool Decoder::DecodeAlu(const Instruction& instruction, const Opcode& opcode) {
  const std::string_view base = opcode.base;
  if (base == "mov") {
    return DecodeMov(instruction, opcode);
  }
  if (base == "setp" || base == "set" || base == "selp" || base == "slct" || base == "testp") {
    return DecodeCompare(instruction, opcode);
  }
  if (base == "cvt") {
    return DecodeConvert(instruction, opcode);
  }
  if ((base == "add" || base == "sub" || base == "mad") && opcode.Has("cc")) {
    return DecodeCarry(instruction, opcode);
  }
  if (base == "addc" || base == "subc" || base == "madc") {
    return DecodeCarry(instruction, opcode);
  }
  const Type type = opcode.type();
  const uint32_t bytes = TypeBytes(type);
  AluRequest request;
  request.type = type;
  request.rounding = opcode.rounding;
  request.ftz = opcode.ftz;
  request.sat = opcode.sat;
  request.relu = opcode.relu;
  request.approximate = opcode.approximate && !opcode.full_range;
  for (const std::string_view word : opcode.others) {
    if (word == "NaN") {
      request.nan = true;
    } else if (word == "xorsign") {
      request.xorsign_abs = true;
    }
  }
  const auto known = [&](std::initializer_list<std::string_view> words) {
    return std::all_of(opcode.others.begin(), opcode.others.end(), [&](std::string_view word) {
      return Harmless(word) || std::find(words.begin(), words.end(), word) != words.end();
    });
  };
  if (type == Type::kPred) {
    if (base != "and" && base != "or" && base != "xor" && base != "not") {
      return false;
    }
    bool negated_a = false;
    bool negated_b = false;
    const Place a = PredicateSource(instruction.operands.at(1), negated_a);
    const Place b = base == "not" ? 0 : PredicateSource(instruction.operands.at(2), negated_b);
    const Place d = PredicateDestination(instruction.operands.at(0));
    request.op = base == "and"   ? AluOp::kPredAnd
                 : base == "or"  ? AluOp::kPredOr
                 : base == "xor" ? AluOp::kPredXor
                                 : AluOp::kPredNot;
    Op& op = Emit(b_.handlers->alu(request), request);
    op.d = d;
    op.a = a;
    op.b = b;
    op.aux = (negated_a ? 1u : 0u) | (negated_b ? 2u : 0u);
    return true;
  }
  if (type == Type::kNone || bytes == 16 || (bytes == 1 && base != "cvt")) {
    return false;
  }
  if (base == "mul" || base == "mad") {
    const bool floating = IsFloatType(type);
    const bool mad = base == "mad";
    if (floating) {
      request.op = mad ? AluOp::kFma : AluOp::kMulLo;
      return known({}) &&
             EmitAlu(request, instruction, bytes,
                     std::vector<std::pair<Type, uint32_t>>(mad ? 3 : 2, {type, bytes}), 0,
                     static_cast<uint32_t>(request.rounding));
    }
    const bool wide = opcode.Has("wide");
    const bool high = opcode.Has("hi");
    request.op = wide   ? (mad ? AluOp::kMadWide : AluOp::kMulWide)
                 : high ? (mad ? AluOp::kMadHi : AluOp::kMulHi)
                        : (mad ? AluOp::kMadLo : AluOp::kMulLo);
    const uint32_t result = wide ? 2 * bytes : bytes;
    std::vector<std::pair<Type, uint32_t>> sources(2, {type, bytes});
    if (mad) {
      sources.emplace_back(type, result);
    }
    return known({"wide", "hi", "lo"}) && (!opcode.sat || (mad && high)) &&
           EmitAlu(request, instruction, result, sources);
  }
  if (base == "mul24" || base == "mad24") {
    request.op = base == "mul24" ? AluOp::kMul24 : AluOp::kMad24;
    return known({"hi", "lo"}) &&
           EmitAlu(request, instruction, 4,
                   std::vector<std::pair<Type, uint32_t>>(base == "mul24" ? 2 : 3, {type, 4}),
                   opcode.Has("hi") ? 1 : 0);
  }
  for (const AluName& name : kPlain) {
    if (name.base != base) {
      continue;
    }
    request.op = name.op;
    if (!known({"NaN", "xorsign", "abs"})) {
      return false;
    }
    // min and max of three operands.
    if ((name.op == AluOp::kMin || name.op == AluOp::kMax) && instruction.operands.size() == 4) {
      return false;
    }
    const uint32_t pair = (type == Type::kF16x2 || type == Type::kBf16x2) &&
                                  (name.op == AluOp::kNeg || name.op == AluOp::kAbs)
                              ? 1
                              : 0;
    return EmitAlu(request, instruction, bytes,
                   std::vector<std::pair<Type, uint32_t>>(name.sources, {type, bytes}), 0,
                   pair != 0 ? pair
                   : name.op == AluOp::kNeg || name.op == AluOp::kAbs
                       ? 0
                       : static_cast<uint32_t>(request.rounding));
  }
  if (base == "shl" || base == "shr") {
    request.op = base == "shl" ? AluOp::kShl : AluOp::kShr;
    return known({}) && EmitAlu(request, instruction, bytes, {{type, bytes}, {Type::kU32, 4}});
  }
  if (base == "bfe") {
    request.op = AluOp::kBfe;
    return known({}) &&
           EmitAlu(request, instruction, bytes, {{type, bytes}, {Type::kU32, 4}, {Type::kU32, 4}});
  }
  if (base == "bfi") {
    request.op = AluOp::kBfi;
    return known({}) && EmitAlu(request, instruction, bytes,
                                {{type, bytes}, {type, bytes}, {Type::kU32, 4}, {Type::kU32, 4}});
  }
  if (base == "bfind") {
    request.op = opcode.Has("shiftamt") ? AluOp::kBfindShift : AluOp::kBfind;
    return known({"shiftamt"}) && EmitAlu(request, instruction, 4, {{type, bytes}});
  }
  if (base == "clz" || base == "popc") {
    request.op = base == "clz" ? AluOp::kClz : AluOp::kPopc;
    return known({}) && EmitAlu(request, instruction, 4, {{type, bytes}});
  }
  if (base == "prmt") {
    request.op = AluOp::kPrmt;
    const uint32_t mode = opcode.Has("f4e")    ? 1
                          : opcode.Has("b4e")  ? 2
                          : opcode.Has("rc8")  ? 3
                          : opcode.Has("ecl")  ? 4
                          : opcode.Has("ecr")  ? 5
                          : opcode.Has("rc16") ? 6
                                               : 0;
    return known({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) &&
           EmitAlu(request, instruction, 4, std::vector<std::pair<Type, uint32_t>>(3, {type, 4}),
                   mode);
  }
  if (base == "shf") {
    request.op = opcode.Has("l") ? AluOp::kShfLeft : AluOp::kShfRight;
    request.clamp = opcode.Has("clamp");
    return known({"l", "r", "clamp", "wrap"}) &&
           EmitAlu(request, instruction, 4, std::vector<std::pair<Type, uint32_t>>(3, {type, 4}));
  }
  if (base == "lop3") {
    return DecodeLop3(instruction, opcode);
  }
  if (base == "bmsk") {
    request.op = AluOp::kBmsk;
    request.clamp = opcode.Has("clamp");
    return known({"clamp", "wrap"}) &&
           EmitAlu(request, instruction, 4,
                   std::vector<std::pair<Type, uint32_t>>(2, {Type::kU32, 4}));
  }
  if (base == "szext") {
    request.op = AluOp::kSzext;
    return known({"clamp", "wrap"}) &&
           EmitAlu(request, instruction, 4,
                   std::vector<std::pair<Type, uint32_t>>(2, {Type::kU32, 4}),
                   (type == Type::kS32 ? 1u : 0u) | (opcode.Has("clamp") ? 2u : 0u));
  }
  if (base == "fns") {
    request.op = AluOp::kFns;
    return known({}) && EmitAlu(request, instruction, 4,
                                std::vector<std::pair<Type, uint32_t>>(3, {Type::kB32, 4}));
  }
  if (base == "dp4a" || base == "dp2a") {
    request.op = base == "dp4a" ? AluOp::kDp4a : opcode.Has("hi") ? AluOp::kDp2aHi : AluOp::kDp2aLo;
    if (opcode.types.size() != 2) {
      return false;
    }
    const uint32_t aux =
        (opcode.types[0] == Type::kS32 ? 1u : 0u) | (opcode.types[1] == Type::kS32 ? 2u : 0u);
    return known({"lo", "hi"}) &&
           EmitAlu(request, instruction, 4,
                   std::vector<std::pair<Type, uint32_t>>(3, {Type::kB32, 4}), aux);
  }
  return false;
}

// lop3.b32 d, a, b, c, table; or lop3.or.b32 d|p, a, b, c, table, q with p = (d != 0) or q.
bool Decoder::DecodeLop3(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  const bool with_predicate = opcode.Has("or") || opcode.Has("and");
  if (operands.size() != (with_predicate ? 6u : 5u) ||
      operands[4].kind != OperandKind::kImmediate ||
      (operands[0].kind == OperandKind::kPair) != with_predicate ||
      opcode.others.size() != (with_predicate ? 1u : 0u)) {
    return false;
  }
  AluRequest request;
  request.op = AluOp::kLop3;
  request.type = opcode.type();
  Place sources[3];
  for (size_t i = 0; i < 3; ++i) {
    sources[i] = Source(operands[i + 1], request.type, 4);
  }
  bool negated = false;
  const Place q = with_predicate ? PredicateSource(operands[5], negated) : 0;
  const Operand& result = with_predicate ? operands[0].elements[0] : operands[0];
  const Place d = Destination(result, 4, false);
  Op& op = Emit(b_.handlers->alu(request), request);
  op.d = d;
  op.a = sources[0];
  op.b = sources[1];
  op.c = sources[2];
  op.aux = static_cast<uint32_t>(operands[4].bits & 0xff);
  if (with_predicate) {
    request.op = AluOp::kSetp;
    request.type = Type::kB32;
    request.compare = Compare::kNe;
    const Place zero = b_.Constant(0, 4);
    const Place p = PredicateDestination(operands[0].elements[1]);
    Op& test = Emit(Find(request), request);
    test.d = p;
    test.a = d;
    test.b = zero;
    test.c = q;
    test.aux =
        static_cast<uint32_t>(opcode.Has("or") ? BoolOp::kOr : BoolOp::kAnd) | (negated ? 8u : 0u);
  }
  return true;
}

bool Decoder::DecodeMov(const Instruction& instruction, const Opcode& opcode) {
  const Type type = opcode.type();
  const auto& operands = instruction.operands;
  const uint32_t bytes = TypeBytes(type);
  AluRequest request;
  request.type = type;
  if (operands.size() != 2 || !opcode.others.empty() || bytes == 16) {
    return false;
  }
  if (type == Type::kPred) {
    bool negated = false;
    const Place a = PredicateSource(operands[1], negated);
    const Place d = PredicateDestination(operands[0]);
    request.op = AluOp::kPredMov;
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = a;
    op.d = d;
    op.aux = negated ? 1 : 0;
    return true;
  }
  if (operands[1].kind == OperandKind::kVector) {
    const auto& elements = operands[1].elements;
    request.op = AluOp::kPack;
    request.to_bytes = bytes;
    request.from_bytes = elements.empty() ? 0 : bytes / static_cast<uint32_t>(elements.size());
    if ((elements.size() != 2 && elements.size() != 4) || request.from_bytes < 2) {
      return false;
    }
    Place places[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < elements.size(); ++i) {
      places[i] = Source(elements[i], Type::kNone, request.from_bytes);
    }
    const Place d = Destination(operands[0], bytes, false);
    Op& op = Emit(b_.handlers->alu(request), request);
    op.d = d;
    op.a = places[0];
    op.b = places[1];
    op.c = elements.size() == 4 ? places[2] : places[0];
    op.e = elements.size() == 4 ? places[3] : places[0];
    return true;
  }
  if (operands[0].kind == OperandKind::kVector) {
    const auto& elements = operands[0].elements;
    request.op = AluOp::kUnpack;
    request.from_bytes = bytes;
    request.to_bytes = elements.empty() ? 0 : bytes / static_cast<uint32_t>(elements.size());
    if ((elements.size() != 2 && elements.size() != 4) || request.to_bytes < 2) {
      return false;
    }
    const Place a = Source(operands[1], type, bytes);
    Place places[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < elements.size(); ++i) {
      places[i] = elements[i].kind == OperandKind::kSink
                      ? 0
                      : Destination(elements[i], request.to_bytes, false);
    }
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = a;
    op.d = places[0];
    op.d2 = places[1];
    op.b = places[2];
    op.c = places[3];
    return true;
  }
  request.op = AluOp::kMov;
  return EmitAlu(request, instruction, bytes, {{type, bytes}});
}

bool Decoder::DecodeCompare(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  AluRequest request;
  request.ftz = opcode.ftz;
  request.type = opcode.type();
  const uint32_t bytes = TypeBytes(request.type);
  if (opcode.base == "selp") {
    if (operands.size() != 4 || !opcode.others.empty() || bytes < 2 || bytes > 8) {
      return false;
    }
    request.op = AluOp::kSelp;
    bool negated = false;
    const Place a = Source(operands[1], request.type, bytes);
    const Place b = Source(operands[2], request.type, bytes);
    const Place c = PredicateSource(operands[3], negated);
    const Place d = Destination(operands[0], bytes, false);
    Op& op = Emit(b_.handlers->alu(request), request);
    op.d = d;
    op.a = a;
    op.b = b;
    op.c = c;
    op.aux = negated ? 1 : 0;
    return true;
  }
  if (opcode.base == "slct") {
    if (opcode.types.size() != 2) {
      return false;
    }
    request.op = AluOp::kSlct;
    request.type = opcode.types[0];
    request.source_type = opcode.types[1];
    const uint32_t width = TypeBytes(request.type);
    return EmitAlu(request, instruction, width,
                   {{request.type, width}, {request.type, width}, {request.source_type, 4}}, 0,
                   opcode.ftz ? 1 : 0);
  }
  if (opcode.base == "testp") {
    if (opcode.others.size() != 1) {
      return false;
    }
    const std::string_view kind = opcode.others[0];
    request.op = AluOp::kTestp;
    request.test = kind == "finite"       ? TestKind::kFinite
                   : kind == "infinite"   ? TestKind::kInfinite
                   : kind == "number"     ? TestKind::kNumber
                   : kind == "notanumber" ? TestKind::kNotANumber
                   : kind == "normal"     ? TestKind::kNormal
                                          : TestKind::kSubnormal;
    const Place a = Source(operands.at(1), request.type, bytes);
    const Place d = PredicateDestination(operands.at(0));
    const Handler handler = Find(request);
    if (handler == nullptr) {
      return false;
    }
    Op& op = Emit(handler, request);
    op.a = a;
    op.d = d;
    op.aux2 = static_cast<uint32_t>(request.test);
    return true;
  }
  // setp and set: comparison, then perhaps a combination.
  if (opcode.others.empty() || operands.size() < 3) {
    return false;
  }
  const auto compare = ParseCompare(opcode.others[0]);
  if (!compare) {
    return false;
  }
  request.compare = *compare;
  BoolOp bool_op = BoolOp::kNone;
  if (opcode.others.size() == 2) {
    bool_op = opcode.others[1] == "and"   ? BoolOp::kAnd
              : opcode.others[1] == "or"  ? BoolOp::kOr
              : opcode.others[1] == "xor" ? BoolOp::kXor
                                          : BoolOp::kNone;
    if (bool_op == BoolOp::kNone) {
      return false;
    }
  } else if (opcode.others.size() > 2) {
    return false;
  }
  uint32_t aux = static_cast<uint32_t>(bool_op);
  uint32_t aux2 = 0;
  const bool set = opcode.base == "set";
  request.op = set ? AluOp::kSet : AluOp::kSetp;
  Type source = request.type;
  if (set) {
    if (opcode.types.size() != 2) {
      return false;
    }
    request.type = opcode.types[0];
    request.source_type = source;
    // "True" is all ones for integers, 1.0 for floats.
    aux2 = request.type == Type::kF32                                     ? 0x3f800000u
           : request.type == Type::kF16 || request.type == Type::kF16x2   ? 0x3c00u
           : request.type == Type::kBf16 || request.type == Type::kBf16x2 ? 0x3f80u
           : TypeBytes(source) == 2 && TypeBytes(request.type) == 2       ? 0xffffu
           : source == Type::kF16x2 || source == Type::kBf16x2            ? 0xffffu
                                                                          : 0xffffffffu;
    aux |= TypeBytes(request.type) == 2 ? 32 : 0;
  }
  const Handler handler = Find(request);
  if (handler == nullptr) {
    return false;
  }
  const uint32_t width = TypeBytes(source);
  if (width < 2) {
    return false;
  }
  const Place a = Source(operands[1], source, width);
  const Place b = Source(operands[2], source, width);
  Place c = 0;
  if (bool_op != BoolOp::kNone) {
    bool negated = false;
    c = PredicateSource(operands.at(3), negated);
    aux |= negated ? 8 : 0;
  }
  Place d = 0;
  Place d2 = 0;
  if (set) {
    d = Destination(operands[0], TypeBytes(request.type), false);
    if (TypeBytes(request.type) == 2 && !IsFloatType(source)) {
      return false;
    }
  } else if (operands[0].kind == OperandKind::kPair) {
    d = PredicateDestination(operands[0].elements[0]);
    d2 = PredicateDestination(operands[0].elements[1]);
    aux |= 16;
  } else {
    d = PredicateDestination(operands[0]);
  }
  Op& op = Emit(handler, request);
  op.d = d;
  op.d2 = d2;
  op.a = a;
  op.b = b;
  op.c = c;
  op.aux = aux;
  op.aux2 = aux2;
  return true;
}

bool Decoder::DecodeConvert(const Instruction& instruction, const Opcode& opcode) {
  AluRequest request;
  request.op = AluOp::kCvt;
  request.rounding = opcode.rounding;
  request.ftz = opcode.ftz;
  request.sat = opcode.sat;
  if (opcode.Has("pack")) {
    request.op = AluOp::kCvtPack;
    for (const std::string_view word : opcode.others) {  // cvt.pack.sat.u4.s32.b32
      if (word == "u4" || word == "s4" || word == "u2" || word == "s2") {
        return EmitAlu(request, instruction, 4,
                       std::vector<std::pair<Type, uint32_t>>(3, {Type::kB32, 4}),
                       (word[0] == 's' ? 1u : 0u) | (word[1] == '4' ? 8u : 4u));
      }
    }
    if (opcode.types.size() < 2) {
      return false;
    }
    request.type = opcode.types[0];
    request.source_type = opcode.types[1];
    std::vector<std::pair<Type, uint32_t>> sources(TypeBytes(request.type) == 1 ? 3 : 2,
                                                   {Type::kB32, 4});
    const bool is_signed = request.type == Type::kS16 || request.type == Type::kS8;
    request.type =
        is_signed ? (TypeBytes(request.type) == 1 ? Type::kS8 : Type::kS16) : request.type;
    return EmitAlu(request, instruction, 4, sources, is_signed ? 1 : 0);
  }
  if (opcode.types.size() != 2 || !opcode.others.empty()) {
    return false;
  }
  request.type = opcode.types[0];
  request.source_type = opcode.types[1];
  const uint32_t flags = (opcode.sat ? 1u : 0u) | (opcode.ftz ? 2u : 0u) | (opcode.relu ? 4u : 0u) |
                         (opcode.satfinite ? 8u : 0u);
  const uint32_t source_bytes = TypeBytes(request.source_type);
  // Pairs made of two f32.
  const bool two = request.source_type == Type::kF32 &&
                   (request.type == Type::kF16x2 || request.type == Type::kBf16x2 ||
                    request.type == Type::kE4m3x2 || request.type == Type::kE5m2x2);
  std::vector<std::pair<Type, uint32_t>> sources(two ? 2 : 1, {request.source_type, source_bytes});
  return EmitAlu(request, instruction, TypeBytes(request.type), sources,
                 static_cast<uint32_t>(request.rounding), flags);
}

bool Decoder::DecodeCarry(const Instruction& instruction, const Opcode& opcode) {
  const Type type = opcode.type();
  const uint32_t bytes = TypeBytes(type);
  if (bytes != 4 && bytes != 8) {
    return false;
  }
  AluRequest request;
  request.op = AluOp::kAddc;
  request.type = bytes == 4 ? Type::kU32 : Type::kU64;
  const bool mad = opcode.base == "mad" || opcode.base == "madc";
  const bool in = opcode.base.back() == 'c';
  uint32_t aux2 = (in ? 1u : 0u) | (opcode.Has("cc") ? 2u : 0u);
  if (type == Type::kS32 || type == Type::kS64) {
    aux2 |= 4;
  }
  const uint32_t aux = opcode.base.starts_with("sub") ? 1 : mad ? (opcode.Has("hi") ? 3 : 2) : 0;
  return EmitAlu(request, instruction, bytes,
                 std::vector<std::pair<Type, uint32_t>>(mad ? 3 : 2, {type, bytes}), aux, aux2);
}

}  // namespace optiml::ptx
