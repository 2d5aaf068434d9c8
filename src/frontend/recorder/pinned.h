// Pinned memory of a recorded launcher. An asynchronous upload reads it when the device gets there:
// until the host has waited, what the host writes there may or may not arrive.

#pragma once

#include <cstdint>
#include <cstring>

#include "trace.h"

namespace optiml::recording {

inline void AddPinned(const void* pointer, uint64_t size) {
  if (pointer == nullptr || size == 0) {
    return;
  }
  if (state->pinned_count == kMaxPinned) {
    Fault("launcher has more pinned allocations than can be told apart");
  }
  state->pinned[state->pinned_count++] = {static_cast<const unsigned char*>(pointer), size};
}

inline void RemovePinned(const void* pointer) {
  for (int i = 0; i < state->pinned_count; ++i) {
    if (state->pinned[i].begin == pointer) {
      state->pinned[i] = state->pinned[--state->pinned_count];
      return;
    }
  }
}

inline bool IsPinned(const void* pointer) {
  const auto* at = static_cast<const unsigned char*>(pointer);
  for (int i = 0; i < state->pinned_count; ++i) {
    if (at >= state->pinned[i].begin && at < state->pinned[i].begin + state->pinned[i].size) {
      return true;
    }
  }
  return false;
}

// FNV-1a: to notice a change, not to resist one that is made to be missed.
inline uint64_t SumOf(const unsigned char* bytes, uint64_t size) {
  uint64_t sum = 0xcbf29ce484222325;
  for (uint64_t i = 0; i < size; ++i) {
    sum = (sum ^ bytes[i]) * 0x100000001b3;
  }
  return sum;
}

inline void AddUpload(const void* from, uint64_t size, cudaStream_t stream) {
  ++state->uploads;
  if (!IsPinned(from)) {
    return;  // copied before the call returns
  }
  if (state->pending_count == kMaxPending) {
    Fault("launcher makes more uploads than can be followed before it waits for one");
  }
  const auto* bytes = static_cast<const unsigned char*>(from);
  state->pending[state->pending_count++] = {bytes, size, SumOf(bytes, size),
                                            reinterpret_cast<uint64_t>(stream), state->uploads};
}

// The host has waited for the uploads that `done` says, or the call ends: they must be as they
// were.
template <class Done>
inline void EndUploads(Done done) {
  int kept = 0;
  for (int i = 0; i < state->pending_count; ++i) {
    const PendingUpload upload = state->pending[i];
    if (SumOf(upload.from, upload.size) != upload.sum) {
      Fault(
          "launcher changes pinned memory while an upload from it may still run: nothing orders "
          "this work");
    }
    if (!done(upload)) {
      state->pending[kept++] = upload;
    }
  }
  state->pending_count = kept;
}

inline void EndAllUploads() {
  EndUploads([](const PendingUpload&) { return true; });
}

inline void EndUploadsOf(cudaStream_t stream) {
  const auto number = reinterpret_cast<uint64_t>(stream);
  EndUploads([number](const PendingUpload& upload) {
    return state->streams_wait || number <= 2 || upload.stream == number;
  });
}

inline void RecordUploads(const void* event, const void* stream) {
  const auto handle = reinterpret_cast<uint64_t>(event);
  const Recorded made{handle, reinterpret_cast<uint64_t>(stream), state->uploads,
                      state->read_count};
  for (int i = 0; i < state->recorded_count; ++i) {
    if (state->recorded[i].event == handle) {
      state->recorded[i] = made;
      return;
    }
  }
  if (state->recorded_count < kMaxRecorded) {
    state->recorded[state->recorded_count++] = made;
  }
}

inline void EndUploadsBehind(const void* event) {
  const auto handle = reinterpret_cast<uint64_t>(event);
  for (int i = 0; i < state->recorded_count; ++i) {
    const Recorded& at = state->recorded[i];
    if (at.event == handle) {
      EndUploads([&at](const PendingUpload& upload) {
        return state->streams_wait || (upload.stream == at.stream && upload.number <= at.uploads);
      });
    }
  }
}

inline void BeginUploads() {
  state->pending_count = 0;
  state->recorded_count = 0;
  state->uploads = 0;
  state->streams_wait = false;
}

}  // namespace optiml::recording
