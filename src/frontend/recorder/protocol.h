#ifndef OPTIML_FRONTEND_RECORDER_PROTOCOL_H_
#define OPTIML_FRONTEND_RECORDER_PROTOCOL_H_

// What OptiML and the program that records a launcher say to each other. Both are compiled with
// this file; everything is little-endian words of 8 bytes unless said otherwise. What the program
// says is foreign: recorded_plan.cpp believes none of it.
//
//   request, on standard input:   kRequestMark, then the words of RequestHead, `facts` pairs of
//                                 attribute and value, and for each of `calls`: whether memory is
//                                 compared, the number of arguments, and three words for each
//                                 argument (ArgumentKind, value, bytes of a buffer)
//   trace, on standard output:    events, each an EventKind, the source line, and the words below;
//                                 "bytes" is a length and as many bytes, padded to whole words
//
// In a live run the trace comes in frames: a word with the frame's length, and kFrameWaits when the
// program waits behind it for what its last event, a kRead, asks for: as many bytes, on standard
// input.

#include <cstdint>

namespace optiml::recording {

constexpr uint64_t kRequestMark = 0x314345524d4c4f;
constexpr uint64_t kMaxEvents = 200'000;
constexpr uint64_t kMaxTraceBytes = uint64_t{64} << 20;

enum ArgumentKind : uint64_t { kInteger = 0, kReal = 1, kBuffer = 2 };

struct RequestHead {
  uint64_t other_surroundings;  // 0 or 1
  uint64_t free_bytes;
  uint64_t total_bytes;
  uint64_t version;  // of driver and runtime
  uint64_t facts;
  uint64_t calls;
  uint64_t live;  // 0 or 1
};

constexpr uint64_t kFrameWaits = uint64_t{1} << 63;

enum EventKind : uint64_t {
  kBegin = 1,  // a call of the launcher starts
  kEnd,        // it returned: 1 when memory that outlives it was changed, else 0
  kMalloc,     // address, size
  kFree,       // address
  kLaunch,     // kernel, grid x y z, block x y z, cluster x y z, shared bytes, cooperative, stream,
               // the number of arguments, and bytes for each
  kMemset,     // destination, value, size, stream
  kCopy,       // destination, source, size, stream: from device to device
  kUpload,     // destination, stream, bytes
  kAttribute,  // kernel, number, value
  kSymbol,     // module variable by index, address: used for the first time
  kStream,     // handle, whether it is non-blocking
  kRecord,     // event, stream
  kWait,       // stream, event
  kSyncStream,  // stream
  kSyncEvent,   // event
  kSyncAll,     //
  kRead,        // source, size, stream: from the device to the host; live runs only
  kReadsBack,   // the launcher wants device data and this is no live run; nothing follows
  kHeld,        // address of a buffer that memory which outlives the call points to
  kFault,       // bytes: what is wrong with the launcher; nothing follows
};

// Buffer i of a process. The usual addresses are none that a process can have (they are not
// canonical), so that to follow one is noticed for sure; the other ones look like cudaMalloc's on
// Linux, lie in another order and are as aligned.
constexpr uint64_t kBufferStride = uint64_t{1} << 42;
// Pointers this far from a buffer's start still mean the buffer.
constexpr uint64_t kBufferReach = uint64_t{1} << 38;
constexpr uint64_t kUsualBase = uint64_t{1} << 57;
constexpr uint64_t kOtherBase = uint64_t{3} << 40;
constexpr uint64_t kOtherFirst = 31;

constexpr uint64_t BufferAddress(uint64_t index, bool other) {
  if (!other) {
    return kUsualBase + (index + 1) * kBufferStride;
  }
  return kOtherBase + (index < kOtherFirst ? kOtherFirst - index : index + 1) * kBufferStride;
}

// The number of the buffer whose first bytes, fewer than kBufferReach, the address is among; any
// large number when it is none's.
constexpr uint64_t BufferIndex(uint64_t address, bool other) {
  const uint64_t offset = address - (other ? kOtherBase : kUsualBase);
  const uint64_t slot = offset / kBufferStride;
  if (offset % kBufferStride >= kBufferReach) {
    return UINT64_MAX;
  }
  return other && slot <= kOtherFirst ? kOtherFirst - slot : slot - 1;
}

// The number of the only buffer that the address may belong to, from kBufferReach before its start;
// any large number when it is none's.
constexpr uint64_t NearestBuffer(uint64_t address, bool other) {
  const uint64_t slot =
      (address + kBufferReach - (other ? kOtherBase : kUsualBase)) / kBufferStride;
  return other && slot <= kOtherFirst ? kOtherFirst - slot : slot - 1;
}

}  // namespace optiml::recording

#endif  // OPTIML_FRONTEND_RECORDER_PROTOCOL_H_
