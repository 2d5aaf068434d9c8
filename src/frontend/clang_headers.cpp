#include "frontend/clang_headers.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <memory>
#include <utility>

#include "core/cub_header.h"

namespace optiml::frontend {

namespace {

// Headers whose contents the prelude already declares.
constexpr const char* kCoveredByPrelude[] = {
    "cuda_runtime.h", "cuda_runtime_api.h", "cuda.h", "device_launch_parameters.h",
    "device_functions.h", "vector_types.h", "vector_functions.h", "driver_types.h",
    "math_constants.h", "math_functions.h", "sm_60_atomic_functions.h", "device_atomic_functions.h",
    "cuda_pipeline.h", "cuda_pipeline_primitives.h", "helper_math_types.h", "host_defines.h",
    "builtin_types.h", "channel_descriptor.h", "cuda_device_runtime_api.h", "nvfunctional",
    // C
    "assert.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h",
    "stdio.h", "stdlib.h", "string.h", "time.h", "unistd.h", "memory.h", "sys/time.h",
    // C++
    "cassert", "cfloat", "cinttypes", "climits", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib",
    "cstring", "ctime", "limits", "type_traits", "utility", "initializer_list", "new", "version"};

// Headers that files include out of habit. A text that uses one of their names does not parse with
// the prelude, and gets the real ones, which take a second or more.
constexpr const char* kOftenUnused[] = {"any",
                                        "atomic",
                                        "bitset",
                                        "cctype",
                                        "cerrno",
                                        "charconv",
                                        "chrono",
                                        "complex",
                                        "condition_variable",
                                        "cuda_profiler_api.h",
                                        "deque",
                                        "filesystem",
                                        "forward_list",
                                        "fstream",
                                        "functional",
                                        "future",
                                        "iterator",
                                        "list",
                                        "map",
                                        "memory",
                                        "mutex",
                                        "optional",
                                        "queue",
                                        "random",
                                        "ratio",
                                        "regex",
                                        "set",
                                        "stack",
                                        "string_view",
                                        "thread",
                                        "tuple",
                                        "typeinfo",
                                        "unordered_map",
                                        "unordered_set",
                                        "variant"};

// Headers that std_host.h stands in for.
constexpr const char* kStandardHost[] = {"iostream", "ostream",   "string",    "vector",
                                         "array",    "stdexcept", "exception", "iomanip",
                                         "numeric",  "sstream",   "algorithm"};

void Add(llvm::vfs::InMemoryFileSystem& files, const std::string& path, std::string_view text) {
  files.addFile(path, 0,
                llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(text.data(), text.size()), path,
                                                 /*RequiresNullTerminator=*/false));
}

void AddSource(llvm::vfs::InMemoryFileSystem& files, const std::string& path,
               const std::string& text) {
  files.addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
}

// The machine's files below some roots; nothing else exists.
class RootedFileSystem : public llvm::vfs::ProxyFileSystem {
 public:
  RootedFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> machine,
                   std::vector<std::string> roots)
      : ProxyFileSystem(std::move(machine)), roots_(std::move(roots)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    if (!Allowed(path)) {
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    return ProxyFileSystem::status(path);
  }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    if (!Allowed(path)) {
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    return ProxyFileSystem::openFileForRead(path);
  }
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& path,
                                          std::error_code& error) override {
    if (!Allowed(path)) {
      error = std::make_error_code(std::errc::no_such_file_or_directory);
      return {};
    }
    return ProxyFileSystem::dir_begin(path, error);
  }

  // Relative paths, "." among them, are those of the memory's own folder, never of this process.
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override { return "/optiml"; }
  std::error_code setCurrentWorkingDirectory(const llvm::Twine&) override { return {}; }

 private:
  bool Allowed(const llvm::Twine& twine) const {
    llvm::SmallString<256> path;
    twine.toVector(path);
    llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    const llvm::StringRef text(path);
    for (const std::string& root : roots_) {
      if (text == root || text.starts_with(root + "/")) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::string> roots_;
};

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> MakePreludeFileSystem(const std::string& path,
                                                                      const std::string& text,
                                                                      const std::string& pch) {
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  const std::string root = std::string(kPreludeRoot) + "/";
  for (size_t i = 0; i < kPreludeHeaderCount; ++i) {
    Add(*files, root + std::string(kPreludeHeaders[i].path), kPreludeHeaders[i].text);
  }
  for (const char* name : kCoveredByPrelude) {
    Add(*files, root + name, "\n");
  }
  for (const char* name : kOftenUnused) {
    Add(*files, root + name, "\n");
  }
  Add(*files, root + kCubHeader, "\n");
  for (const char* name : kStandardHost) {
    Add(*files, root + name, "#include <std_host.h>\n");
  }
  if (!pch.empty()) {
    Add(*files, kPreludePchPath, pch);
    Add(*files, kPreludeOnlyPath, "");
  }
  AddSource(*files, path, text);
  return files;
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> MakeCudaFileSystem(
    const std::string& path, const std::string& text, const std::vector<std::string>& roots) {
  auto machine = llvm::makeIntrusiveRefCnt<RootedFileSystem>(llvm::vfs::getRealFileSystem(), roots);
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(machine);
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (size_t i = 0; i < kResourceHeaderCount; ++i) {
    Add(*files, std::string(kResourceRoot) + "/include/" + std::string(kResourceHeaders[i].path),
        kResourceHeaders[i].text);
  }
  // Clang 19 includes this header, which CUDA 13 no longer has.
  Add(*files, std::string(kResourceRoot) + "/shim/texture_fetch_functions.h", "\n");
  for (size_t i = 0; i < kPreludeHeaderCount; ++i) {
    if (kPreludeHeaders[i].path == "cuda_header_supplement.h") {
      Add(*files, std::string(kResourceRoot) + "/shim/cuda_header_supplement.h",
          kPreludeHeaders[i].text);
    }
  }
  // Of a file that does not use CUB its header would be most of the time.
  if (!UsesCub(text)) {
    Add(*files, std::string(kResourceRoot) + "/shim/" + kCubHeader, kUnusedCub);
  }
  AddSource(*files, path, text);
  all->pushOverlay(files);
  return all;
}

}  // namespace optiml::frontend
