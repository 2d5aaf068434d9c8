// The trace that the program writes, and what it knows of the launcher: buffers, kernels, module
// variables, handles. All of it lies in a mapping of its own.

#pragma once

#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "memory.h"
#include "protocol.h"
#include "stack.h"

namespace optiml::recording {

constexpr int kMaxKernels = 4096;
constexpr int kMaxKernelArguments = 128;
constexpr int kMaxSymbols = 1024;
constexpr uint64_t kMaxBuffers = 8000;
constexpr int kMaxHandles = 4096;
constexpr int kMaxFacts = 256;
constexpr uint64_t kOutBytes = uint64_t{1} << 16;

struct Kernel {
  const void* address;
  const void* tag;
  uint64_t sizes[kMaxKernelArguments];
  int arguments;
  uint64_t static_shared_bytes;
  int bound_threads;  // of __launch_bounds__; 0: none
};

struct Symbol {
  const void* address;
  uint64_t size;
  int64_t buffer;  // -1: not used yet
};

struct Fact {
  int64_t attribute;
  int64_t value;
};

enum class HandleState : unsigned char { kFree, kLive, kDestroyed };

// Host memory that a copy may read later than the call that asks for it.
struct Pinned {
  const unsigned char* begin;
  uint64_t size;
};

// An upload from pinned memory that the host has not waited for.
struct PendingUpload {
  const unsigned char* from;
  uint64_t size;
  uint64_t sum;  // of its bytes when it was asked for
  uint64_t stream;
  uint64_t number;
};

// Where an event stands: behind this many uploads of a stream.
struct Recorded {
  uint64_t event;
  uint64_t stream;
  uint64_t uploads;
  uint64_t reads;
};

// What an asynchronous copy to pinned memory will write there once the host has waited for it.
struct PendingRead {
  unsigned char* to;
  uint64_t size;
  uint64_t at;  // in State::read_bytes
  uint64_t stream;
  uint64_t number;
};

constexpr int kMaxPendingReads = 1024;
constexpr uint64_t kMaxReadBytes = uint64_t{1} << 20;

constexpr int kMaxPinned = 1024;
constexpr int kMaxPending = 4096;
constexpr int kMaxRecorded = 4096;

struct State {
  RequestHead head;
  Fact facts[kMaxFacts];
  Kernel kernels[kMaxKernels];
  int kernel_count;
  int identifying;  // the kernel whose tag is looked for; -1: none
  Symbol symbols[kMaxSymbols];
  int symbol_count;
  uint64_t buffer_bytes[kMaxBuffers];
  uint64_t buffer_count;
  uint64_t argument_count;  // the first buffers
  HandleState handles[kMaxHandles];
  int line;
  bool is_configured;
  dim3 grid, block, cluster;
  uint64_t shared_bytes;
  cudaStream_t stream;
  bool cooperative;
  uint64_t events;
  uint64_t written;
  uint64_t out_size;
  unsigned char out[kOutBytes];
  Ranges variables;
  unsigned char* copy;  // of everything that outlives a call
  uint64_t copy_bytes;
  uint64_t copied_top;      // of the heap
  uint64_t copied_buffers;  // buffer_count then
  bool is_held[kMaxBuffers];
  Pinned pinned[kMaxPinned];
  int pinned_count;
  PendingUpload pending[kMaxPending];
  int pending_count;
  uint64_t uploads;  // of this call, pending or not
  Recorded recorded[kMaxRecorded];
  int recorded_count;
  bool streams_wait;  // for events: then what a stream has behind it is not followed
  PendingRead reads[kMaxPendingReads];
  int pending_reads;
  uint64_t read_count;  // of this call
  unsigned char read_bytes[kMaxReadBytes];
  uint64_t read_top;
  Stack stack;  // the launcher's
  uint64_t flushes;
};

inline State* state = nullptr;

inline void WriteAll(const void* bytes, uint64_t size) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (size > 0) {
    const ssize_t n = write(1, from, size);
    if (n <= 0) {
      _exit(3);
    }
    from += n;
    size -= static_cast<uint64_t>(n);
  }
}

inline void Flush(bool waits = false) {
  ++state->flushes;
  if (state->head.live != 0) {
    const uint64_t frame = state->out_size | (waits ? kFrameWaits : 0);
    WriteAll(&frame, sizeof(frame));
  }
  WriteAll(state->out, state->out_size);
  state->out_size = 0;
}

inline void Read(void* to, uint64_t size) {
  auto* at = static_cast<unsigned char*>(to);
  while (size > 0) {
    const ssize_t n = read(0, at, size);
    if (n <= 0) {
      _exit(4);
    }
    at += n;
    size -= static_cast<uint64_t>(n);
  }
}

