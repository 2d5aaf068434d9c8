#ifndef OPTIML_TASK_MEMORY_NEED_H_
#define OPTIML_TASK_MEMORY_NEED_H_

// How much host memory a task's sizes take, told before anything is allocated.

#include <cstdint>

#include "base/result.h"
#include "core/kernel_task.h"

namespace optiml {

// Bytes of all buffers of one row. REQUIRES: the task is valid.
uint64_t BufferBytes(const KernelTask& task, const SizeRow& row);

// Fails (kUnavailable) when a row of sizes takes more than `available_bytes`: "task.toml:7: n=...".
// `cases`: how many cases each checked row has; all of them are kept.
Result<void> CheckMemory(const KernelTask& task, uint64_t cases, uint64_t available_bytes);

}  // namespace optiml

#endif  // OPTIML_TASK_MEMORY_NEED_H_
