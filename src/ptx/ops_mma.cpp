// mma and the movements of 8 x 8 matrices between lanes: ldmatrix, stmatrix, movmatrix. All are
// executed by a whole warp.

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/matrix.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kMatrixRows = 8;  // of the matrices that ldmatrix and its kin move

// False when lanes are missing: the instruction is for whole warps.
bool WholeWarp(Warp& w, const Op* op, const char* name) {
  if (w.active == kAllLanes) {
    return true;
  }
  Fault(
      w, op, static_cast<uint32_t>(std::countr_zero(w.active)), "divergent warp instruction",
      fmt::format("{} is executed by {} of 32 lanes; it needs all", name, std::popcount(w.active)));
  return false;
}

const MatrixSite& SiteOf(Warp& w, const Op* op) {
  return w.worker->launch->program->matrices[op->site];
}

// 16-bit element (row, column) of a matrix whose row r is in `rows[word][first + r]`.
uint32_t Element(const uint32_t* const* rows, uint32_t first, uint32_t row, uint32_t column) {
  return rows[column / 2][first + row] >> (16 * (column & 1)) & 0xffffu;
}

// What lane l holds of a matrix given as 16-byte rows, and the reverse (PTX ISA, ldmatrix): two
// neighbours of row l / 4, or of column l / 4 when transposed.
uint32_t FragmentOf(const uint32_t* const* rows, uint32_t first, uint32_t lane, bool transposed) {
  const uint32_t outer = lane / 4;
  const uint32_t inner = 2 * (lane % 4);
  if (!transposed) {
    return rows[inner / 2][first + outer];
  }
  return Element(rows, first, inner, outer) | Element(rows, first, inner + 1, outer) << 16;
}

}  // namespace

void GatherElements(Warp& w, const std::vector<Place>& places, const FragmentMap& map,
                    uint32_t bytes, uint32_t* out) {
  const uint8_t* registers[kMatrixMaxColumns / 2];
  for (size_t i = 0; i < places.size(); ++i) {
    registers[i] = RegisterAt<uint8_t>(w, places[i]);
  }
  const size_t count = map.size();
  switch (bytes) {
    case 1:
      for (size_t i = 0; i < count; ++i) {
        out[i] = registers[map[i].reg][map[i].byte];
      }
      break;
    case 2:
      for (size_t i = 0; i < count; ++i) {
        uint16_t value = 0;
        std::memcpy(&value, registers[map[i].reg] + map[i].byte, 2);
        out[i] = value;
      }
      break;
    case 4:
      for (size_t i = 0; i < count; ++i) {
        std::memcpy(&out[i], registers[map[i].reg] + map[i].byte, 4);
      }
      break;
    default:
      for (size_t i = 0; i < count; ++i) {
        std::memcpy(out + 2 * i, registers[map[i].reg] + map[i].byte, 8);
      }
      break;
  }
}

void ScatterElements(Warp& w, const std::vector<Place>& places, const FragmentMap& map,
                     uint32_t bytes, const uint32_t* in) {
  uint8_t* registers[kMatrixMaxColumns / 2];
  for (size_t i = 0; i < places.size(); ++i) {
    registers[i] = RegisterAt<uint8_t>(w, places[i]);
  }
  const size_t step = bytes == 8 ? 2 : 1;
  for (size_t i = 0; i < map.size(); ++i) {
    std::memcpy(registers[map[i].reg] + map[i].byte, in + step * i, bytes);
  }
}

const Op* Mma(Warp& w, const Op* op) {
  if (!WholeWarp(w, op, "a matrix product")) {
    return nullptr;
  }
  SynchroniseWarp(w);
  const MatrixSite& site = SiteOf(w, op);
  constexpr size_t kMost = size_t{32} * 32;  // elements of an operand of mma and wmma
  alignas(64) uint32_t a[kMost];
  alignas(64) uint32_t b[kMost];
  alignas(64) uint32_t c[kMost];
  alignas(64) uint32_t d[kMost];
  GatherElements(w, site.a, site.a_map, MatrixElementBytes(site.shape.a), a);
  GatherElements(w, site.b, site.b_map, MatrixElementBytes(site.shape.b), b);
  GatherElements(w, site.c, site.c_map, MatrixElementBytes(site.shape.c), c);
  site.kernel(site.shape, {a, b, c, d});
  if (w.float_shadow != nullptr) {
    ShadowProduct(w, op, site, {a, b, c, d});
  }
  ScatterElements(w, site.d, site.d_map, MatrixElementBytes(site.shape.d), d);
  return op + 1;
}