[[noreturn]] void Fault(const char* what);

inline void PutBytes(const void* bytes, uint64_t size) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  state->written += size;
  if (state->written > kMaxTraceBytes) {
    static bool said = false;
    if (!said) {
      said = true;
      state->written = 0;
      Fault("launcher does more than a trace can hold");
    }
  }
  while (size > 0) {
    if (state->out_size == kOutBytes) {
      Flush();
    }
    const uint64_t room = kOutBytes - state->out_size;
    const uint64_t n = size < room ? size : room;
    std::memcpy(state->out + state->out_size, from, n);
    state->out_size += n;
    from += n;
    size -= n;
  }
}

inline void Put(uint64_t word) {
  PutBytes(&word, sizeof(word));
}

inline void PutBlob(const void* bytes, uint64_t size) {
  static const unsigned char kZeros[8] = {};
  Put(size);
  PutBytes(bytes, size);
  PutBytes(kZeros, (8 - size % 8) % 8);
}

inline void PutEvent(EventKind kind) {
  if (++state->events > kMaxEvents && kind != kFault) {
    Fault("launcher does more than a trace can hold");
  }
  Put(kind);
  Put(static_cast<uint64_t>(state->line));
}

[[noreturn]] inline void Fault(const char* what) {
  PutEvent(kFault);
  PutBlob(what, std::strlen(what));
  Flush();
  _exit(0);
}

// The buffer that an address means; -1: none.
inline int64_t BufferOf(uint64_t address) {
  const bool other = state->head.other_surroundings != 0;
  const uint64_t index = NearestBuffer(address, other);
  if (index >= state->buffer_count) {
    return -1;
  }
  const uint64_t start = BufferAddress(index, other);
  const uint64_t reach = kBufferReach + state->buffer_bytes[index];
  return address + kBufferReach >= start && address <= start + reach ? static_cast<int64_t>(index)
                                                                     : -1;
}

inline bool IsDeviceAddress(uint64_t address) {
  return BufferOf(address) >= 0;
}

inline uint64_t NewBuffer(uint64_t size) {
  if (state->buffer_count == kMaxBuffers) {
    Fault("launcher allocates more buffers than can be told apart");
  }
  state->buffer_bytes[state->buffer_count] = size;
  return BufferAddress(state->buffer_count++, state->head.other_surroundings != 0);
}

inline int64_t FactOf(int64_t attribute) {
  for (uint64_t i = 0; i < state->head.facts; ++i) {
    if (state->facts[i].attribute == attribute) {
      return state->facts[i].value;
    }
  }
  Fault("launcher asks for a device attribute that is not known here");
}

// Within a call no number is given out twice: a stream must not be taken for one that was
// destroyed.
inline uint64_t NewHandle() {
  for (int i = 0; i < kMaxHandles; ++i) {
    if (state->handles[i] == HandleState::kFree) {
      state->handles[i] = HandleState::kLive;
      const uint64_t base =
          state->head.other_surroundings != 0 ? uint64_t{0x5500} << 32 : uint64_t{1} << 60;
      return base + static_cast<uint64_t>(i + 1) * 64;
    }
  }
  Fault("launcher creates more streams and events than can be told apart");
}

inline void FreeHandle(const void* handle) {
  const uint64_t index = (reinterpret_cast<uint64_t>(handle) & 0xffffffff) / 64;
  if (index >= 1 && index <= kMaxHandles) {
    state->handles[index - 1] = HandleState::kDestroyed;
  }
}

// Between calls: what was destroyed may be given out again, so that equal calls get equal numbers.
inline void ReuseHandles() {
  for (HandleState& handle : state->handles) {
    if (handle == HandleState::kDestroyed) {
      handle = HandleState::kFree;
    }
  }
}

inline const Kernel& KernelAt(const void* address) {
  for (int i = 0; i < state->kernel_count; ++i) {
    if (state->kernels[i].address == address || state->kernels[i].tag == address) {
      return state->kernels[i];
    }
  }
  Fault("launcher launches what is no kernel of the file");
}

inline uint64_t IndexOf(const Kernel& kernel) {
  return static_cast<uint64_t>(&kernel - state->kernels);
}

// The launch of what Configure() said.
inline void PutLaunch(const Kernel& kernel, const void* const* values) {
  PutEvent(kLaunch);
  const State& s = *state;
  for (const uint64_t word :
       {IndexOf(kernel), uint64_t{s.grid.x}, uint64_t{s.grid.y}, uint64_t{s.grid.z},
        uint64_t{s.block.x}, uint64_t{s.block.y}, uint64_t{s.block.z}, uint64_t{s.cluster.x},
        uint64_t{s.cluster.y}, uint64_t{s.cluster.z}, s.shared_bytes,
        static_cast<uint64_t>(s.cooperative), reinterpret_cast<uint64_t>(s.stream),
        static_cast<uint64_t>(kernel.arguments)}) {
    Put(word);
  }
  for (int i = 0; i < kernel.arguments; ++i) {
    PutBlob(values[i], kernel.sizes[i]);
  }
}

