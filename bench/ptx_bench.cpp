// The emulator's speed on one core, in thread-instructions a second of processor time, for kernels
// that people write (bench/ptx/bench.cu), without checks, with counters, with every check, and with
// the cache model as well. Usage: ptx_bench [FILE.ptx]; prints a Markdown table.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/rng.h"
#include "ptx/alu.h"
#include "ptx/machine.h"

namespace {

using namespace optiml;  // NOLINT(google-build-using-namespace): a program, not a header

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Case {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  std::vector<uint64_t> buffer_bytes;  // the last one is written
  std::vector<int> scalars;
  int fill_below = 0;  // 0: floats; else integers in [0, fill_below)
};

template <class T>
std::vector<std::byte> Argument(T value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

enum class Mode { kBare, kCounters, kChecks, kCache };

// Thread-instructions a second; the best of several runs, since the machine may be shared.
double Run(const ptx::Module& module, const Case& c, Mode mode) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    ptx::DeviceMemory memory;
    std::vector<std::vector<std::byte>> arguments;
    Rng rng(7);
    for (size_t i = 0; i < c.buffer_bytes.size(); ++i) {
      const uint64_t address = memory.Allocate(fmt::format("buffer{}", i), c.buffer_bytes[i], 4);
      const auto bytes = memory.Bytes(address);
      const bool output = i + 1 == c.buffer_bytes.size();
      for (size_t at = 0; at < bytes.size() && !output; at += 4) {
        if (c.fill_below > 0) {
          const auto value =
              static_cast<int32_t>(rng.NextBelow(static_cast<uint64_t>(c.fill_below)));
          std::memcpy(&bytes[at], &value, 4);
        } else {
          const auto value = static_cast<float>(rng.NextUnit() - 0.5);
          std::memcpy(&bytes[at], &value, 4);
        }
      }
      if (output && c.fill_below == 0) {
        memory.MarkUninitialised(address);
      }
      arguments.push_back(Argument(address));
    }
    for (const int scalar : c.scalars) {
      arguments.push_back(Argument(scalar));
    }
    ptx::LaunchRequest request;
    request.module = &module;
    request.kernel = c.kernel;
    request.grid = c.grid;
    request.block = c.block;
    auto parameters = ptx::PackParameters(*module.FindKernel(c.kernel), arguments);
    if (!parameters) {
      std::fprintf(stderr, "%s\n", parameters.error().message().c_str());
      return 0;
    }
    request.parameters = *parameters;
    request.counters = mode != Mode::kBare;
    request.checks.initialisation = mode >= Mode::kChecks;
    request.checks.shared_races = mode >= Mode::kChecks;
    request.cache.enabled = mode == Mode::kCache;
    const double start = ProcessorSeconds();
    const ptx::LaunchOutcome outcome = ptx::Launch(request, memory);
    const double seconds = ProcessorSeconds() - start;
    if (!outcome.clean()) {
      std::fprintf(stderr, "%s: %s %s\n", c.kernel.c_str(),
                   ptx::LaunchStatusName(outcome.status).c_str(), outcome.message.c_str());
      return 0;
    }
    best = std::max(best, static_cast<double>(outcome.counters.thread_instructions) / seconds);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : OPTIML_SOURCE_DIR "/bench/ptx/bench.ptx";
  const auto text = ReadFile(path);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().message().c_str());
    return 2;
  }
  const auto module = ptx::ParsePtx(*text, path);
  if (!module) {
    std::fprintf(stderr, "%s\n", module.error().message().c_str());
    return 2;
  }
  if (argc > 2) {
    size_t count = 0;
    const ptx::HandlerTable* const* tables = ptx::AllHandlers(count);
    for (size_t i = 0; i < count; ++i) {
      if (std::string(tables[i]->name) == argv[2]) {
        ptx::UseHandlersForTest(tables[i]);
      }
    }
  }
  constexpr uint64_t kMega = uint64_t{1} << 20;
  const std::vector<Case> cases = {
      {"relu", {4096}, {256}, {4 * kMega, 4 * kMega}, {1048571}, 0},
      {"softmax", {2}, {256}, {2 * kMega, 2 * kMega}, {512, 1000}, 0},
      {"mm_naive", {16, 16}, {16, 16}, {kMega / 4, kMega / 4, kMega / 4}, {256}, 0},
      {"mm_tiled", {16, 16}, {16, 16}, {kMega / 4, kMega / 4, kMega / 4}, {256}, 0},
      {"hist_global", {1024}, {256}, {4 * kMega, 1024}, {1048576}, 256},
      {"hist_shared", {1024}, {256}, {4 * kMega, 1024}, {1048576}, 256},
      {"reduce", {4096}, {256}, {4 * kMega, 16384}, {1048576}, 0},
      {"stencil", {32, 128}, {32, 8}, {4 * kMega, 4 * kMega}, {1024}, 0},
      {"transpose", {32, 32}, {32, 8}, {4 * kMega, 4 * kMega}, {1024}, 0},
  };
  std::printf("Handlers: %s. G thread-instructions per second of one core.\n\n",
              ptx::HandlersOfHost().name);
  std::printf(
      "| kernel | bounds | + counters | + initialisation, races | + cache model "
      "|\n|---|---|---|---|---|\n");
  double logs[4] = {};
  for (const Case& c : cases) {
    std::printf("| %s |", c.kernel.c_str());
    for (const Mode mode : {Mode::kBare, Mode::kCounters, Mode::kChecks, Mode::kCache}) {
      const double speed = Run(*module, c, mode) / 1e9;
      logs[static_cast<size_t>(mode)] += std::log(speed);
      std::printf(" %.2f |", speed);
    }
    std::printf("\n");
  }
  std::printf("| geometric mean |");
  for (const double sum : logs) {
    std::printf(" %.2f |", std::exp(sum / static_cast<double>(cases.size())));
  }
  std::printf("\n");
  return 0;
}
