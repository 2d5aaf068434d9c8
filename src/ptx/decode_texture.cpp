// Textures and surfaces by object handle (unified mode): tex, tld4, suld.b, sust.b. Layered and
// cubic ones, mipmaps and explicit gradients are not executed.

#include <algorithm>

#include "ptx/decoder.h"

namespace optiml::ptx {

bool Decoder::DecodeTexture(const Instruction& instruction, const Opcode& opcode) {
  const bool surface = opcode.base == "suld" || opcode.base == "sust";
  const bool store = opcode.base == "sust";
  if (!surface && opcode.base != "tex" && opcode.base != "tld4") {
    return false;
  }
  TextureSite site;
  site.kind = store                   ? TextureSite::Kind::kStore
              : surface               ? TextureSite::Kind::kLoad
              : opcode.base == "tld4" ? TextureSite::Kind::kGather
                                      : TextureSite::Kind::kRead;
  uint32_t vector = 1;
  bool level = false;
  for (const std::string_view word : opcode.others) {
    if (word == "1d" || word == "2d" || word == "3d") {
      site.dimensions = static_cast<uint32_t>(word[0] - '0');
    } else if (word == "v2" || word == "v4") {
      vector = static_cast<uint32_t>(word[1] - '0');
    } else if (word == "level" || word == "base") {
      level = word == "level";
    } else if (site.kind == TextureSite::Kind::kGather && word.size() == 1 &&
               std::string_view("rgba").find(word) != std::string_view::npos) {
      site.channel = static_cast<uint32_t>(std::string_view("rgba").find(word));
    } else if (surface && (word == "trap" || word == "clamp" || word == "zero")) {
      site.outside = word == "trap"    ? TextureSite::Outside::kTrap
                     : word == "clamp" ? TextureSite::Outside::kClamp
                                       : TextureSite::Outside::kZero;
    } else if (!(surface && word == "b")) {
      return false;
    }
  }
  const auto& operands = instruction.operands;
  const size_t places = level ? 3 : 2;
  if (site.dimensions == 0 || operands.size() != places ||
      opcode.types.size() != (surface ? 1u : 2u) || (surface && !opcode.Has("b"))) {
    return false;
  }
  const Operand& where = operands[store ? 0 : 1];
  const Operand& what = operands[store ? 1 : 0];
  if (where.kind != OperandKind::kAddress || where.elements.size() != 2) {
    return false;  // a sampler of its own, or none
  }
  site.type = opcode.types[0];
  const uint32_t bytes = TypeBytes(site.type);
  const Type coordinate = surface ? Type::kS32 : opcode.types[1];
  site.integer_coordinates = coordinate == Type::kS32;
  const auto elements = ElementsOf(what);
  const auto coordinates = ElementsOf(where.elements[1]);
  // Three coordinates are given as four, of which the last counts for nothing.
  if (elements.size() != vector || coordinates.size() < site.dimensions || bytes == 0 ||
      bytes > 8 || (coordinate != Type::kS32 && coordinate != Type::kF32)) {
    return false;
  }
  if (!surface &&
      (vector != 4 ||
       (site.type != Type::kF32 && site.type != Type::kS32 && site.type != Type::kU32) ||
       (site.kind == TextureSite::Kind::kGather &&
        (site.dimensions != 2 || site.integer_coordinates)))) {
    return false;
  }
  site.handle = Source(where.elements[0], Type::kU64, 8);
  for (uint32_t d = 0; d < site.dimensions; ++d) {
    site.coordinates.push_back(Source(*coordinates[d], coordinate, 4));
  }
  for (const Operand* element : elements) {
    site.values.push_back(store ? Source(*element, site.type, bytes)
                          : element->kind == OperandKind::kSink && !surface
                              ? 0
                              : Destination(*element, bytes, false));
  }
  Op& op = Emit(surface ? &AccessSurface : &ReadTexture);
  op.site = static_cast<uint32_t>(program_.textures.size());
  program_.textures.push_back(std::move(site));
  return true;
}

}  // namespace optiml::ptx
