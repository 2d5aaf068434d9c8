#ifndef OPTIML_BASE_FILE_SYSTEM_H_
#define OPTIML_BASE_FILE_SYSTEM_H_

// Files with our errors: every failure names the path and the system's reason. Functions, not a
// class: tests use real temporary folders (TemporaryDirectory).

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml {

namespace fs = std::filesystem;

// The whole file. Fails with kNotFound or kIo. Refuses files over max_bytes (kInvalidArgument).
Result<std::string> ReadFile(const fs::path& path, size_t max_bytes = size_t{1} << 30);

// Writes to a temporary name in the same folder, syncs, then renames: a reader sees the old file or
// the new one, never a half. A full disk leaves the old file and no temporary.
Result<void> WriteFileAtomically(const fs::path& path, std::string_view contents);

// A name in the same folder that no other thread or process uses, for what is renamed to `path`
// once it is whole.
fs::path NameBeside(const fs::path& path);

Result<void> CreateDirectories(const fs::path& path);

// A fresh folder that only this user can read; removed with its contents at the end of its life.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> Create(std::string_view prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory(const TemporaryDirectory&) = delete;  // it owns the folder
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const fs::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

}  // namespace optiml

#endif  // OPTIML_BASE_FILE_SYSTEM_H_
