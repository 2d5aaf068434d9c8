// wgmma: products of a warpgroup whose operands lie in shared memory. Each warp computes its 16 of
// the 64 rows.
//
// The product is computed when it is issued, but its result is invisible until wgmma.wait_group:
// the registers of D hold marks, NaNs that name the result. A move of such a register moves the
// mark (the assembler keeps accumulators in place where PTX text copies them), so the wait looks
// for the marks wherever they are. What reads a mark by mistake computes with a NaN.

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "ptx/access.h"
#include "ptx/async_checks.h"
#include "ptx/float_shadow.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/matrix.h"

namespace optiml::ptx {

// What a product reads of shared memory until it completes, in chunks of 16 bytes; kept only when
// races are looked for.
struct WgmmaRead {
  const Op* op = nullptr;
  uint64_t group = 0;
  std::vector<std::pair<uint32_t, std::array<uint8_t, 16>>> chunks;
};

struct WgmmaResult {
  uint32_t id = 0;
  uint64_t group = 0;  // the last one that adds to it
  std::vector<std::array<uint32_t, kLanes>> registers;
};

struct WgmmaState {
  bool fenced = false;
  uint64_t group = 0;  // the open one
  uint32_t next_id = 0;
  std::vector<WgmmaResult> results;
  std::vector<WgmmaRead> reads;
};

namespace {

constexpr uint32_t kWarpRows = 16;
constexpr uint32_t kChunkBytes = 16;

// A mark: a quiet NaN of f32 (and of the upper f16), result, register, lane.
constexpr uint32_t kMark = 0xffc00000u;
constexpr uint32_t kMarkMask = 0xffc00000u;
constexpr uint32_t kMarkIds = 1u << 10;

uint32_t MarkOf(uint32_t id, uint32_t reg, uint32_t lane) {
  return kMark | id << 12 | reg << 5 | lane;
}

// The register of an unfinished result whose marks these lanes hold, or null.
const std::array<uint32_t, kLanes>* FindMarked(const WgmmaState& state, const uint32_t* lanes,
                                               const WgmmaResult** result = nullptr) {
  if ((lanes[0] & kMarkMask) != kMark || (lanes[0] & (kLanes - 1)) != 0) {
    return nullptr;
  }
  for (uint32_t l = 1; l < kLanes; ++l) {
    if (lanes[l] != lanes[0] + l) {
      return nullptr;
    }
  }
  const uint32_t id = lanes[0] >> 12 & (kMarkIds - 1);
  const uint32_t reg = lanes[0] >> 5 & 127;
  for (const WgmmaResult& candidate : state.results) {
    if (candidate.id == id && reg < candidate.registers.size()) {
      if (result != nullptr) {
        *result = &candidate;
      }
      return &candidate.registers[reg];
    }
  }
  return nullptr;
}

WgmmaState& StateOf(Warp& w) {
  if (w.wgmma == nullptr) {
    w.wgmma = std::make_shared<WgmmaState>();
  }
  return *w.wgmma;
}

// A shared-memory matrix descriptor (PTX ISA, "Matrix descriptor format").
struct Descriptor {
  uint32_t start;
  uint32_t leading;  // bytes between core matrices
  uint32_t stride;
  uint32_t width;  // of the swizzle: 16 (none), 32, 64, 128 bytes
  uint32_t base;   // rows by which the pattern is shifted

  explicit Descriptor(uint64_t bits)
      : start(static_cast<uint32_t>(bits & 0x3fff) << 4),
        leading(static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4),
        width((bits >> 62) == 0 ? 16 : 256u >> (bits >> 62)),
        base(static_cast<uint32_t>(bits >> 49 & 7)) {}

  // XORs the place of a 16-byte chunk in its row with the number of the row, which are address
  // bits.
  uint32_t Swizzle(uint32_t address) const {
    const uint32_t row = (address >> 7) - base;
    return address ^ ((row & (width / kChunkBytes - 1)) << 4);
  }
  // Of the chunk of 16 bytes that begins `byte` bytes into row `row`, rows being contiguous.
  uint32_t RowChunk(uint32_t row, uint32_t byte) const {
    if (width == kChunkBytes) {
      return start + row / 8 * stride + byte / kChunkBytes * leading + row % 8 * kChunkBytes;
    }
    return Swizzle(start + row / 8 * stride + row % 8 * width + byte);
  }
  // Of the chunk of 8 16-bit elements at `outer` of column `depth`, columns being contiguous.
  uint32_t ColumnChunk(uint32_t outer, uint32_t depth) const {
    if (width == kChunkBytes) {
      return start + outer / 8 * stride + depth / 8 * leading + depth % 8 * kChunkBytes;
    }
    const uint32_t elements = width / 2;
    return Swizzle(start + outer / elements * leading + depth / 8 * stride + depth % 8 * width +
                   outer % elements * 2);
  }
};

// Reads operands from shared memory with the checks of a load.
class SharedReader {
 public:
  SharedReader(Warp& w, const Op* op) : w_(w), op_(op) {}

