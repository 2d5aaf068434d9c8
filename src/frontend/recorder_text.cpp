#include "frontend/recorder_text.h"

#include "base/content_hash.h"

namespace optiml::frontend {

std::string RecorderNamespace(const std::string& text) {
  constexpr size_t kDigits = 24;
  ContentHasher hasher;
  hasher.Add("recorder").Add(text);
  return "optiml_" + hasher.Finish().Hex().substr(0, kDigits);
}

}  // namespace optiml::frontend
