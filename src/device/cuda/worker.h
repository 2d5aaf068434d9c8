#ifndef OPTIML_DEVICE_CUDA_WORKER_H_
#define OPTIML_DEVICE_CUDA_WORKER_H_

// The worker process: it alone owns the context of its GPU. It reads requests (messages.h) from a
// socket, contents from an arena that it shares with the parent, and answers. After a fault that
// spoils the context it answers once more and ends; whoever started it starts another.

#include <string>

namespace optiml::cuda {

// Answers until the socket is closed; the process's exit status. `socket` and `arena` are file
// descriptors that were inherited.
int RunWorker(int socket, int arena, const std::string& driver_library);

}  // namespace optiml::cuda

#endif  // OPTIML_DEVICE_CUDA_WORKER_H_
