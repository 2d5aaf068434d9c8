#include "rewrite/sketch/sketches.h"

#include <fmt/format.h>

#include <algorithm>

#include "rewrite/schedule/contraction_tiles.h"

namespace optiml::rewrite {
namespace {

int64_t At(const Parameters& parameters, const std::string& name, int64_t fallback) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? fallback : found->second;
}

// Adds the primitive where the schedule stays legal with it.
void SetIfLegal(const KernelFacts& facts, const std::string& name, const Parameters& parameters,
                Schedule* schedule) {
  Schedule longer = *schedule;
  longer.Set(name, parameters);
  if (!RefuseSchedule(facts, longer)) {
    *schedule = std::move(longer);
  }
}

void SetWidth(const KernelFacts& facts, int64_t width, Schedule* schedule) {
  if (width > 1) {
    SetIfLegal(facts, "vector_width", {{"width", width}}, schedule);
  }
}

// The widest access of 16 bytes over the element types.
int64_t BestWidth(const KernelFacts& facts) {
  int64_t widest = 4;
  for (const Parameter& parameter : facts.program.parameters) {
    widest = parameter.is_buffer ? std::max<int64_t>(widest, ScalarBytes(parameter.type)) : widest;
  }
  return 16 / widest;
}

int64_t NextPowerOfTwo(int64_t value) {
  int64_t power = 1;
  while (power < value) {
    power *= 2;
  }
  return power;
}

Sketch StreamingMap() {
  Sketch sketch;
  sketch.name = "streaming_map";
  sketch.kind = ShapeKind::kMap;
  sketch.aims_at = Bound::kMemory;
  sketch.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kWarpInstructions)};
  sketch.prior = 4;
  sketch.choices = [](const KernelFacts& facts) {
    const int64_t width = BestWidth(facts);
    return std::vector<Parameters>{{{"width", width}, {"items", 1}},
                                   {{"width", width}, {"items", 2}},
                                   {{"width", width}, {"items", 4}}};
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    SetIfLegal(facts, "flatten", {}, &schedule);
    SetIfLegal(facts, "interchange", {}, &schedule);
    SetWidth(facts, At(holes, "width", 1), &schedule);
    if (const int64_t items = At(holes, "items", 1); items > 1) {
      SetIfLegal(facts, "coarsen", {{"items", items}}, &schedule);
    }
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    return fmt::format("stream through memory with {} elements an access and {} accesses a thread",
                       At(holes, "width", 1), At(holes, "items", 1));
  };
  return sketch;
}

Sketch RowOnChip() {
  Sketch sketch;
  sketch.name = "row_on_chip";
  sketch.kind = ShapeKind::kRowFold;
  sketch.aims_at = Bound::kMemory;
  sketch.claim = {Down(metric::kGlobalLoadSectors), Down(metric::kGlobalLoadRequests)};
  sketch.prior = 6;
  sketch.choices = [](const KernelFacts& facts) {
    const int64_t length = std::max<int64_t>(1, facts.InnerLength().value_or(4096));
    const int64_t width = BestWidth(facts);
    std::vector<Parameters> choices;
    // 8 to 16 elements a thread first, then fewer, then more.
    for (const int64_t words : {16, 8, 32, 4}) {
      const int64_t threads =
          std::clamp<int64_t>(NextPowerOfTwo((length + words - 1) / words), 32, 1024);
      const int64_t items = NextPowerOfTwo((length + threads * width - 1) / (threads * width));
      const Parameters holes = {{"threads", threads}, {"width", width}, {"items", items}};
      if (items <= 16 && std::find(choices.begin(), choices.end(), holes) == choices.end()) {
        choices.push_back(holes);
      }
    }
    return choices;
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    schedule.Set("row_fold", {{"threads", At(holes, "threads", 256)}});
    SetWidth(facts, At(holes, "width", 1), &schedule);
    schedule.Set("keep_row", {{"items", At(holes, "items", 4)}});
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    const int64_t threads = At(holes, "threads", 256);
    return fmt::format(
        "give each row to {}, read it once in packs of {} and keep it in registers "
        "between the passes (regroups float sums)",
        threads <= 32 ? std::string("a warp") : fmt::format("a block of {} threads", threads),
        At(holes, "width", 1));
  };
  return sketch;
}

