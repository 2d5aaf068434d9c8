#ifndef OPTIML_DEVICE_CUDA_EXECUTE_H_
#define OPTIML_DEVICE_CUDA_EXECUTE_H_

// What a worker does with its two requests: run a candidate's plan once or several times in the
// same memory, and time one plan or two in turn.
//
// The clock. Before each sample the written buffers of the copies that it uses get their contents
// or poison again, then other memory is read, TimingPolicy's factor of L2, so that each execution
// finds its data cold. (Flushing by writing leaves dirty lines whose way back the timed kernel pays
// for.) A sample holds the stream until all of it is enqueued, then takes the time between two
// events around `batch` executions on different copies. Two jobs take turns: A B, B A, A B ... in
// the same memory where their buffers have the same sizes: equal kernels in other places differ by
// up to some percent. Each takes further samples then, which do not count, until every copy
// holds what one of them left.
// Plans with uploads, or with more steps than the driver queues, are not held: the host's time is
// theirs.
//
// Before each set of contents all outputs are poisoned and every copy is executed once; after the
// samples of a set what every copy holds is compared with the first copy, bit for bit; the first
// goes back to the host, and one of those that differ, whichever, unless the parent has judged
// equal ones (by their digests). The second set pours other contents into the same addresses: what
// is kept from earlier calls shows.

#include <cstddef>
#include <functional>
#include <optional>

#include "device/cuda/gpu.h"
#include "device/cuda/messages.h"

namespace optiml::cuda {

RunReply RunJob(Gpu& gpu, const RunMessage& message, std::byte* arena);
// `ask` is called after each set where the message has a key; absent: the parent is gone.
using AskParent = std::function<std::optional<OutputsAnswer>(const OutputsQuestion&)>;
TimeReply TimeJobs(Gpu& gpu, const TimeMessage& message, std::byte* arena, const AskParent& ask);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_EXECUTE_H_
