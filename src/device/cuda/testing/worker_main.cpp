// The worker as a program of its own, for tests: the real one is started by `optiml`.
//
//   optiml_test_worker SOCKET ARENA LIBRARY
//   optiml_test_worker --in-pieces SOCKET ARENA LIBRARY    answers one hello, in pieces
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "device/cuda/messages.h"
#include "device/cuda/worker.h"

namespace {

int AnswerInPieces(int socket) {
  using optiml::cuda::Encode;
  using optiml::cuda::MessageKind;
  optiml::cuda::Message request;
  optiml::cuda::Receive(socket, -1, request);
  optiml::cuda::HelloReply reply;
  reply.name = "in pieces";
  // What Send() would write, through a socket of our own.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
      !optiml::cuda::Send(ends[0], MessageKind::kHello, Encode(reply))) {
    return 1;
  }
  char bytes[4096];
  const ssize_t size = recv(ends[1], bytes, sizeof(bytes), 0);
  for (ssize_t at = 0; at < size; at += 16) {
    send(socket, bytes + at, static_cast<size_t>(std::min<ssize_t>(16, size - at)), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(at == 0 ? 250 : 0));
  }
  std::this_thread::sleep_for(std::chrono::seconds(5));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--in-pieces") {
    return AnswerInPieces(std::atoi(argv[2]));
  }
  return argc == 4 ? optiml::cuda::RunWorker(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]) : 2;
}
