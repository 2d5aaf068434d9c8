// Reading device data back. In a live run a device executes what the launcher asked for, and its
// data comes over standard input; else the trace ends here and says so.

#pragma once

#include <cstdint>
#include <cstring>

#include "pinned.h"
#include "trace.h"

namespace optiml::recording {

[[noreturn]] inline void StopAtRead() {
  PutEvent(kReadsBack);
  Flush();
  _exit(0);
}

// What the device holds there when all that was asked for so far is done.
inline void AskFor(unsigned char* to, uint64_t from, uint64_t size, uint64_t stream) {
  PutEvent(kRead);
  Put(from);
  Put(size);
  Put(stream);
  Flush(true);
  Read(to, size);
}

// Copies to memory that is not pinned end before the call returns. Until the host has waited for
// the others, their destination holds anything.
inline void ReadBack(void* to, uint64_t from, uint64_t size, cudaStream_t stream, bool waits) {
  if (state->head.live == 0) {
    StopAtRead();
  }
  if (state->pending_reads == kMaxPendingReads || size > kMaxReadBytes - state->read_top) {
    Fault("launcher reads more device data back than can be followed");
  }
  unsigned char* bytes = state->read_bytes + state->read_top;
  AskFor(bytes, from, size, reinterpret_cast<uint64_t>(stream));
  ++state->read_count;
  if (waits || !IsPinned(to)) {
    std::memcpy(to, bytes, size);
    return;
  }
  std::memset(to, TheHeap().fill, size);
  state->reads[state->pending_reads++] = {static_cast<unsigned char*>(to), size, state->read_top,
                                          reinterpret_cast<uint64_t>(stream), state->read_count};
  state->read_top += size;
}

// The host has waited for the reads that `done` says.
template <class Done>
inline void EndReads(Done done) {
  int kept = 0;
  for (int i = 0; i < state->pending_reads; ++i) {
    const PendingRead read = state->reads[i];
    if (done(read)) {
      std::memcpy(read.to, state->read_bytes + read.at, read.size);
    } else {
      state->reads[kept++] = read;
    }
  }
  state->pending_reads = kept;
  if (kept == 0) {
    state->read_top = 0;
  }
}

inline void EndAllReads() {
  EndReads([](const PendingRead&) { return true; });
}

inline void EndReadsOf(cudaStream_t stream) {
  const auto number = reinterpret_cast<uint64_t>(stream);
  EndReads([number](const PendingRead& read) {
    return state->streams_wait || number <= 2 || read.stream == number;
  });
}

inline void EndReadsBehind(const void* event) {
  const auto handle = reinterpret_cast<uint64_t>(event);
  for (int i = 0; i < state->recorded_count; ++i) {
    const Recorded& at = state->recorded[i];
    if (at.event == handle) {
      EndReads([&at](const PendingRead& read) {
        return state->streams_wait || (read.stream == at.stream && read.number <= at.reads);
      });
    }
  }
}

inline void BeginReads() {
  state->pending_reads = 0;
  state->read_count = 0;
  state->read_top = 0;
}

}  // namespace optiml::recording
