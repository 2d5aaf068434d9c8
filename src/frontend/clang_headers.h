#ifndef OPTIML_FRONTEND_CLANG_HEADERS_H_
#define OPTIML_FRONTEND_CLANG_HEADERS_H_

// The headers that a parse can include: our own prelude and stand-ins for the standard headers, and
// Clang's resource headers for the parse with CUDA's real ones. All are embedded in the binary;
// prelude/ holds their texts. These are for Clang's parse only: what NVRTC includes is build/'s.

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <string>
#include <string_view>
#include <vector>

namespace optiml::frontend {

// A file embedded by the build (embedded_headers.cpp is generated from prelude/ and from Clang's
// resource directory).
struct EmbeddedHeader {
  std::string_view path;  // below its root
  std::string_view text;
};
extern const EmbeddedHeader kPreludeHeaders[];
extern const size_t kPreludeHeaderCount;
extern const EmbeddedHeader kResourceHeaders[];
extern const size_t kResourceHeaderCount;

// Where the embedded headers appear in the file systems below.
inline constexpr char kPreludeRoot[] = "/optiml/prelude";
inline constexpr char kResourceRoot[] = "/optiml/clang";

inline constexpr char kPreludePchPath[] = "/optiml/prelude.pch";
// The empty file from which the precompiled prelude is made; it must exist where that is used.
inline constexpr char kPreludeOnlyPath[] = "/optiml/prelude_only.cu";

// Nothing but `text` at `path`, the prelude, and `pch` (unless empty; it must outlive the file
// system): a candidate's #include reads no file of this machine.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> MakePreludeFileSystem(const std::string& path,
                                                                      const std::string& text,
                                                                      const std::string& pch);

// `text` at `path`, Clang's resource headers, and of this machine only what is below `roots`.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> MakeCudaFileSystem(
    const std::string& path, const std::string& text, const std::vector<std::string>& roots);

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_CLANG_HEADERS_H_
