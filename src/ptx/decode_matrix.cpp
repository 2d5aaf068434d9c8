// Matrix instructions: mma, ldmatrix, stmatrix, movmatrix, wgmma. wmma is in decode_wmma.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "ptx/decoder.h"
#include "ptx/matrix.h"

namespace optiml::ptx {

std::vector<const Operand*> ElementsOf(const Operand& operand) {
  std::vector<const Operand*> elements;
  if (operand.kind == OperandKind::kVector) {
    for (const Operand& element : operand.elements) {
      elements.push_back(&element);
    }
  } else {
    elements.push_back(&operand);
  }
  return elements;
}

bool ParseMatrixShape(std::string_view word, MatrixShape& shape) {
  std::array<uint32_t, 3> sizes{};
  const char* at = word.data();
  const char* const end = word.data() + word.size();
  for (size_t i = 0; i < 3; ++i) {
    if (at == end || *at != "mnk"[i]) {
      return false;
    }
    const auto [next, error] = std::from_chars(at + 1, end, sizes[i]);
    if (error != std::errc()) {
      return false;
    }
    at = next;
  }
  if (at != end) {
    return false;
  }
  shape.m = sizes[0];
  shape.n = sizes[1];
  shape.k = sizes[2];
  return true;
}

namespace {

struct MmaForm {
  Type a;
  uint32_t m, n, k;
};
// The shapes of mma.sync by the type of A (PTX ISA, mma); sub-byte types and m8n8k4 of f16 are left
// out.
constexpr MmaForm kMmaForms[] = {
    {Type::kF16, 16, 8, 8},   {Type::kF16, 16, 8, 16},  {Type::kBf16, 16, 8, 8},
    {Type::kBf16, 16, 8, 16}, {Type::kTf32, 16, 8, 4},  {Type::kTf32, 16, 8, 8},
    {Type::kE4m3, 16, 8, 16}, {Type::kE4m3, 16, 8, 32}, {Type::kE5m2, 16, 8, 16},
    {Type::kE5m2, 16, 8, 32}, {Type::kF64, 8, 8, 4},    {Type::kF64, 16, 8, 4},
    {Type::kF64, 16, 8, 8},   {Type::kF64, 16, 8, 16},  {Type::kS8, 8, 8, 16},
    {Type::kS8, 16, 8, 16},   {Type::kS8, 16, 8, 32},   {Type::kU8, 8, 8, 16},
    {Type::kU8, 16, 8, 16},   {Type::kU8, 16, 8, 32}};

// Accumulators that go with the type of A.
bool AccumulatorFits(Type a, Type c) {
  switch (a) {
    case Type::kF16:
    case Type::kE4m3:
    case Type::kE5m2:
      return c == Type::kF16 || c == Type::kF32;
    case Type::kBf16:
    case Type::kTf32:
      return c == Type::kF32;
    case Type::kF64:
      return c == Type::kF64;
    default:
      return c == Type::kS32;
  }
}

bool OnlyWords(const Opcode& opcode, std::initializer_list<std::string_view> words) {
  MatrixShape ignored;
  return std::all_of(opcode.others.begin(), opcode.others.end(), [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end() ||
           ParseMatrixShape(word, ignored);
  });
}

bool ShapeOf(const Opcode& opcode, MatrixShape& shape) {
  return std::any_of(opcode.others.begin(), opcode.others.end(),
                     [&](std::string_view word) { return ParseMatrixShape(word, shape); });
}

}  // namespace

uint32_t MatrixRegisterBytes(Type type) {
  return type == Type::kF64 ? 8 : 4;
}

std::vector<Place> Decoder::MatrixSources(const Operand& operand, size_t count, uint32_t bytes) {
  const auto elements = ElementsOf(operand);
  if (elements.size() != count) {
    throw CannotDecode{
        fmt::format("a matrix operand of {} registers, not {}", elements.size(), count)};
  }
  std::vector<Place> places;
  for (const Operand* element : elements) {
    places.push_back(Source(*element, bytes == 8 ? Type::kF64 : Type::kB32, bytes));
  }
  return places;
}

std::vector<Place> Decoder::MatrixDestinations(const Operand& operand, size_t count,
                                               uint32_t bytes) {
  const auto elements = ElementsOf(operand);
  if (elements.size() != count) {
    throw CannotDecode{
        fmt::format("a matrix result of {} registers, not {}", elements.size(), count)};
  }
  std::vector<Place> places;
  for (const Operand* element : elements) {
    places.push_back(Destination(*element, bytes, false));
  }
  return places;
}

uint32_t Decoder::AddMatrixSite(MatrixSite site) {
  if (site.kernel == nullptr && site.shape.m != 0) {
    site.kernel = b_.handlers->matrix(site.shape);
    if (site.kernel == nullptr) {
      throw CannotDecode{"types of a matrix product"};
    }
  }
  program_.matrices.push_back(std::move(site));
  return static_cast<uint32_t>(program_.matrices.size() - 1);
}

bool Decoder::DecodeMma(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  MatrixSite site;
  MatrixShape& shape = site.shape;
  if (opcode.types.size() != 4 || operands.size() != 4 || !ShapeOf(opcode, shape) ||
      !OnlyWords(opcode, {"sync", "aligned", "row", "col"}) || !opcode.Has("row") ||
      !opcode.Has("col")) {
    return false;
  }
  shape.d = opcode.types[0];
  shape.a = opcode.types[1];
  shape.b = opcode.types[2];
  shape.c = opcode.types[3];
  shape.saturate = opcode.satfinite;
  const bool known = std::ranges::any_of(kMmaForms, [&](const MmaForm& form) {
    return form.a == shape.a && form.m == shape.m && form.n == shape.n && form.k == shape.k;
  });
  if (!known || !AccumulatorFits(shape.a, shape.c) || !AccumulatorFits(shape.a, shape.d) ||
      (shape.saturate && shape.d != Type::kS32)) {
    return false;
  }
  shape.in_halves = shape.a == Type::kE4m3 || shape.a == Type::kE5m2;
  if (shape.in_halves && shape.c != shape.d) {
    return false;
  }
  const uint32_t bytes = MatrixElementBytes(shape.a);
  const uint32_t wide = MatrixRegisterBytes(shape.a);
  const uint32_t c_bytes = MatrixElementBytes(shape.c);
  const uint32_t d_bytes = MatrixElementBytes(shape.d);
  site.a_map = MmaFragment(MatrixOperand::kA, shape.m, shape.k, bytes, wide);
  site.b_map = MmaFragment(MatrixOperand::kB, shape.k, shape.n, bytes, wide);
  site.c_map = MmaFragment(MatrixOperand::kC, shape.m, shape.n, c_bytes, wide);
  site.d_map = MmaFragment(MatrixOperand::kC, shape.m, shape.n, d_bytes, wide);
  site.a = MatrixSources(operands[1], MmaRegisters(shape.m, shape.k, bytes, wide), wide);
  site.b = MatrixSources(operands[2], MmaRegisters(shape.k, shape.n, bytes, wide), wide);
  site.c = MatrixSources(operands[3], MmaRegisters(shape.m, shape.n, c_bytes, wide), wide);
  site.d = MatrixDestinations(operands[0], MmaRegisters(shape.m, shape.n, d_bytes, wide), wide);
  const uint32_t index = AddMatrixSite(std::move(site));
  Emit(&Mma).site = index;
  return true;
}

bool Decoder::DecodeMoveMatrices(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (!OnlyWords(opcode,
                 {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"}) ||
      !opcode.Has("m8n8") || opcode.type() != Type::kB16 || operands.size() != 2) {
    return false;
  }
  if (opcode.base == "movmatrix") {
    if (!opcode.Has("trans")) {
      return false;
    }
    const Place a = Source(operands[1], Type::kB32, 4);
    const Place d = Destination(operands[0], 4, false);
    Op& op = Emit(&MoveMatrix);
    op.a = a;
    op.d = d;
    return true;
  }
  const size_t count = opcode.Has("x4") ? 4 : opcode.Has("x2") ? 2 : opcode.Has("x1") ? 1 : 0;
  if (count == 0) {
    return false;
  }
  const bool store = opcode.base == "stmatrix";
  const Operand& where = operands[store ? 0 : 1];
  MemoryRequest request;
  request.space = SpaceOf(opcode);
  request.store = store;
  request.bytes = 4;
  request.vector = 4;
  Address address;
  if ((request.space != Space::kShared && request.space != Space::kNone) ||
      !DecodeAddress(where, request.space, address)) {
    return false;
  }
  request.wide_address = address.wide;
  const Handler handler = b_.handlers->memory(request);
  MatrixSite site;
  std::vector<Place> rows;
  for (int i = 0; i < 4; ++i) {
    rows.push_back(Slot(4));
  }
  if (store) {
    site.a = MatrixSources(operands[1], count, 4);
    site.d = rows;
  } else {
    site.d = MatrixDestinations(operands[0], count, 4);
    site.a = rows;
  }
  const uint32_t index = AddMatrixSite(std::move(site));
  Op& op = Emit(store ? &StoreMatrix : &LoadMatrix);
  op.site = index;
  op.aux = opcode.Has("trans") ? 1 : 0;
  EmitMemory(handler, request, address, rows);
  return true;
}

void Decoder::EmitMemory(Handler handler, const MemoryRequest& request, const Address& address,
                         const std::vector<Place>& values) {
  if (handler == nullptr) {
    throw CannotDecode{"this form of memory access"};
  }
  const auto value = [&](size_t i) { return i < values.size() ? values[i] : 0; };
  Op& op = Emit(handler, request);
  op.a = address.place;
  op.offset = address.offset;
  op.aux = address.frame_relative ? 2 : 0;
  op.site = program_.memory_sites;
  program_.memory_sites += 2;
  if (request.store) {
    op.b = value(0);
    op.c = value(1);
    op.d = value(2);
    op.d2 = value(3);
  } else {
    op.d = value(0);
    op.d2 = value(1);
    op.b = value(2);
    op.c = value(3);
  }
}

bool Decoder::DecodeWarpgroup(const Instruction& instruction, const Opcode& opcode) {
  const auto& operands = instruction.operands;
  if (opcode.Has("fence")) {
    Emit(&WarpgroupFence);
    return true;
  }
  if (opcode.Has("commit_group")) {
    Emit(&WarpgroupCommit);
    return true;
  }
  if (opcode.Has("wait_group")) {
    if (operands.size() != 1 || operands[0].kind != OperandKind::kImmediate) {
      return false;
    }
    Emit(&WarpgroupWait).aux = static_cast<uint32_t>(operands[0].bits);
    return true;
  }
  MatrixSite site;
  MatrixShape& shape = site.shape;
  if (!OnlyWords(opcode, {"mma_async", "sync", "aligned"}) || !opcode.Has("mma_async") ||
      opcode.types.size() != 3 || !ShapeOf(opcode, shape)) {
    return false;
  }
  shape.d = opcode.types[0];
  shape.a = opcode.types[1];
  shape.b = opcode.types[2];
  shape.c = shape.d;
  shape.saturate = opcode.satfinite;
  const uint32_t bytes = MatrixElementBytes(shape.a);
  const bool integers = shape.a == Type::kS8 || shape.a == Type::kU8;
  // A step in k is 32 bytes; n goes in steps of 8, for integers beyond 32 in steps of 16.
  if (shape.a == Type::kF64 || bytes == 0 || shape.m != 64 || shape.k * bytes != 32 ||
      shape.n % 8 != 0 || shape.n == 0 || shape.n > kMatrixMaxColumns ||
      (integers && shape.n > 32 && shape.n % 16 != 0) || !AccumulatorFits(shape.a, shape.d) ||
      (shape.saturate && !integers)) {
    return false;
  }
  shape.m = 16;
  if (shape.a == Type::kE4m3 || shape.a == Type::kE5m2) {
    shape.fraction_bits = 13;
    shape.result_fraction_bits = 13;
  }
  // d, a, b, scale-d; then for floats imm-scale-a, imm-scale-b; for 16-bit types imm-trans-a
  // (unless A is in registers), imm-trans-b.
  const bool in_registers = operands.size() > 1 && operands[1].kind == OperandKind::kVector;
  const size_t scales = integers ? 0 : 2;
  const size_t transposes = bytes != 2 || integers ? 0 : in_registers ? 1 : 2;
  if (operands.size() != 4 + scales + transposes) {
    return false;
  }
  const auto immediate = [&](size_t i, std::initializer_list<int64_t> allowed) {
    const auto value = static_cast<int64_t>(operands[i].bits);
    if (operands[i].kind != OperandKind::kImmediate ||
        std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      throw CannotDecode{"a scale or transposition that is neither of the two constants"};
    }
    return value;
  };
  if (scales > 0) {
    shape.negate_a = immediate(4, {1, -1}) < 0;
    shape.negate_b = immediate(5, {1, -1}) < 0;
  }
  if (transposes == 2) {
    site.a_transposed = immediate(6, {0, 1}) != 0;
  }
  if (transposes > 0) {
    site.b_transposed = immediate(operands.size() - 1, {0, 1}) != 0;
  }
  const uint32_t d_bytes = MatrixElementBytes(shape.d);
  site.a_map = MmaFragment(MatrixOperand::kA, shape.m, shape.k, bytes, 4);
  site.d_map = MmaFragment(MatrixOperand::kC, shape.m, shape.n, d_bytes, 4);
  if (in_registers) {
    site.a = MatrixSources(operands[1], MmaRegisters(shape.m, shape.k, bytes, 4), 4);
  } else {
    site.a_descriptor = Source(operands[1], Type::kB64, 8);
  }
  site.b_descriptor = Source(operands[2], Type::kB64, 8);
  bool negated = false;
  Place accumulate = 0;
  uint32_t aux = 0;
  if (operands[3].kind == OperandKind::kImmediate) {
    aux = operands[3].bits != 0 ? 2 : 0;
  } else {
    accumulate = PredicateSource(operands[3], negated);
    aux = negated ? 1 : 0;
  }
  const auto elements = ElementsOf(operands[0]);
  const size_t registers = MmaRegisters(shape.m, shape.n, d_bytes, 4);
  for (const Operand* element : elements) {
    if (element->kind != OperandKind::kRegister || RegisterBytes(*element) != 4) {
      return false;  // results live in the registers themselves
    }
  }
  site.d = MatrixDestinations(operands[0], registers, 4);
  const uint32_t index = AddMatrixSite(std::move(site));
  Op& op = Emit(&WarpgroupMma);
  op.site = index;
  op.c = accumulate;
  op.aux = aux;
  return true;
}

bool Decoder::DecodeMatrix(const Instruction& instruction, const Opcode& opcode) {
  if (opcode.base == "mma") {
    return DecodeMma(instruction, opcode);
  }
  if (opcode.base == "ldmatrix" || opcode.base == "stmatrix" || opcode.base == "movmatrix") {
    return DecodeMoveMatrices(instruction, opcode);
  }
  if (opcode.base == "wgmma") {
    return DecodeWarpgroup(instruction, opcode);
  }
  if (opcode.base == "wmma") {
    return DecodeWmma(instruction, opcode);
  }
  return false;
}

}  // namespace optiml::ptx
