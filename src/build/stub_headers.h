#ifndef OPTIML_BUILD_STUB_HEADERS_H_
#define OPTIML_BUILD_STUB_HEADERS_H_

// Stub headers: what NVRTC is given under the names of the C and C++ standard headers and of CUDA's
// own runtime headers, none of which it finds by itself. Those of which device code uses something
// (cmath, cstdint, limits, type_traits, cub ...) have a small content of our own (stubs/); host-only
// ones (iostream, vector ...) are empty: the host's code has been removed before.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/content_hash.h"
#include "base/embedded_text.h"

namespace optiml {

// The files of stubs/.
std::span<const EmbeddedText> EmbeddedStubHeaders();

// Name -> content, as nvrtcCreateProgram wants them: two parallel arrays of zero-terminated strings
// that live as long as the program.
struct StubHeaders {
  std::vector<const char*> names;
  std::vector<const char*> texts;
  ContentHash hash;
};
const StubHeaders& AllStubHeaders();

// Included before every source ("--pre-include").
inline constexpr char kPreludeHeader[] = "optiml_prelude.h";

}  // namespace optiml

#endif  // OPTIML_BUILD_STUB_HEADERS_H_
