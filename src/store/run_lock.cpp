#include "store/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace optiml {

Result<RunLock> RunLock::Take(const fs::path& store) {
  const fs::path file = store.string() + ".lock";
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return Error(ErrorCode::kIo,
                 fmt::format("{}: cannot lock: {}", file.string(), std::strerror(errno)));
  }
  RunLock lock(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{}: another process works on this run", store.string()));
  }
  lock.Note("");
  return lock;
}

void RunLock::Note(std::string text) const {
  text.resize(kNoteBytes, ' ');
  [[maybe_unused]] const ssize_t written = pwrite(fd_, text.data(), text.size(), 0);
}

std::string RunLock::NoteBeside(const fs::path& store) {
  const Result<std::string> text = ReadFile(store.string() + ".lock", kNoteBytes);
  const size_t end = text ? text->find_last_not_of(' ') : std::string::npos;
  return end == std::string::npos ? "" : text->substr(0, end + 1);
}

RunLock::~RunLock() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

}  // namespace optiml