// The address of a module variable; its first use makes it a buffer.
inline uint64_t SymbolAddress(const void* symbol) {
  for (int i = 0; i < state->symbol_count; ++i) {
    Symbol& known = state->symbols[i];
    if (known.address != symbol) {
      continue;
    }
    if (known.buffer < 0) {
      known.buffer = static_cast<int64_t>(state->buffer_count);
      const uint64_t address = NewBuffer(known.size);
      PutEvent(kSymbol);
      Put(static_cast<uint64_t>(i));
      Put(address);
    }
    return BufferAddress(static_cast<uint64_t>(known.buffer), state->head.other_surroundings != 0);
  }
  Fault("a __device__ or __constant__ variable is expected here");
}

// Memory that outlives a call, before and after it.
inline void CopyMemory() {
  uint64_t at = 0;
  for (int i = 0; i < state->variables.count; ++i) {
    const Range& range = state->variables.of[i];
    std::memcpy(state->copy + at, range.begin, range.size);
    at += range.size;
  }
  state->copied_top = TheHeap().top;
  state->copied_buffers = state->buffer_count;
  std::memcpy(state->copy + at, TheHeap().base, TheHeap().top);
}

inline void FindHeld(const unsigned char* begin, uint64_t size) {
  const auto start = reinterpret_cast<uint64_t>(begin);
  for (uint64_t at = (8 - start % 8) % 8; at + 8 <= size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, begin + at, sizeof(word));
    const uint64_t index = BufferIndex(word, state->head.other_surroundings != 0);
    if (index < state->buffer_count &&
        word - BufferAddress(index, state->head.other_surroundings != 0) <=
            state->buffer_bytes[index]) {
      state->is_held[index] = true;
    }
  }
}

// Which of the launcher's buffers a later call can reach: memory that outlives the call points to
// them.
inline void FindAllHeld() {
  std::memset(state->is_held, 0, sizeof(state->is_held));
  for (int i = 0; i < state->variables.count; ++i) {
    FindHeld(state->variables.of[i].begin, state->variables.of[i].size);
  }
  FindHeld(TheHeap().base, TheHeap().top);
}

inline void PutHeld() {
  for (uint64_t i = state->argument_count; i < state->buffer_count; ++i) {
    if (state->is_held[i]) {
      PutEvent(kHeld);
      Put(BufferAddress(i, state->head.other_surroundings != 0));
    }
  }
}

// Whether both are pointers to buffers that the launcher allocated, the second one in this call:
// those may be others each time. One that moved to another buffer of an earlier call is a count.
inline bool AreOwnBuffers(uint64_t a, uint64_t b) {
  for (const uint64_t address : {a, b}) {
    const int64_t buffer = BufferOf(address);
    if (address == b && (buffer < 0 || static_cast<uint64_t>(buffer) < state->copied_buffers)) {
      return false;
    }
    if (buffer < 0 || static_cast<uint64_t>(buffer) < state->argument_count ||
        BufferAddress(static_cast<uint64_t>(buffer), state->head.other_surroundings != 0) !=
            address) {
      return false;
    }
    for (int i = 0; i < state->symbol_count; ++i) {
      if (state->symbols[i].buffer == buffer) {
        return false;
      }
    }
  }
  return true;
}

inline bool Differs(const unsigned char* before, const unsigned char* now, uint64_t size) {
  if (std::memcmp(before, now, size) == 0) {
    return false;
  }
  for (uint64_t i = 0; i < size; ++i) {
    if (before[i] == now[i]) {
      continue;
    }
    const uint64_t start = i - (reinterpret_cast<uint64_t>(now) + i) % 8;
    uint64_t a = 0;
    uint64_t b = 0;
    if (start > size || start + 8 > size) {
      return true;
    }
    std::memcpy(&a, before + start, 8);
    std::memcpy(&b, now + start, 8);
    if (!AreOwnBuffers(a, b)) {
      return true;
    }
    i = start + 7;
  }
  return false;
}

inline bool MemoryChanged() {
  uint64_t at = 0;
  for (int i = 0; i < state->variables.count; ++i) {
    const Range& range = state->variables.of[i];
    if (Differs(state->copy + at, range.begin, range.size)) {
      return true;
    }
    at += range.size;
  }
  return state->copied_top != TheHeap().top ||
         Differs(state->copy + at, TheHeap().base, TheHeap().top);
}

}  // namespace optiml::recording