const Op* LoadMatrix(Warp& w, const Op* op) {
  if (!WholeWarp(w, op, "ldmatrix")) {
    return nullptr;
  }
  SynchroniseWarp(w);
  const MatrixSite& site = SiteOf(w, op);
  const auto count = static_cast<uint32_t>(site.d.size());
  // Lanes 8 i to 8 i + 7 give the rows of matrix i; the next op loads 16 bytes for each.
  const Op* load = op + 1;
  w.SetActive(count == 4 ? kAllLanes : (1u << (kMatrixRows * count)) - 1);
  const bool loaded = load->run(w, load) != nullptr;
  w.SetActive(kAllLanes);
  if (!loaded) {
    return nullptr;
  }
  const uint32_t* rows[4];
  for (size_t i = 0; i < 4; ++i) {
    rows[i] = RegisterAt<uint32_t>(w, site.a[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t* d = RegisterAt<uint32_t>(w, site.d[i]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      d[l] = FragmentOf(rows, kMatrixRows * i, l, op->aux != 0);
    }
  }
  return op + 2;
}

const Op* StoreMatrix(Warp& w, const Op* op) {
  if (!WholeWarp(w, op, "stmatrix")) {
    return nullptr;
  }
  SynchroniseWarp(w);
  const MatrixSite& site = SiteOf(w, op);
  const auto count = static_cast<uint32_t>(site.a.size());
  uint32_t* rows[4];
  for (size_t i = 0; i < 4; ++i) {
    rows[i] = RegisterAt<uint32_t>(w, site.d[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t* a = RegisterAt<uint32_t>(w, site.a[i]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      const uint32_t outer = l / 4;
      const uint32_t inner = 2 * (l % 4);
      if (op->aux == 0) {
        rows[inner / 2][kMatrixRows * i + outer] = a[l];
        continue;
      }
      for (uint32_t h = 0; h < 2; ++h) {
        uint32_t& word = rows[outer / 2][kMatrixRows * i + inner + h];
        const uint32_t shift = 16 * (outer & 1);
        word = (word & ~(0xffffu << shift)) | (a[l] >> (16 * h) & 0xffffu) << shift;
      }
    }
  }
  const Op* store = op + 1;
  w.SetActive(count == 4 ? kAllLanes : (1u << (kMatrixRows * count)) - 1);
  const bool stored = store->run(w, store) != nullptr;
  w.SetActive(kAllLanes);
  return stored ? op + 2 : nullptr;
}

const Op* MoveMatrix(Warp& w, const Op* op) {
  if (!WholeWarp(w, op, "movmatrix")) {
    return nullptr;
  }
  SynchroniseWarp(w);
  const uint32_t* a = RegisterAt<uint32_t>(w, op->a);
  uint32_t words[4][kMatrixRows];
  for (uint32_t l = 0; l < kLanes; ++l) {
    words[l % 4][l / 4] = a[l];
  }
  const uint32_t* rows[4] = {words[0], words[1], words[2], words[3]};
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = FragmentOf(rows, 0, l, true);
  }
  return op + 1;
}

const Op* PackElements(Warp& w, const Op* op) {
  const Place places[4] = {op->a, op->b, op->c, op->e};
  uint32_t* d = RegisterAt<uint32_t>(w, op->d);
  alignas(64) uint32_t packed[kLanes] = {};
  const uint32_t bits = op->aux2 * 8;
  const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (uint32_t i = 0; i < op->aux; ++i) {
    const uint16_t* part = RegisterAt<uint16_t>(w, places[i]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      packed[l] |= (part[l] & mask) << (bits * i);
    }
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = w.lanes[l] != 0 ? packed[l] : d[l];
  }
  return op + 1;
}

const Op* UnpackElement(Warp& w, const Op* op) {
  const uint32_t* a = RegisterAt<uint32_t>(w, op->a);
  uint16_t* d = RegisterAt<uint16_t>(w, op->d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    d[l] = static_cast<uint16_t>(a[l] >> op->aux);
  }
  return op + 1;
}

}  // namespace optiml::ptx
