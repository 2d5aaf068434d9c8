// Mangled bundles through the loader: whatever the bytes, the answer is a bundle that passes its
// own check, or an error of one line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file_system.h"
#include "base/rng.h"
#include "mot/bundle.h"

namespace optiml::mot {
namespace {

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Bytes, words and pieces: set, copied, cut out, and the end cut off. Most go to the front, where
// the keys and the descriptions of the tensors are.
std::string Mangle(std::string bytes, Rng& rng) {
  const uint64_t changes = 1 + rng.NextBelow(6);
  for (uint64_t i = 0; i < changes && bytes.size() > 16; ++i) {
    const size_t reach =
        rng.NextBelow(4) != 0 ? std::min<size_t>(bytes.size(), 7000) : bytes.size();
    const size_t at = rng.NextBelow(reach);
    const size_t length = std::min<size_t>(1 + rng.NextBelow(16), bytes.size() - at);
    switch (rng.NextBelow(7)) {
      case 0:
        bytes[at] = static_cast<char>(rng.Next());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.NextBelow(8)));
        break;
      case 2:
        bytes.replace(at, length, length, static_cast<char>(rng.NextBelow(2) * 0xFF));
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(rng.NextBelow(reach), length));
        break;
      case 5:
        bytes.replace(at, length, bytes.substr(rng.NextBelow(reach), length));
        break;
      default:
        bytes.resize(rng.NextBelow(8) == 0 ? at : bytes.size() - rng.NextBelow(16));
    }
  }
  return bytes;
}

TEST(MotBundleFuzz, EveryFileIsABundleOrAnError) {
  const auto golden = ReadFile(fs::path(OPTIML_SOURCE_DIR) / "tests/mot/golden.mot.gguf");
  ASSERT_TRUE(golden);
  const uint64_t seed = FromEnvironment("OPTIML_FUZZ_SEED", 1);
  const uint64_t inputs = FromEnvironment("OPTIML_FUZZ_INPUTS", 10'000);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < inputs; ++i) {
    SCOPED_TRACE(testing::Message() << "OPTIML_FUZZ_SEED " << seed << ", input " << i);
    Rng rng(RandomAt(seed, i));
    const auto parsed = ParseBundle(Mangle(*golden, rng));
    if (parsed) {
      ++accepted;
      ASSERT_TRUE(CheckBundle(*parsed));
    } else {
      ASSERT_FALSE(parsed.error().message().empty());
      ASSERT_EQ(parsed.error().message().find('\n'), std::string::npos);
    }
  }
  // Numbers of the tensors may be others: those files are bundles. But not most of them.
  EXPECT_GT(accepted, inputs / 100);
  EXPECT_LT(accepted, inputs / 2);
}

}  // namespace
}  // namespace optiml::mot
