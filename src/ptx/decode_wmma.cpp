// wmma: loads and stores of fragments, and products of them.
//
// PTX leaves open where a fragment's elements lie; this is where compute capability 9.0 puts them
// (docs/emulator_arithmetic.md): tiles as mma.sync has them, one after the other. m8n32k16 is
// computed as the transposed product of 32 x 8. Fragments of f16 always take 8 registers; those
// that are not needed repeat the others.
//
// A load becomes address arithmetic and ordinary loads, so that checks and counters see what a load
// by hand would show.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ptx/decoder.h"
#include "ptx/matrix.h"

namespace optiml::ptx {
namespace {

struct WmmaForm {
  uint32_t m, n, k;
  Type a;
};
constexpr WmmaForm kWmmaForms[] = {
    {16, 16, 16, Type::kF16},  {32, 8, 16, Type::kF16},  {8, 32, 16, Type::kF16},
    {16, 16, 16, Type::kBf16}, {32, 8, 16, Type::kBf16}, {8, 32, 16, Type::kBf16},
    {16, 16, 16, Type::kS8},   {32, 8, 16, Type::kS8},   {8, 32, 16, Type::kS8},
    {16, 16, 16, Type::kU8},   {32, 8, 16, Type::kU8},   {8, 32, 16, Type::kU8},
    {16, 16, 8, Type::kTf32},  {8, 8, 4, Type::kF64}};

bool KnownForm(const MatrixShape& shape, Type a) {
  return std::ranges::any_of(kWmmaForms, [&](const WmmaForm& form) {
    return form.m == shape.m && form.n == shape.n && form.k == shape.k && form.a == a;
  });
}

// Which operand of the product that is computed: with `transposed` A and B change places.
struct Fragment {
  FragmentMap map;  // in the order of MatrixOperands
  uint32_t rows = 0;
  uint32_t columns = 0;
  uint32_t registers = 0;  // that differ
};

Fragment FragmentOf(MatrixOperand operand, const MatrixShape& shape, uint32_t bytes,
                    uint32_t register_bytes) {
  Fragment fragment;
  fragment.rows = operand == MatrixOperand::kB ? shape.k : shape.m;
  fragment.columns = operand == MatrixOperand::kA ? shape.k : shape.n;
  const uint32_t tile_rows = operand == MatrixOperand::kB ? shape.k : std::min(shape.m, 16u);
  const uint32_t tile_columns = operand == MatrixOperand::kA ? shape.k : 8;
  const FragmentMap tile = MmaFragment(operand, tile_rows, tile_columns, bytes, register_bytes);
  const uint32_t tile_registers = MmaRegisters(tile_rows, tile_columns, bytes, register_bytes);
  const uint32_t tiles_across = fragment.columns / tile_columns;
  fragment.registers = tile_registers * (fragment.rows / tile_rows) * tiles_across;
  fragment.map.resize(size_t{fragment.rows} * fragment.columns);
  for (uint32_t row = 0; row < fragment.rows; ++row) {
    for (uint32_t column = 0; column < fragment.columns; ++column) {
      const uint32_t number = row / tile_rows * tiles_across + column / tile_columns;
      const uint32_t inner_row = row % tile_rows;
      const uint32_t inner_column = column % tile_columns;
      const size_t from = operand == MatrixOperand::kA
                              ? size_t{inner_row} * tile_columns + inner_column
                              : size_t{inner_row} * 8 + inner_column;
      const size_t at = operand == MatrixOperand::kA
                            ? size_t{row} * fragment.columns + column
                            : (size_t{column / 8} * fragment.rows + row) * 8 + column % 8;
      fragment.map[at] = {static_cast<uint8_t>(tile[from].reg + number * tile_registers),
                          tile[from].byte};
    }
  }
  return fragment;
}

// Row and column in the user's matrix of every element that a register holds: [lane][part].
using Elements = std::array<std::array<std::pair<uint32_t, uint32_t>, 4>, 32>;

std::vector<Elements> ElementsOfRegisters(const Fragment& fragment, MatrixOperand operand,
                                          bool transposed, uint32_t bytes,
                                          uint32_t register_bytes) {
  std::vector<Elements> registers(fragment.registers);
  for (uint32_t row = 0; row < fragment.rows; ++row) {
    for (uint32_t column = 0; column < fragment.columns; ++column) {
      const size_t at = operand == MatrixOperand::kA
                            ? size_t{row} * fragment.columns + column
                            : (size_t{column / 8} * fragment.rows + row) * 8 + column % 8;
      const ElementPlace place = fragment.map[at];
      registers[place.reg][place.byte / register_bytes][place.byte % register_bytes / bytes] =
          transposed ? std::pair(column, row) : std::pair(row, column);
    }
  }
  return registers;
}

MatrixShape Transposed(MatrixShape shape) {
  std::swap(shape.m, shape.n);
  std::swap(shape.a, shape.b);
  return shape;
}

// The registers that PTX gives a fragment.
uint32_t DeclaredRegisters(Type type, MatrixOperand operand, uint32_t needed) {
  return type == Type::kF16 && operand != MatrixOperand::kC ? 8 : needed;
}

}  // namespace

Place Decoder::LaneConstant(const std::array<uint64_t, 32>& values, uint32_t bytes) {
  const auto at = static_cast<uint32_t>(program_.constant_storage.size());
  program_.constant_storage.resize(at + 256);
  for (uint32_t l = 0; l < 32; ++l) {
    std::memcpy(program_.constant_storage.data() + at + l * bytes, &values[l], bytes);
  }
  return at | 1;
}

// base + (major * stride + minor) * bytes for every lane, as a new register.
Place Decoder::FragmentAddress(const Address& base, const Operand* stride, uint32_t default_stride,
                               const std::array<uint64_t, 32>& major,
                               const std::array<uint64_t, 32>& minor, uint32_t bytes) {
  const uint32_t width = base.wide ? 8 : 4;
  const Place result = Slot(width);
  AluRequest request;
  if (stride == nullptr || stride->kind == OperandKind::kImmediate) {
    const uint64_t step = stride == nullptr ? default_stride : stride->bits;
    std::array<uint64_t, 32> offsets{};
    for (uint32_t l = 0; l < 32; ++l) {
      offsets[l] = (major[l] * step + minor[l]) * bytes;
    }
    request.op = AluOp::kAdd;
    request.type = base.wide ? Type::kU64 : Type::kU32;
    const Place offset = LaneConstant(offsets, width);
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = base.place;
    op.b = offset;
    op.d = result;
    return result;
  }
  const Place step = Source(*stride, Type::kU32, 4);
  const Place element = Slot(4);
  request.op = AluOp::kMadLo;
  request.type = Type::kU32;
  const Place major_place = LaneConstant(major, 4);
  const Place minor_place = LaneConstant(minor, 4);
  Op& index = Emit(b_.handlers->alu(request), request);
  index.a = major_place;
  index.b = step;
  index.c = minor_place;
  index.d = element;
  request.op = base.wide ? AluOp::kMadWide : AluOp::kMadLo;
  const Place size = b_.Constant(bytes, 4);
  Op& address = Emit(b_.handlers->alu(request), request);
  address.a = element;
  address.b = size;
  address.c = base.place;
  address.d = result;
  return result;
}

bool Decoder::DecodeWmmaMemory(const Instruction& instruction, const Opcode& opcode) {
  const bool store = opcode.Has("store");
  const auto& operands = instruction.operands;
  MatrixShape shape;
  MatrixOperand operand = MatrixOperand::kC;
  for (const std::string_view word : opcode.others) {
    if (ParseMatrixShape(word, shape)) {
      continue;
    }
    if (word == "a") {
      operand = MatrixOperand::kA;
    } else if (word == "b") {
      operand = MatrixOperand::kB;
    } else if (word != "load" && word != "store" && word != "c" && word != "d" && word != "sync" &&
               word != "aligned" && word != "row" && word != "col" && word != "global" &&
               word != "shared" && word != "shared::cta") {
      return false;
    }
  }
  const Type type = opcode.type();
  const bool row_major = opcode.Has("row");
  // An accumulator's type tells the form less exactly: any form with these sizes will do.
  const bool known =
      operand == MatrixOperand::kC
          ? std::ranges::any_of(kWmmaForms,
                                [&](const WmmaForm& form) {
                                  return form.m == shape.m && form.n == shape.n &&
                                         form.k == shape.k &&
                                         (form.a == Type::kF64) == (type == Type::kF64);
                                }) &&
                (type == Type::kF16 || type == Type::kF32 || type == Type::kS32 ||
                 type == Type::kF64)
          : KnownForm(shape, type);
  if (opcode.types.size() != 1 || !known || row_major == opcode.Has("col") || operands.size() < 2 ||
      operands.size() > 3) {
    return false;
  }
  const uint32_t bytes = MatrixElementBytes(type);
  const uint32_t register_bytes = MatrixRegisterBytes(type);
  const bool transposed = shape.m == 8 && shape.n == 32;
  const MatrixOperand computed = !transposed || operand == MatrixOperand::kC ? operand
                                 : operand == MatrixOperand::kA              ? MatrixOperand::kB
                                                                             : MatrixOperand::kA;
  const Fragment fragment =
      FragmentOf(computed, transposed ? Transposed(shape) : shape, bytes, register_bytes);
  const auto elements = ElementsOfRegisters(fragment, computed, transposed, bytes, register_bytes);
  const uint32_t declared = DeclaredRegisters(type, operand, fragment.registers);
  const Space space = SpaceOf(opcode);
  Address base;
  if ((space != Space::kNone && space != Space::kGlobal && space != Space::kShared) ||
      !DecodeAddress(operands[store ? 0 : 1], space, base)) {
    return false;
  }
  const Operand* stride = operands.size() == 3 ? &operands[2] : nullptr;
  const uint32_t rows = operand == MatrixOperand::kB ? shape.k : shape.m;
  const uint32_t columns = operand == MatrixOperand::kA ? shape.k : shape.n;
  const uint32_t default_stride = row_major ? columns : rows;
  const std::vector<Place> registers =
      store ? MatrixSources(operands[1], declared, register_bytes)
            : MatrixDestinations(operands[0], declared, register_bytes);
  const uint32_t parts = register_bytes / bytes;
  for (uint32_t r = 0; r < fragment.registers; ++r) {
    std::array<std::array<uint64_t, 32>, 4> major{};
    std::array<std::array<uint64_t, 32>, 4> minor{};
    bool together = true;
    for (uint32_t l = 0; l < 32; ++l) {
      for (uint32_t p = 0; p < parts; ++p) {
        const auto [row, column] = elements[r][l][p];
        major[p][l] = row_major ? row : column;
        minor[p][l] = row_major ? column : row;
        together = together && major[p][l] == major[0][l] && minor[p][l] == minor[0][l] + p;
      }
    }
    MemoryRequest request;
    request.space = space;
    request.store = store;
    request.wide_address = base.wide;
    request.bytes = together ? register_bytes : bytes;
    const Handler handler = b_.handlers->memory(request);
    const auto at = [&](uint32_t p) {
      Address address = base;
      address.place = FragmentAddress(base, stride, default_stride, major[p], minor[p], bytes);
      return address;
    };
    if (together) {
      EmitMemory(handler, request, at(0), {registers[r]});
      continue;
    }
    Place pieces[4] = {0, 0, 0, 0};
    for (uint32_t p = 0; p < parts; ++p) {
      pieces[p] = Slot(2);
      const Address address = at(p);
      if (store) {
        Op& op = Emit(&UnpackElement);
        op.a = registers[r];
        op.d = pieces[p];
        op.aux = 8 * bytes * p;
      }
      EmitMemory(handler, request, address, {pieces[p]});
    }
    if (!store) {
      Op& op = Emit(&PackElements);
      op.a = pieces[0];
      op.b = pieces[1];
      op.c = pieces[2];
      op.e = pieces[3];
      op.d = registers[r];
      op.aux = parts;
      op.aux2 = bytes;
    }
  }
  for (uint32_t r = fragment.registers; !store && r < declared; ++r) {
    AluRequest request;
    request.op = AluOp::kMov;
    request.type = Type::kB32;
    Op& op = Emit(b_.handlers->alu(request), request);
    op.a = registers[r % fragment.registers];
    op.d = registers[r];
  }
  return true;
}

bool Decoder::DecodeWmma(const Instruction& instruction, const Opcode& opcode) {
  if (opcode.Has("load") || opcode.Has("store")) {
    return DecodeWmmaMemory(instruction, opcode);
  }
  const auto& operands = instruction.operands;
  MatrixShape shape;
  uint32_t layouts = 0;
  for (const std::string_view word : opcode.others) {
    if (ParseMatrixShape(word, shape)) {
      continue;
    }
    if (word == "row" || word == "col") {
      ++layouts;  // fragments are the same for both
    } else if (word != "mma" && word != "sync" && word != "aligned") {
      return false;
    }
  }
  const auto& types = opcode.types;
  if (operands.size() != 4 || layouts != 2 || (types.size() != 2 && types.size() != 4) ||
      (opcode.rounding != Rounding::kNone && opcode.rounding != Rounding::kNearest)) {
    return false;
  }
  shape.d = types[0];
  shape.c = types.back();
  shape.a = types.size() == 2 ? Type::kF16 : types[1];
  shape.b = types.size() == 2 ? Type::kF16 : types[2];
  shape.saturate = opcode.satfinite;
  // Compute capability 9.0 sums tf32 in two steps here, unlike mma.sync (measured).
  shape.step = shape.a == Type::kTf32 ? 4 : 0;
  const bool integers = shape.a == Type::kS8 || shape.a == Type::kU8;
  const auto fits = [&](Type type) {
    return integers                ? type == Type::kS32
           : shape.a == Type::kF64 ? type == Type::kF64
           : shape.a == Type::kF16 ? type == Type::kF16 || type == Type::kF32
                                   : type == Type::kF32;
  };
  if (!KnownForm(shape, shape.a) || !KnownForm(shape, shape.b) || !fits(shape.c) ||
      !fits(shape.d) || (shape.saturate && !integers)) {
    return false;
  }
  const bool transposed = shape.m == 8 && shape.n == 32;
  const MatrixShape computed = transposed ? Transposed(shape) : shape;
  const uint32_t wide = MatrixRegisterBytes(shape.a);
  const auto fragment = [&](MatrixOperand operand, Type type) {
    return FragmentOf(operand, computed, MatrixElementBytes(type), wide);
  };
  const Fragment a = fragment(MatrixOperand::kA, computed.a);
  const Fragment b = fragment(MatrixOperand::kB, computed.b);
  const Fragment c = fragment(MatrixOperand::kC, computed.c);
  const Fragment d = fragment(MatrixOperand::kC, computed.d);
  MatrixSite site;
  site.shape = computed;
  site.a_map = a.map;
  site.b_map = b.map;
  site.c_map = c.map;
  site.d_map = d.map;
  const auto sources = [&](size_t operand, Type type, MatrixOperand which, uint32_t needed) {
    auto places = MatrixSources(operands[operand], DeclaredRegisters(type, which, needed), wide);
    places.resize(needed);
    return places;
  };
  site.a = sources(transposed ? 2 : 1, computed.a, MatrixOperand::kA, a.registers);
  site.b = sources(transposed ? 1 : 2, computed.b, MatrixOperand::kB, b.registers);
  site.c = sources(3, computed.c, MatrixOperand::kC, c.registers);
  site.d = MatrixDestinations(operands[0], d.registers, wide);
  const uint32_t index = AddMatrixSite(std::move(site));
  Emit(&Mma).site = index;
  return true;
}

}  // namespace optiml::ptx