  // False when the kernel faulted.
  bool Chunk(uint32_t address, void* into) {
    const uint64_t end = uint64_t{address} + kChunkBytes;
    if (address < site_.lo || end > site_.hi) {
      if (!LocateShared(w_, site_, address, end)) {
        Fault(w_, op_, 0, "out of bounds",
              fmt::format("matrix operand in {}", SharedName(w_, address)));
        return false;
      }
    }
    Worker& worker = *w_.worker;
    if (worker.check_init && !BitsSet(w_.block->shared_initialised.data(), address, end)) {
      ReportUninitialised(w_, op_, Space::kShared, 0, address, kChunkBytes);
    }
    std::memcpy(into, w_.block->shared + address, kChunkBytes);
    if (worker.check_races) {
      const auto hi = static_cast<uint32_t>(end);
      CheckSharedAccess(w_, op_, *w_.block, address, hi, 0, SharedAccess::kLoad, true);
      CheckProxy(w_, op_, address, hi, 0);
      auto& kept = chunks_.emplace_back();
      kept.first = address;
      std::memcpy(kept.second.data(), into, kChunkBytes);
    }
    return true;
  }

  // To see whether the same lies there when the product completes; empty unless races are looked
  // for.
  auto& chunks() { return chunks_; }

 private:
  Warp& w_;
  const Op* op_;
  MemorySite site_;
  std::vector<std::pair<uint32_t, std::array<uint8_t, 16>>> chunks_;
};

// Elements of one operand as words: `rows` of its outer dimension from `first` on, k of the inner.
// `place(outer, depth)` is where a word goes.
template <class F>
bool ReadOperand(SharedReader& reader, const Descriptor& descriptor, uint32_t first, uint32_t rows,
                 uint32_t k, uint32_t bytes, bool transposed, uint32_t* out, F place) {
  uint8_t chunk[kChunkBytes];
  const uint32_t per_chunk = kChunkBytes / bytes;
  const auto put = [&](uint32_t outer, uint32_t depth, uint32_t i) {
    uint32_t value = 0;
    std::memcpy(&value, chunk + i * bytes, bytes);
    out[place(outer, depth)] = value;
  };
  if (!transposed) {
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t depth = 0; depth < k; depth += per_chunk) {
        if (!reader.Chunk(descriptor.RowChunk(first + row, depth * bytes), chunk)) {
          return false;
        }
        for (uint32_t i = 0; i < per_chunk; ++i) {
          put(row, depth + i, i);
        }
      }
    }
    return true;
  }
  for (uint32_t depth = 0; depth < k; ++depth) {
    for (uint32_t row = 0; row < rows; row += per_chunk) {
      if (!reader.Chunk(descriptor.ColumnChunk(first + row, depth), chunk)) {
        return false;
      }
      for (uint32_t i = 0; i < per_chunk; ++i) {
        put(row + i, depth, i);
      }
    }
  }
  return true;
}

}  // namespace

