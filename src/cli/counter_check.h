#ifndef OPTIML_CLI_COUNTER_CHECK_H_
#define OPTIML_CLI_COUNTER_CHECK_H_

// CounterCheck: whether hardware counters can be read on this machine, for `optiml doctor`.

#include <string>

#include "base/result.h"
#include "device/cuda/messages.h"

namespace optiml {

struct CounterCheck {
  bool can_count = false;
  std::string what;     // one line
  std::string follows;  // what it means, and what to do; empty when all is well
};

// Of what a GPU's worker found when it counted a kernel of our own, or why it could not.
CounterCheck JudgeCounters(const Result<cuda::CounterFacts>& tried);

}  // namespace optiml

#endif  // OPTIML_CLI_COUNTER_CHECK_H_
