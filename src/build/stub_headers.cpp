#include "build/stub_headers.h"

#include "core/cub_header.h"

namespace optiml {
namespace {

// Headers whose content device code cannot use, or that NVRTC has built in.
constexpr const char* kEmptyHeaders[] = {
    // C
    "assert.h", "complex.h", "ctype.h", "errno.h", "fcntl.h", "getopt.h", "inttypes.h", "locale.h",
    "malloc.h", "memory.h", "omp.h", "pthread.h", "setjmp.h", "signal.h", "stdarg.h", "stdbool.h",
    "sys/stat.h", "sys/time.h", "sys/types.h", "time.h", "unistd.h", "wchar.h",
    // C++
    "any", "atomic", "bit", "bitset", "cassert", "ccomplex", "cctype", "cerrno", "charconv",
    "chrono", "cinttypes", "clocale", "complex", "condition_variable", "csetjmp", "csignal",
    "cstdarg", "ctime", "cwchar", "deque", "exception", "execution", "filesystem", "forward_list",
    "fstream", "future", "initializer_list", "iomanip", "ios", "iosfwd", "iostream", "istream",
    "iterator", "list", "locale", "map", "memory", "memory_resource", "mutex", "new", "numeric",
    "optional", "ostream", "queue", "random", "ratio", "regex", "set", "shared_mutex", "sstream",
    "stack", "stdexcept", "streambuf", "string", "string_view", "system_error", "thread", "tuple",
    "typeindex", "typeinfo", "unordered_map", "unordered_set", "valarray", "variant", "vector",
    // CUDA's runtime interface: types and device functions are built into NVRTC.
    "cuda_profiler_api.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h",
    "device_launch_parameters.h", "math_functions.h", "nvtx3/nvToolsExt.h", "nvToolsExt.h"};

StubHeaders MakeStubHeaders() {
  StubHeaders stubs;
  ContentHasher hasher;
  const auto add = [&](const char* name, const char* text) {
    stubs.names.push_back(name);
    stubs.texts.push_back(text);
    hasher.Add(name).Add(text);
  };
  for (const EmbeddedText& stub : EmbeddedStubHeaders()) {
    // Literals: they end with a zero.
    add(stub.name == "cub.cuh" ? kCubHeader : stub.name.data(), stub.text.data());
  }
  for (const char* name : kEmptyHeaders) {
    // Those of C++ have no ending. Device code takes for granted what they all bring along.
    const bool is_cpp = std::string_view(name).find('.') == std::string_view::npos;
    add(name, is_cpp ? "#include <type_traits>\n" : "");
  }
  stubs.hash = hasher.Finish();
  return stubs;
}

}  // namespace

const StubHeaders& AllStubHeaders() {
  static const StubHeaders stubs = MakeStubHeaders();
  return stubs;
}

}  // namespace optiml
