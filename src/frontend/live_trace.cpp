#include "frontend/live_trace.h"

#include <cstring>

#include "frontend/recorder/protocol.h"
#include "frontend/trace_reader.h"

namespace optiml::frontend {

class LiveTrace::Reader : public TraceReader {
 public:
  using TraceReader::TraceReader;
  std::vector<LivePlan> made;  // once it has ended
};

LiveTrace::LiveTrace(const Of& of)
    : of_(of),
      reader_(std::make_unique<Reader>(of.unit, of.names, of.calls, of.surroundings, of.limits,
                                       trace_, &of.device)) {}

LiveTrace::~LiveTrace() = default;

bool LiveTrace::TakeFrames(std::string_view output) {
  bool waits = false;
  uint64_t head = 0;
  while (output.size() - taken_ >= sizeof(head)) {
    std::memcpy(&head, output.data() + taken_, sizeof(head));
    const uint64_t size = head & ~recording::kFrameWaits;
    if (size > output.size() - taken_ - sizeof(head)) {
      break;
    }
    trace_.append(output.substr(taken_ + sizeof(head), size));
    taken_ += sizeof(head) + size;
    waits = (head & recording::kFrameWaits) != 0;
  }
  return waits;
}

void LiveTrace::ReadOn(bool at_end) {
  if (refusal_ || error_) {
    return;
  }
  try {
    reader_->ReadOn();
    if (at_end) {
      reader_->made = reader_->Finish();
    }
  } catch (const Stop& stop) {
    refusal_ = RefusalOf(stop, of_.unit, of_.launcher);
  } catch (const Failed& failed) {
    error_ = failed.error;
  }
}

std::optional<std::string> LiveTrace::Take(std::string_view output) {
  if (TakeFrames(output)) {
    ReadOn(false);
  }
  return refusal_ || error_ ? std::nullopt : std::optional(reader_->TakeAnswer());
}

Result<std::variant<std::vector<LivePlan>, Refusal>> LiveTrace::Finish(std::string_view output) {
  using Outcome = std::variant<std::vector<LivePlan>, Refusal>;
  TakeFrames(output);
  ReadOn(true);
  if (error_) {
    return *error_;
  }
  return refusal_ ? Outcome(*refusal_) : Outcome(std::move(reader_->made));
}

}  // namespace optiml::frontend