const Op* WarpgroupMma(Warp& w, const Op* op) {
  const MatrixSite& site = w.worker->launch->program->matrices[op->site];
  const MatrixShape& shape = site.shape;
  if (w.active != kAllLanes) {
    return Fault(w, op, static_cast<uint32_t>(std::countr_zero(w.active)),
                 "divergent warp instruction",
                 fmt::format("wgmma.mma_async is executed by {} of 32 lanes; it needs all",
                             std::popcount(w.active)));
  }
  if (w.float_shadow != nullptr) {
    w.worker->float_shadow->NoteUnfollowed(
        w.worker->launch->program->instructions[op->instruction].source_line);
  }
  if (w.block->threads % 128 != 0) {
    return Fault(
        w, op, 0, "trap",
        fmt::format("wgmma.mma_async in a block of {} threads, which is no multiple of 128",
                    w.block->threads));
  }
  WgmmaState& state = StateOf(w);
  if (!state.fenced) {
    Report(w, op, 0, "race", "wgmma.mma_async without a wgmma.fence before the first of its kind");
    state.fenced = true;
  }
  const uint32_t bytes = MatrixElementBytes(shape.a);
  const uint32_t k = shape.k;
  alignas(64) uint32_t a[kWarpRows * kMatrixMaxDepth];
  SharedReader reader(w, op);
  if (!site.a.empty()) {
    GatherElements(w, site.a, site.a_map, bytes, a);
  } else {
    const Descriptor descriptor(RegisterAt<uint64_t>(w, site.a_descriptor)[0]);
    if (!ReadOperand(reader, descriptor, w.index % 4 * kWarpRows, kWarpRows, k, bytes,
                     site.a_transposed, a,
                     [k](uint32_t outer, uint32_t depth) { return outer * k + depth; })) {
      return nullptr;
    }
  }
  alignas(64) uint32_t b[kMatrixMaxColumns * kMatrixMaxDepth];
  const Descriptor descriptor(RegisterAt<uint64_t>(w, site.b_descriptor)[0]);
  if (!ReadOperand(reader, descriptor, 0, shape.n, k, bytes, site.b_transposed, b,
                   [k](uint32_t outer, uint32_t depth) {
                     return (outer / 8 * k + depth) * 8 + outer % 8;
                   })) {
    return nullptr;
  }
  if (!reader.chunks().empty()) {
    state.reads.push_back({op, state.group, std::move(reader.chunks())});
  }
  // C: what the registers hold, or the unfinished results that they stand for.
  const size_t registers = site.d.size();
  alignas(64) uint32_t c[kWarpRows * kMatrixMaxColumns];
  alignas(64) uint32_t d[kWarpRows * kMatrixMaxColumns];
  const uint32_t d_bytes = MatrixElementBytes(shape.d);
  const size_t count = site.d_map.size();
  const uint32_t accumulate =
      op->c != 0 ? *RegisterAt<uint32_t>(w, op->c) ^ ((op->aux & 1) != 0 ? ~0u : 0u) : op->aux & 2;
  if (accumulate != 0) {
    const uint8_t* sources[kMatrixMaxColumns / 2];
    for (size_t i = 0; i < registers; ++i) {
      const uint32_t* lanes = RegisterAt<uint32_t>(w, site.d[i]);
      const auto* marked = FindMarked(state, lanes);
      sources[i] = reinterpret_cast<const uint8_t*>(marked != nullptr ? marked->data() : lanes);
    }
    for (size_t i = 0; i < count; ++i) {
      c[i] = 0;
      std::memcpy(&c[i], sources[site.d_map[i].reg] + site.d_map[i].byte, d_bytes);
    }
  }
  site.kernel(shape, {a, b, accumulate != 0 ? c : nullptr, d});
  // A result that nothing but these registers stands for takes the new values.
  const WgmmaResult* old = nullptr;
  FindMarked(state, RegisterAt<uint32_t>(w, site.d[0]), &old);
  WgmmaResult* result = nullptr;
  for (WgmmaResult& candidate : state.results) {
    result = &candidate == old && candidate.registers.size() == registers ? &candidate : result;
  }
  if (result == nullptr) {
    result = &state.results.emplace_back();
    result->registers.resize(registers);
  }
  result->id = state.next_id++ % kMarkIds;
  result->group = state.group;
  for (size_t i = 0; i < count; ++i) {
    const ElementPlace place = site.d_map[i];
    std::memcpy(reinterpret_cast<uint8_t*>(result->registers[place.reg].data()) + place.byte, &d[i],
                d_bytes);
  }
  for (uint32_t i = 0; i < registers; ++i) {
    uint32_t* lanes = RegisterAt<uint32_t>(w, site.d[i]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      lanes[l] = MarkOf(result->id, i, l);
    }
  }
  return op + 1;
}

const Op* WarpgroupFence(Warp& w, const Op* op) {
  SynchroniseWarp(w);
  StateOf(w).fenced = true;
  return op + 1;
}

const Op* WarpgroupCommit(Warp& w, const Op* op) {
  ++StateOf(w).group;
  return op + 1;
}

const Op* WarpgroupWait(Warp& w, const Op* op) {
  SynchroniseWarp(w);
  WgmmaState& state = StateOf(w);
  // Groups before `done` are complete; aux of the committed ones may still run.
  const uint64_t done = state.group > op->aux ? state.group - op->aux : 0;
  std::erase_if(state.reads, [&](const WgmmaRead& read) {
    if (read.group >= done) {
      return false;
    }
    for (const auto& [address, bytes] : read.chunks) {
      if (std::memcmp(w.block->shared + address, bytes.data(), bytes.size()) != 0) {
        Report(w, read.op, 0, "race",
               fmt::format("{} changed while wgmma.mma_async could still read it",
                           SharedName(w, address)));
        break;
      }
    }
    return true;
  });
  const bool finishes = std::ranges::any_of(
      state.results, [&](const WgmmaResult& result) { return result.group < done; });
  if (!finishes) {
    return op + 1;
  }
  // All registers, those of callers included.
  const uint64_t end = w.frame_offset + w.worker->launch->program->functions[w.frame].frame_bytes;
  uint8_t* storage = w.registers() - w.frame_offset;
  constexpr uint64_t kRegisterBytes = kLanes * 4;
  for (uint64_t at = 0; at + kRegisterBytes <= end; at += kRegisterBytes / 2) {
    auto* lanes = reinterpret_cast<uint32_t*>(storage + at);
    const WgmmaResult* result = nullptr;
    const auto* values = FindMarked(state, lanes, &result);
    if (values != nullptr && result->group < done) {
      std::memcpy(lanes, values->data(), kRegisterBytes);
    }
  }
  std::erase_if(state.results, [&](const WgmmaResult& result) { return result.group < done; });
  return op + 1;
}

}  // namespace optiml::ptx
