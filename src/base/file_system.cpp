#include "base/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace optiml {
namespace {

Error IoError(const fs::path& path, const char* what, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Error(code, path.string() + ": " + what + ": " + std::strerror(error_number));
}

// Writes all bytes to an open file and syncs it. Returns 0, or errno.
int WriteAll(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t n = write(fd, contents.data(), contents.size());
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    contents.remove_prefix(static_cast<size_t>(n));
  }
  return fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, size_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return IoError(path, "cannot open", errno);
  }
  std::string contents;
  char chunk[1 << 16];
  while (true) {
    const ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      const int error_number = errno;
      close(fd);
      return IoError(path, "cannot read", error_number);
    }
    if (n == 0) {
      break;
    }
    contents.append(chunk, static_cast<size_t>(n));
    if (contents.size() > max_bytes) {
      close(fd);
      return Error(ErrorCode::kInvalidArgument,
                   path.string() + ": larger than " + std::to_string(max_bytes) + " bytes");
    }
  }
  close(fd);
  return contents;
}

fs::path NameBeside(const fs::path& path) {
  static std::atomic<uint64_t> next{0};
  return path.string() + ".part" + std::to_string(getpid()) + "." + std::to_string(next++);
}

Result<void> WriteFileAtomically(const fs::path& path, std::string_view contents) {
  const fs::path temporary = NameBeside(path);
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    return IoError(path, "cannot write", errno);
  }
  int error_number = WriteAll(fd, contents);
  if (close(fd) != 0 && error_number == 0) {
    error_number = errno;
  }
  if (error_number == 0 && rename(temporary.c_str(), path.c_str()) != 0) {
    error_number = errno;
  }
  if (error_number != 0) {
    unlink(temporary.c_str());
    return IoError(path, "cannot write", error_number);
  }
  return {};
}

Result<void> CreateDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return Error(ErrorCode::kIo, path.string() + ": cannot create the folder: " + error.message());
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::Create(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/" +
                        std::string(prefix) + "XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return IoError(pattern, "cannot create a temporary folder", errno);
  }
  return TemporaryDirectory(fs::path(pattern));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) {
    std::error_code ignored;  // nothing can be done about a folder that stays
    fs::remove_all(path_, ignored);
  }
}

}  // namespace optiml
