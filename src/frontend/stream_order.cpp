#include "frontend/stream_order.h"

#include <algorithm>

namespace optiml::frontend {

namespace {

// Work that is remembered; beyond it the oldest is forgotten, so that a launcher of a hundred
// thousand launches stays cheap.
constexpr size_t kRemembered = 1000;
constexpr uint64_t kLegacyHandle = 1;  // cudaStreamLegacy

bool Touch(const StreamAccess& a, const StreamAccess& b) {
  if (a.at.buffer != b.at.buffer || a.at.buffer < 0 || !(a.writes || b.writes)) {
    return false;
  }
  const auto end = [](const StreamAccess& access) {
    return access.at.offset_bytes + static_cast<int64_t>(access.size_bytes);
  };
  if (a.size_bytes == 0 && b.size_bytes == 0) {
    return a.at.offset_bytes == b.at.offset_bytes;
  }
  return (a.size_bytes == 0 || end(a) > b.at.offset_bytes) &&
         (b.size_bytes == 0 || end(b) > a.at.offset_bytes);
}

}  // namespace

void StreamOrder::Join(Clock& into, const Clock& from) {
  for (const auto& [stream, number] : from) {
    uint64_t& known = into[stream];
    known = std::max(known, number);
  }
}

StreamOrder::Stream& StreamOrder::Get(uint64_t stream) {
  return streams_[stream == kLegacyHandle ? kDefault : stream];
}

void StreamOrder::Create(uint64_t stream, bool non_blocking) {
  Get(stream).blocking = !non_blocking;
}

void StreamOrder::Restart() {
  for (auto& [handle, stream] : streams_) {
    stream.issued = 0;
    stream.known.clear();
  }
  events_.clear();
  host_.clear();
  works_.clear();
}

StreamOrder::Clock StreamOrder::Done(uint64_t stream) {
  Settle(stream);
  Stream& own = Get(stream);
  Clock done = own.known;
  done[stream == kLegacyHandle ? kDefault : stream] = own.issued;
  return done;
}

void StreamOrder::Settle(uint64_t stream) {
  Stream& own = Get(stream);
  Join(own.known, host_);
  if (&own == &Get(kDefault)) {
    for (const auto& [handle, other] : streams_) {
      if (handle != kDefault && other.blocking) {
        Join(own.known, other.known);
        Join(own.known, {{handle, other.issued}});
      }
    }
  } else if (own.blocking) {
    Join(own.known, Get(kDefault).known);
    Join(own.known, {{kDefault, Get(kDefault).issued}});
  }
}

std::optional<StreamOrder::Conflict> StreamOrder::Issue(uint64_t stream,
                                                        std::vector<StreamAccess> accesses,
                                                        int line) {
  if (stream == kLegacyHandle) {
    stream = kDefault;
  }
  Settle(stream);
  Stream& own = Get(stream);
  std::optional<Conflict> conflict;
  if (streams_.size() > 1) {
    for (const Work& work : works_) {
      const auto known = own.known.find(work.stream);
      if (work.stream == stream || (known != own.known.end() && known->second >= work.number)) {
        continue;
      }
      for (const StreamAccess& mine : accesses) {
        for (const StreamAccess& theirs : work.accesses) {
          if (!conflict && Touch(mine, theirs)) {
            conflict = Conflict{mine.at.buffer, work.line};
          }
        }
      }
    }
  }
  ++own.issued;
  own.last_line = line;
  if (works_.size() >= kRemembered) {
    works_.erase(works_.begin(), works_.begin() + kRemembered / 2);
  }
  works_.push_back({stream, own.issued, line, std::move(accesses)});
  return conflict;
}

void StreamOrder::Record(uint64_t event, uint64_t stream) {
  events_[event] = Done(stream);
}

void StreamOrder::Wait(uint64_t stream, uint64_t event) {
  const auto found = events_.find(event);
  if (found != events_.end()) {
    Join(Get(stream).known, found->second);
  }
}

void StreamOrder::HostWaitsForStream(uint64_t stream) {
  Join(host_, Done(stream));
}

void StreamOrder::HostWaitsForEvent(uint64_t event) {
  const auto found = events_.find(event);
  if (found != events_.end()) {
    Join(host_, found->second);
  }
}

void StreamOrder::HostWaitsForAll() {
  for (const auto& [handle, stream] : streams_) {
    Join(host_, {{handle, stream.issued}});
  }
}

StreamOrder::Ticket StreamOrder::Last(uint64_t stream) const {
  const uint64_t handle = stream == kLegacyHandle ? kDefault : stream;
  const auto found = streams_.find(handle);
  return {handle, found == streams_.end() ? 0 : found->second.issued};
}

bool StreamOrder::HostHasSeen(const Ticket& ticket) const {
  const auto found = host_.find(ticket.stream);
  return found != host_.end() && found->second >= ticket.number;
}

std::optional<int> StreamOrder::Unfinished() const {
  const auto knows = [](const Clock& clock, uint64_t handle, uint64_t number) {
    const auto found = clock.find(handle);
    return found != clock.end() && found->second >= number;
  };
  const auto main = streams_.find(kDefault);
  for (const auto& [handle, stream] : streams_) {
    if (handle != kDefault && stream.issued > 0 && !knows(host_, handle, stream.issued) &&
        (main == streams_.end() || !knows(main->second.known, handle, stream.issued))) {
      return stream.last_line;
    }
  }
  return std::nullopt;
}

}  // namespace optiml::frontend
