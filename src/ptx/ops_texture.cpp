// Textures and surfaces: tex, tld4, suld, sust; lane by lane.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/global_races.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/texture.h"

namespace optiml::ptx {
namespace {

// The object that a lane's handle names; null after a fault.
const Texture* ObjectOf(Warp& w, const Op* op, const TextureSite& site, uint32_t lane,
                        bool surface) {
  const uint64_t handle = RegisterAt<uint64_t>(w, site.handle)[lane];
  const Texture* texture = w.worker->launch->memory->FindTexture(handle);
  if (texture == nullptr || texture->surface != surface) {
    Fault(w, op, lane, "trap",
          fmt::format("{:#x} is no {} object", handle, surface ? "surface" : "texture"));
    return nullptr;
  }
  if (texture->allocation->freed) {
    Fault(w, op, lane, "out of bounds",
          fmt::format("{} of the freed {}", surface ? "surface" : "texture",
                      texture->allocation->name));
    return nullptr;
  }
  if (texture->dimensions != site.dimensions) {
    Fault(w, op, lane, "trap",
          fmt::format("a {} of {} dimensions is used as one of {}", surface ? "surface" : "texture",
                      texture->dimensions, site.dimensions));
    return nullptr;
  }
  return texture;
}

double Coordinate(Warp& w, Place place, bool integer, uint32_t lane) {
  return integer ? static_cast<double>(RegisterAt<int32_t>(w, place)[lane])
                 : static_cast<double>(RegisterAt<float>(w, place)[lane]);
}

// Counts the request and looks for texels that nothing has written.
class Requests {
 public:
  Requests(Warp& w, const Op* op) : w_(w), op_(op) {}

  void Touch(uint32_t lane, const Texture& texture, uint64_t offset, bool store) {
    Allocation& allocation = *texture.allocation;
    const uint64_t address = texture.address + offset;
    const uint64_t begin = address - allocation.address;
    if (allocation.tracked && !allocation.fully_initialised) {
      if (store) {
        SetBits(allocation.initialised.data(), begin, begin + texture.texel_bytes(),
                w_.worker->parallel);
      } else if (w_.worker->check_init &&
                 !BitsSet(allocation.initialised.data(), begin, begin + texture.texel_bytes())) {
        ReportUninitialised(w_, op_, Space::kGlobal, lane, address, texture.texel_bytes());
      }
    }
    if (w_.worker->check_global_races) {
      GlobalRange range;
      range.lo = address;
      range.hi = address + texture.texel_bytes();
      range.lane = lane;
      range.access = store ? GlobalAccess::kStore : GlobalAccess::kLoad;
      CheckGlobalBytes(w_, op_, allocation, range);
    }
    if (w_.worker->count) {
      bytes_ += texture.texel_bytes();
      sectors_.push_back(address >> 5);
      sectors_.push_back((address + texture.texel_bytes() - 1) >> 5);
    }
  }

  void Count(RequestCounts& counts) {
    if (!w_.worker->count) {
      return;
    }
    std::sort(sectors_.begin(), sectors_.end());
    ++counts.requests;
    counts.lane_bytes += bytes_;
    sectors_.erase(std::unique(sectors_.begin(), sectors_.end()), sectors_.end());
    counts.sectors += sectors_.size();
    for (size_t i = 0; i < sectors_.size(); ++i) {
      const bool new_line = i == 0 || sectors_[i] >> 2 != sectors_[i - 1] >> 2;
      counts.lines += new_line ? 1 : 0;
      counts.wavefronts += new_line ? 1 : 0;
    }
  }

