#include "ptx/matrix.h"

namespace optiml::ptx {

uint32_t MatrixElementBytes(Type type) {
  return type == Type::kTf32 ? 4 : TypeBytes(type);
}

uint32_t MmaRegisters(uint32_t rows, uint32_t columns, uint32_t bytes, uint32_t register_bytes) {
  return rows * columns * bytes / (32 * register_bytes);
}

// Lane l is member l % 4 of group l / 4. A: a register holds row l / 4 (and 8 more for every second
// register of 16 rows) and the l % 4-th run of neighbours in k. B: the same with columns for rows.
// C: two neighbours in n a row.
FragmentMap MmaFragment(MatrixOperand operand, uint32_t rows, uint32_t columns, uint32_t bytes,
                        uint32_t register_bytes) {
  const uint32_t per_register = register_bytes / bytes;
  FragmentMap map(size_t{rows} * columns);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      uint32_t reg = 0;
      uint32_t lane = 0;
      uint32_t part = 0;
      size_t at = 0;
      if (operand == MatrixOperand::kC) {
        // Tiles of 8 columns; rows l / 4 and l / 4 + 8; the two neighbours share a register or take
        // one each.
        const uint32_t groups = rows / 8;
        const uint32_t tile_registers = groups * 2 / per_register;
        lane = row % 8 * 4 + column % 8 / 2;
        part = per_register == 2 ? column % 2 : 0;
        reg =
            column / 8 * tile_registers + (per_register == 2 ? row / 8 : row / 8 * 2 + column % 2);
        at = (size_t{column / 8} * rows + row) * 8 + column % 8;
      } else {
        const uint32_t depth = operand == MatrixOperand::kA ? column : row;
        const uint32_t outer = operand == MatrixOperand::kA ? row : column;
        const uint32_t groups = operand == MatrixOperand::kA ? rows / 8 : 1;
        lane = outer % 8 * 4 + depth / per_register % 4;
        part = depth % per_register;
        reg = outer / 8 % groups + depth / (4 * per_register) * groups;
        at = operand == MatrixOperand::kA ? size_t{row} * columns + column
                                          : (size_t{column / 8} * rows + row) * 8 + column % 8;
      }
      map[at] = {static_cast<uint8_t>(reg),
                 static_cast<uint8_t>(lane * register_bytes + part * bytes)};
    }
  }
  return map;
}

}  // namespace optiml::ptx
