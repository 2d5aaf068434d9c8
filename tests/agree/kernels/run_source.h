#ifndef OPTIML_TESTS_AGREE_RUN_SOURCE_H_
#define OPTIML_TESTS_AGREE_RUN_SOURCE_H_

// A .cu file with a launcher `launch(in, out, n)`, on the emulator: from its text to what a run
// with every check finds. The same files run on a GPU, each under a driver.cu.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "device/device.h"

namespace optiml {

struct SourceRun {
  std::string name;  // "scan.cu"
  std::string text;
  int64_t n = 0;
  uint64_t in_bytes = 0;
  uint64_t out_bytes = 0;
};

// What the drivers fill `in` with.
std::vector<std::byte> DriverInput(uint64_t bytes);

// Whether a compiler is there; otherwise why not.
Result<ToolchainInfo> SourceToolchain();

// Fails when the file cannot be parsed, planned or compiled.
Result<RunOutcome> RunSource(const SourceRun& source);

}  // namespace optiml

#endif  // OPTIML_TESTS_AGREE_RUN_SOURCE_H_