Sketch RowStreaming() {
  Sketch sketch;
  sketch.name = "row_streaming";
  sketch.kind = ShapeKind::kRowFold;
  sketch.aims_at = Bound::kMemory;
  sketch.claim = {Down(metric::kGlobalLoadSectors), Down(metric::kGlobalLoadRequests)};
  sketch.prior = 4;
  sketch.choices = [](const KernelFacts& facts) {
    const int64_t length = std::max<int64_t>(1, facts.InnerLength().value_or(4096));
    const int64_t width = BestWidth(facts);
    std::vector<Parameters> choices;
    for (const int64_t words : {16, 64}) {
      const int64_t threads =
          std::clamp<int64_t>(NextPowerOfTwo((length + words - 1) / words), 32, 1024);
      const Parameters holes = {{"threads", threads}, {"width", width}};
      if (std::find(choices.begin(), choices.end(), holes) == choices.end()) {
        choices.push_back(holes);
      }
    }
    return choices;
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    schedule.Set("row_fold", {{"threads", At(holes, "threads", 256)}});
    SetWidth(facts, At(holes, "width", 1), &schedule);
    SetIfLegal(facts, "fuse_folds", {}, &schedule);
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    const int64_t threads = At(holes, "threads", 256);
    return fmt::format(
        "give each row to {} that reads it in packs of {}, in as few passes as "
        "possible (regroups float sums)",
        threads <= 32 ? std::string("a warp") : fmt::format("a block of {} threads", threads),
        At(holes, "width", 1));
  };
  return sketch;
}

Sketch GridFold() {
  Sketch sketch;
  sketch.name = "grid_fold";
  sketch.kind = ShapeKind::kFullFold;
  sketch.aims_at = Bound::kLatency;
  sketch.claim = {Down(metric::kGlobalAtomicRequests), Down(metric::kGlobalLoadRequests)};
  sketch.prior = 6;
  sketch.choices = [](const KernelFacts& facts) {
    const int64_t width = BestWidth(facts);
    return std::vector<Parameters>{{{"blocks", 8}, {"width", width}, {"items", 4}},
                                   {{"blocks", 8}, {"width", width}, {"items", 2}},
                                   {{"blocks", 4}, {"width", width}, {"items", 4}}};
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    schedule.Set("split_fold", {{"blocks", At(holes, "blocks", 8)}});
    SetWidth(facts, At(holes, "width", 1), &schedule);
    SetIfLegal(facts, "coarsen", {{"items", At(holes, "items", 4)}}, &schedule);
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    return fmt::format(
        "fold shares in registers, {} packs of {} in flight, then over each block, "
        "with one atomic per block (regroups sums)",
        At(holes, "items", 4), At(holes, "width", 1));
  };
  return sketch;
}

Sketch PrivateBins() {
  Sketch sketch;
  sketch.name = "private_bins";
  sketch.kind = ShapeKind::kScatter;
  sketch.aims_at = Bound::kLatency;
  sketch.claim = {Down(metric::kGlobalAtomicRequests), Down(metric::kGlobalLoadRequests)};
  sketch.prior = 6;
  sketch.choices = [](const KernelFacts& facts) {
    const int64_t width = BestWidth(facts);
    std::vector<Parameters> choices;
    for (const int64_t replicas : {32, 8, 16, 1}) {
      choices.push_back({{"replicas", replicas}, {"width", width}, {"items", 2}});
    }
    return choices;
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    schedule.Set("privatise", {{"replicas", At(holes, "replicas", 8)}});
    SetWidth(facts, At(holes, "width", 1), &schedule);
    SetIfLegal(facts, "coarsen", {{"items", At(holes, "items", 4)}}, &schedule);
    SetIfLegal(facts, "block_size", {{"threads", 512}}, &schedule);
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    return fmt::format("count in {} copies in shared memory, reading packs of {}",
                       At(holes, "replicas", 1), At(holes, "width", 1));
  };
  return sketch;
}

