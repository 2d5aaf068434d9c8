#ifndef OPTIML_FRONTEND_STREAM_ORDER_H_
#define OPTIML_FRONTEND_STREAM_ORDER_H_

// StreamOrder: what a launcher's streams and events promise about the order of its work.
//
// A plan executes everything in the order in which it was issued. That is what the launcher does
// only if work on different streams that touches the same memory is ordered by events or by the
// host, and if nothing is still running when the launcher is done: who uses its outputs, and who
// measures its time, waits for the default stream. Stream 0 is the legacy default stream, ordered
// with every stream that is not "non-blocking" (CUDA Runtime API, "Stream synchronization
// behavior").
//
// How far a kernel reaches behind a pointer is not known: two kernels are taken to touch the same
// memory when they are given the same address and one of them may write there.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace optiml::frontend {

// Memory that one step touches.
struct StreamAccess {
  DevicePointer at;
  uint64_t size_bytes = 0;  // 0: not known
  bool writes = false;
};

class StreamOrder {
 public:
  static constexpr uint64_t kDefault = 0;

  void Create(uint64_t stream, bool non_blocking);
  // The launcher is called again: streams stay, nothing is pending.
  void Restart();

  // Work is issued. Returns what is wrong with it, as the end of a sentence that begins with "work
  // on the buffer ...": the other line; empty when all is well.
  struct Conflict {
    int buffer = -1;
    int other_line = 0;
  };
  std::optional<Conflict> Issue(uint64_t stream, std::vector<StreamAccess> accesses, int line);

  void Record(uint64_t event, uint64_t stream);
  void Wait(uint64_t stream, uint64_t event);
  void HostWaitsForStream(uint64_t stream);
  void HostWaitsForEvent(uint64_t event);
  void HostWaitsForAll();

  // The last work that was issued on the stream, and whether the host has waited for it.
  struct Ticket {
    uint64_t stream = 0;
    uint64_t number = 0;
  };
  Ticket Last(uint64_t stream) const;
  bool HostHasSeen(const Ticket& ticket) const;

  // The line of the last work on a stream that neither the host nor the default stream waited for.
  std::optional<int> Unfinished() const;

 private:
  using Clock = std::map<uint64_t, uint64_t>;  // by stream: how much of its work is done before

  struct Stream {
    bool blocking = true;
    uint64_t issued = 0;
    int last_line = 0;
    Clock known;
  };
  struct Work {
    uint64_t stream = 0;
    uint64_t number = 0;
    int line = 0;
    std::vector<StreamAccess> accesses;
  };

  static void Join(Clock& into, const Clock& from);
  Stream& Get(uint64_t stream);
  // Everything that is done when what was issued on the stream so far is done.
  Clock Done(uint64_t stream);
  // Takes over what the stream waits for without being told.
  void Settle(uint64_t stream);

  std::map<uint64_t, Stream> streams_;
  std::map<uint64_t, Clock> events_;
  Clock host_;
  std::vector<Work> works_;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_STREAM_ORDER_H_
