#include "verify/many_calls.h"

#include <algorithm>

namespace optiml {
namespace {

constexpr uint64_t kFewestCalls = 5;
constexpr uint64_t kMostCalls = 300;
constexpr uint64_t kWorkOfCalls = 8'000'000;  // thread instructions
constexpr uint64_t kBytesOfCalls = uint64_t{16} << 20;

}  // namespace

bool HasDeviceVariables(std::string_view ptx) {
  while (!ptx.empty()) {
    const size_t end = ptx.find('\n');
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
    for (const std::string_view linkage : {".visible ", ".weak ", ".common "}) {
      if (line.starts_with(linkage)) {
        line.remove_prefix(linkage.size());
      }
    }
    // Compilers call strings "$str" and "__unnamed_1".
    if (line.starts_with(".global ") && line.find(" $str") == std::string_view::npos &&
        line.find(" __unnamed_") == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

size_t CallsInOneProcess(const TaskInputs& inputs, uint64_t work, uint64_t step_limit) {
  uint64_t bytes = 1;
  for (const Tensor& tensor : inputs.buffers) {
    bytes += tensor.bytes.size();
  }
  const uint64_t by_work = work == 0 ? kFewestCalls : kWorkOfCalls / work;
  const uint64_t calls =
      std::clamp(std::min(by_work, kBytesOfCalls / bytes), kFewestCalls, kMostCalls);
  return work > step_limit / calls ? 0 : static_cast<size_t>(calls);
}

}  // namespace optiml
