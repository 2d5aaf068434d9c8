// The program's main: reads the request, closes the system's doors, calls the launcher.

#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "confine.h"
#include "live.h"
#include "pinned.h"
#include "trace.h"

namespace rec = optiml::recording;

// launcher.cpp: the kernels and module variables, and the launcher with its arguments.
extern "C" void optiml_launcher_register();
extern "C" void optiml_launcher_call(const void* arguments);
extern "C" char** environ;

namespace {

constexpr uint64_t kMaxArguments = 256;
constexpr uint64_t kCopyBytes = rec::kArenaBytes + (uint64_t{64} << 20);

struct Argument {
  uint64_t kind;
  uint64_t value;
  uint64_t size_bytes;
};

struct Call {
  uint64_t compares;
  uint64_t count;
  Argument arguments[kMaxArguments];
};

constexpr uint64_t kMaxCalls = 512;
Call* calls = nullptr;

void* Map(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    _exit(5);
  }
  return memory;
}

void ReadRequest() {
  uint64_t mark = 0;
  rec::Read(&mark, sizeof(mark));
  rec::Read(&rec::state->head, sizeof(rec::state->head));
  if (mark != rec::kRequestMark || rec::state->head.facts > rec::kMaxFacts ||
      rec::state->head.calls > kMaxCalls) {
    _exit(6);
  }
  rec::Read(rec::state->facts, rec::state->head.facts * sizeof(rec::Fact));
  for (uint64_t i = 0; i < rec::state->head.calls; ++i) {
    rec::Read(&calls[i], 2 * sizeof(uint64_t));
    if (calls[i].count > kMaxArguments) {
      _exit(6);
    }
    rec::Read(calls[i].arguments, calls[i].count * sizeof(Argument));
  }
}

// Before the launcher's own variables are initialised.
__attribute__((constructor(101))) void Prepare() {
  rec::state = static_cast<rec::State*>(Map(sizeof(rec::State)));
  calls = static_cast<Call*>(Map(sizeof(Call) * kMaxCalls));
  rec::state->copy = static_cast<unsigned char*>(Map(kCopyBytes));
  rec::state->identifying = -1;
  ReadRequest();
  // Buffer arguments are the first buffers, by their place among the arguments.
  rec::state->buffer_count = rec::state->head.calls > 0 ? calls[0].count : 0;
  rec::state->argument_count = rec::state->buffer_count;
  if (rec::state->head.other_surroundings != 0) {
    rec::MoveHeap();
  }
  rec::TheHeap().fill = rec::state->head.other_surroundings != 0 ? 0x5A : 0xA5;
  rec::state->stack.Make(rec::state->head.other_surroundings != 0);
  void* stack = Map(1 << 16);
  rec::CatchSignals(stack, 1 << 16);
  environ[0] = nullptr;
  rec::FindVariables(rec::state->variables);
  uint64_t bytes = 0;
  for (int i = 0; i < rec::state->variables.count; ++i) {
    bytes += rec::state->variables.of[i].size;
  }
  if (bytes > kCopyBytes - rec::kArenaBytes) {
    rec::Fault("the launcher's variables take more than 64 MiB of host memory");
  }
  rec::DenySystemCalls(rec::state->head.live != 0);
}

__attribute__((noinline)) void CallLauncher(void* bound) {
  try {
    optiml_launcher_call(bound);
  } catch (...) {
    rec::Fault("launcher throws an exception");
  }
}

void RunLauncher(Argument* bound) {
  rec::state->line = 0;
  rec::state->is_configured = false;
  rec::BeginUploads();
  rec::BeginReads();
  __builtin_ia32_ldmxcsr(0x1f80);
  rec::state->stack.Run(CallLauncher, bound);
  rec::EndAllUploads();
  rec::EndAllReads();
}

// What the runtime gives out: equal calls get equal numbers where these are the same.
struct Counters {
  uint64_t events;
  uint64_t written;
  uint64_t out_size;
  uint64_t buffers;
  rec::HandleState handles[rec::kMaxHandles];
};

void Save(Counters& counters) {
  counters.events = rec::state->events;
  counters.written = rec::state->written;
  counters.out_size = rec::state->out_size;
  counters.buffers = rec::state->buffer_count;
  std::memcpy(counters.handles, rec::state->handles, sizeof(counters.handles));
}

void Restore(const Counters& counters) {
  rec::state->events = counters.events;
  rec::state->written = counters.written;
  rec::state->out_size = counters.out_size;
  rec::state->buffer_count = counters.buffers;
  std::memcpy(rec::state->handles, counters.handles, sizeof(counters.handles));
}

// Whether one more call like the last one, which began with `before`, leaves another stack: what a
// launcher keeps there for later. Nobody hears of that call. Calls that got buffers to keep, or
// whose trace is long, cannot be made again with the same numbers; nor can those of a live run.
bool StackChanges(Argument* bound, const Counters& before, uint64_t flushes) {
  for (uint64_t i = before.buffers; i < rec::state->buffer_count; ++i) {
    if (rec::state->is_held[i]) {
      return false;
    }
  }
  if (rec::state->flushes != flushes) {
    return false;
  }
  rec::Flush();
  static Counters after;
  Save(after);
  rec::state->stack.Copy();
  Restore(before);
  RunLauncher(bound);
  const bool changes = !rec::state->stack.IsAsCopied();
  Restore(after);
  return changes;
}

void BindBuffers(Call& call, Argument* bound) {
  for (uint64_t i = 0; i < call.count; ++i) {
    bound[i] = call.arguments[i];
    if (bound[i].kind == rec::kBuffer) {
      bound[i].value = rec::BufferAddress(i, rec::state->head.other_surroundings != 0);
      rec::state->buffer_bytes[i] = bound[i].size_bytes;
    }
  }
}

}  // namespace

int main() {
  std::set_terminate([] { rec::Fault("launcher ends by std::terminate"); });
  optiml_launcher_register();
  rec::state->identifying = -1;
  for (uint64_t i = 0; i < rec::state->head.calls; ++i) {
    Argument bound[kMaxArguments];
    BindBuffers(calls[i], bound);
    rec::state->line = 0;
    rec::ReuseHandles();
    rec::Flush();
    rec::PutEvent(rec::kBegin);
    static Counters before;
    Save(before);
    const uint64_t flushes = rec::state->flushes;
    // What the call before left on the stack is found by the one that must not change.
    if (calls[i].compares != 0) {
      rec::CopyMemory();
    } else {
      rec::state->stack.Paint(rec::TheHeap().fill);
    }
    RunLauncher(bound);
    bool changed = calls[i].compares != 0 && rec::MemoryChanged();
    rec::FindAllHeld();
    if (calls[i].compares != 0 && !changed && rec::state->head.live == 0) {
      changed = StackChanges(bound, before, flushes);
    }
    rec::state->line = 0;
    rec::PutHeld();
    rec::PutEvent(rec::kEnd);
    rec::Put(changed ? 1 : 0);
  }
  rec::Flush();
  _exit(0);
}