 private:
  Warp& w_;
  const Op* op_;
  uint64_t bytes_ = 0;
  std::vector<uint64_t> sectors_;
};

void WriteElement(Warp& w, Place place, uint32_t bytes, uint32_t lane, uint64_t value) {
  if (bytes == 8) {
    RegisterAt<uint64_t>(w, place)[lane] = value;
  } else if (bytes == 4) {
    RegisterAt<uint32_t>(w, place)[lane] = static_cast<uint32_t>(value);
  } else {
    RegisterAt<uint16_t>(w, place)[lane] = static_cast<uint16_t>(value);
  }
}

uint64_t ReadElement(Warp& w, Place place, uint32_t bytes, uint32_t lane) {
  return bytes == 8   ? RegisterAt<uint64_t>(w, place)[lane]
         : bytes == 4 ? RegisterAt<uint32_t>(w, place)[lane]
                      : RegisterAt<uint16_t>(w, place)[lane];
}

}  // namespace

const Op* ReadTexture(Warp& w, const Op* op) {
  const TextureSite& site = w.worker->launch->program->textures[op->site];
  Requests requests(w, op);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Texture* texture = ObjectOf(w, op, site, lane, false);
    if (texture == nullptr) {
      return nullptr;
    }
    const bool integers = texture->format != TexelFormat::kF16 &&
                          texture->format != TexelFormat::kF32 && !texture->read_as_float;
    if (integers == (site.type == Type::kF32)) {
      return Fault(w, op, lane, "trap",
                   fmt::format("a texture of {} is read as {}", integers ? "integers" : "numbers",
                               TypeName(site.type)));
    }
    if (!site.integer_coordinates && texture->linear_memory) {
      return Fault(w, op, lane, "trap",
                   "a texture of plain memory is read with floating-point coordinates");
    }
    TextureRead read;
    read.integer_coordinates = site.integer_coordinates;
    read.gather = site.kind == TextureSite::Kind::kGather ? static_cast<int>(site.channel) : -1;
    for (uint32_t d = 0; d < site.dimensions; ++d) {
      read.coordinates[d] = Coordinate(w, site.coordinates[d], site.integer_coordinates, lane);
    }
    std::array<uint32_t, 4> values{};
    TouchedTexels touched;
    // On the GPU an array of one dimension gives nothing by integer coordinates; plain memory does.
    if (!(site.integer_coordinates && site.dimensions == 1 && !texture->linear_memory)) {
      values = SampleTexture(*texture, read, touched);
    }
    for (uint32_t i = 0; i < touched.count; ++i) {
      requests.Touch(lane, *texture, touched.offsets[i], false);
    }
    for (size_t i = 0; i < site.values.size(); ++i) {
      if (site.values[i] != 0) {
        RegisterAt<uint32_t>(w, site.values[i])[lane] = values[i];
      }
    }
  }
  requests.Count(w.worker->counters.global_load);
  return op + 1;
}

const Op* AccessSurface(Warp& w, const Op* op) {
  const TextureSite& site = w.worker->launch->program->textures[op->site];
  const bool store = site.kind == TextureSite::Kind::kStore;
  const uint32_t bytes = TypeBytes(site.type);
  const auto elements = static_cast<uint32_t>(site.values.size());
  Requests requests(w, op);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Texture* surface = ObjectOf(w, op, site, lane, true);
    if (surface == nullptr) {
      return nullptr;
    }
    // The first coordinate counts bytes.
    const int64_t sizes[3] = {
        static_cast<int64_t>(uint64_t{surface->width} * surface->texel_bytes()), surface->height,
        surface->depth};
    const auto access = static_cast<int64_t>(uint64_t{bytes} * elements);
    int64_t at[3] = {0, 0, 0};
    bool inside = true;
    for (uint32_t d = 0; d < site.dimensions; ++d) {
      at[d] = RegisterAt<int32_t>(w, site.coordinates[d])[lane];
      inside = inside && at[d] >= 0 && at[d] + (d == 0 ? access : 1) <= sizes[d];
    }
    if (at[0] % access != 0) {
      return Fault(w, op, lane, "misaligned",
                   fmt::format("{}-byte {} surface {} at byte {} of a row", access,
                               store ? "store to" : "load from", surface->allocation->name, at[0]));
    }
    if (!inside && site.outside == TextureSite::Outside::kTrap) {
      return Fault(
          w, op, lane, "out of bounds",
          fmt::format("surface {} of {} x {} x {} bytes at ({}, {}, {})", surface->allocation->name,
                      sizes[0], sizes[1], sizes[2], at[0], at[1], at[2]));
    }
    if (!inside && site.outside == TextureSite::Outside::kClamp) {
      for (uint32_t d = 0; d < site.dimensions; ++d) {
        at[d] = std::clamp<int64_t>(at[d], 0, sizes[d] - (d == 0 ? access : 1));
      }
      inside = true;
    }
    if (!inside) {
      for (uint32_t i = 0; !store && i < elements; ++i) {
        WriteElement(w, site.values[i], bytes, lane, 0);
      }
      continue;
    }
    const uint64_t offset =
        (static_cast<uint64_t>(at[2]) * surface->height + static_cast<uint64_t>(at[1])) *
            surface->row_bytes() +
        static_cast<uint64_t>(at[0]);
    std::byte* host =
        surface->allocation->host + (surface->address - surface->allocation->address) + offset;
    requests.Touch(lane, *surface, offset / surface->texel_bytes() * surface->texel_bytes(), store);
    for (uint32_t i = 0; i < elements; ++i) {
      uint64_t value = 0;
      if (store) {
        value = ReadElement(w, site.values[i], bytes, lane);
        std::memcpy(host + i * bytes, &value, bytes);
      } else {
        std::memcpy(&value, host + i * bytes, bytes);
        WriteElement(w, site.values[i], bytes, lane, value);
      }
    }
  }
  requests.Count(store ? w.worker->counters.global_store : w.worker->counters.global_load);
  return op + 1;
}

}  // namespace optiml::ptx
