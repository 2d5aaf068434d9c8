// Streams and events as a launcher sees them, and the order of its work that follows
// (stream_order.h).

#include "frontend/interpreter.h"
#include "frontend/launch_rules.h"

namespace optiml::frontend {

namespace {

constexpr uint64_t kFirstHandle = uint64_t{1} << 60;
constexpr int64_t kNonBlocking = 1;  // cudaStreamNonBlocking
constexpr int64_t kNotReady = 600;   // cudaErrorNotReady

}  // namespace

void Interpreter::Issue(uint64_t stream, std::vector<StreamAccess> accesses) {
  if (const auto conflict = order_.Issue(stream, std::move(accesses), line_)) {
    Refuse(ConflictText(plan_, *conflict));
  }
}

void Interpreter::CheckFinished() {
  if (const auto line = order_.Unfinished()) {
    line_ = *line;
    Refuse(kUnfinishedText);
  }
}

bool Interpreter::CallOrdering(const ast::Expr& expr, const std::string& name, HostValue& result) {
  const auto integer = [&](size_t i) {
    return i < expr.operands.size() ? EvaluateInteger(*expr.operands[i]) : 0;
  };
  const auto handle = [&](size_t i) { return static_cast<uint64_t>(integer(i)); };
  if (name == "cudaStreamCreate" || name == "cudaStreamCreateWithFlags" ||
      name == "cudaStreamCreateWithPriority") {
    const uint64_t stream = kFirstHandle + static_cast<uint64_t>(next_handle_++);
    order_.Create(stream, name != "cudaStreamCreate" && (integer(1) & kNonBlocking) != 0);
    StoreThrough(*expr.operands[0], static_cast<int64_t>(stream));
  } else if (name == "cudaEventCreate" || name == "cudaEventCreateWithFlags") {
    StoreThrough(*expr.operands[0], static_cast<int64_t>(kFirstHandle) + next_handle_++);
  } else if (name == "cudaEventRecord" || name == "cudaEventRecordWithFlags") {
    order_.Record(handle(0), handle(1));
  } else if (name == "cudaStreamWaitEvent") {
    order_.Wait(handle(0), handle(1));
  } else if (name == "cudaStreamSynchronize") {
    order_.HostWaitsForStream(handle(0));
    CheckUploads(false);
  } else if (name == "cudaEventSynchronize") {
    order_.HostWaitsForEvent(handle(0));
    CheckUploads(false);
  } else if (name == "cudaDeviceSynchronize" || name == "cudaThreadSynchronize") {
    order_.HostWaitsForAll();
    CheckUploads(false);
  } else if (name == "cudaStreamQuery" || name == "cudaEventQuery") {
    handle(0);
    result.integer = surroundings_ == Surroundings::kOther ? kNotReady : 0;
  } else {
    return false;
  }
  return true;
}

}  // namespace optiml::frontend