Sketch RegisterTiled() {
  Sketch sketch;
  sketch.name = "register_tiled";
  sketch.kind = ShapeKind::kContraction;
  sketch.aims_at = Bound::kCompute;
  sketch.claim = {Down(metric::kGlobalLoadRequests), Down(metric::kGlobalLoadSectors),
                  Down(metric::kWarpInstructions), Up(metric::kRegisters)};
  sketch.prior = 8;
  sketch.choices = [](const KernelFacts& facts) {
    struct Tile {
      int64_t m, n, k, thread_m, thread_n;
    };
    // Largest reuse first; smaller tiles when those would leave multiprocessors without a block.
    std::vector<Tile> tiles = {{128, 128, 16, 8, 8}, {128, 64, 16, 8, 4}, {64, 64, 16, 4, 4},
                               {64, 64, 16, 8, 8},   {32, 32, 16, 4, 4},  {128, 128, 8, 8, 8}};
    const Contraction& contraction = *facts.shape.contraction;
    int64_t m = 4096;
    int64_t n = 4096;
    int64_t others = 1;
    for (const Dim& dim : facts.program.dims) {
      const int64_t extent = facts.Value(dim.extent).value_or(4096);
      if (dim.name == contraction.m) {
        m = extent;
      } else if (dim.name == contraction.n) {
        n = extent;
      } else {
        others *= extent;
      }
    }
    const auto fills = [&](const Tile& tile) {
      const int64_t blocks = ((m + tile.m - 1) / tile.m) * ((n + tile.n - 1) / tile.n) * others;
      return 10 * blocks >= 9 * facts.limits.multiprocessors;
    };
    std::stable_sort(tiles.begin(), tiles.end(),
                     [&](const Tile& a, const Tile& b) { return fills(a) && !fills(b); });
    std::vector<Parameters> choices;
    for (const Tile& tile : tiles) {
      choices.push_back({{"m", tile.m},
                         {"n", tile.n},
                         {"k", tile.k},
                         {"thread_m", tile.thread_m},
                         {"thread_n", tile.thread_n}});
    }
    return choices;
  };
  sketch.expand = [](const KernelFacts& facts, const Parameters& holes) {
    Schedule schedule;
    schedule.Set("tile_shared",
                 {{"m", At(holes, "m", 64)}, {"n", At(holes, "n", 64)}, {"k", At(holes, "k", 16)}});
    schedule.Set("register_tile",
                 {{"m", At(holes, "thread_m", 4)}, {"n", At(holes, "thread_n", 4)}});
    SetWidth(facts, BestWidth(facts), &schedule);
    SetIfLegal(facts, "double_buffer", {}, &schedule);
    // Left alone, the compiler takes some 150 registers for 8 x 8 results, which leaves one block
    // of 256 threads on a multiprocessor; with room for two it was 1.28 times as fast on an H200.
    const ContractionTiles tiles = TilesOf(schedule);
    if (tiles.thread_m * tiles.thread_n == 64 &&
        (tiles.m / tiles.thread_m) * (tiles.n / tiles.thread_n) == 256) {
      SetIfLegal(facts, "launch_bounds", {{"blocks", 2}}, &schedule);
    }
    return schedule;
  };
  sketch.summary = [](const KernelFacts&, const Parameters& holes) {
    return fmt::format(
        "compute tiles of {} x {} from shared memory, {} x {} results of each "
        "thread in registers, the next pieces fetched ahead",
        At(holes, "m", 64), At(holes, "n", 64), At(holes, "thread_m", 4), At(holes, "thread_n", 4));
  };
  return sketch;
}

}  // namespace

const std::vector<Sketch>& Sketches() {
  static const std::vector<Sketch> kAll = {StreamingMap(), RowOnChip(),   RowStreaming(),
                                           GridFold(),     PrivateBins(), RegisterTiled()};
  return kAll;
}

const Sketch* FindSketch(std::string_view name) {
  const std::vector<Sketch>& all = Sketches();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Sketch& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace optiml::rewrite
