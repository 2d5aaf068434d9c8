#ifndef OPTIML_PTX_TEST_SUPPORT_H_
#define OPTIML_PTX_TEST_SUPPORT_H_

// What the tests of ptx/ share: PTX texts made from bodies, launches in one line, instructions
// applied to many operands.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "ptx/alu.h"
#include "ptx/machine.h"

namespace optiml::ptx {

inline std::string Header() {
  return ".version 8.0\n.target sm_90\n.address_size 64\n";
}

// A kernel `k` with `parameters` 64-bit parameters p0, p1 ...; many registers of every class are
// declared: %r<64> %rd<64> %f<64> %fd<32> %h<32> %p<16>. `body` ends with ret by itself.
inline std::string KernelText(std::string_view body, int parameters,
                              std::string_view module_level = {}) {
  std::string text = Header() + std::string(module_level) + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i) {
    text += fmt::format("{}.param .u64 p{}", i == 0 ? "" : ", ", i);
  }
  text +=
      ")\n{\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<64>;\n.reg .f64 %fd<32>;\n.reg "
      ".b16 %h<32>;\n.reg .pred %p<16>;\n";
  return text + std::string(body) + "\nret;\n}\n";
}

inline Module MustParse(const std::string& text) {
  auto module = ParsePtx(text, "test.ptx");
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().message()) << "\n" << text;
  return module ? *std::move(module) : Module();
}

template <class T>
std::vector<std::byte> Argument(T value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

inline LaunchRequest Request(const Module& module, const std::string& kernel, Dim3 grid, Dim3 block,
                             const std::vector<std::vector<std::byte>>& arguments) {
  LaunchRequest request;
  request.module = &module;
  request.kernel = kernel;
  request.grid = grid;
  request.block = block;
  auto parameters = PackParameters(*module.FindKernel(kernel), arguments);
  EXPECT_TRUE(parameters.has_value()) << (parameters ? "" : parameters.error().message());
  if (parameters) {
    request.parameters = *parameters;
  }
  request.step_limit = uint64_t{1} << 30;
  return request;
}

template <class T>
uint64_t Upload(DeviceMemory& memory, std::string_view name, const std::vector<T>& values) {
  const uint64_t address = memory.Allocate(name, values.size() * sizeof(T), sizeof(T));
  std::memcpy(memory.Bytes(address).data(), values.data(), values.size() * sizeof(T));
  return address;
}

template <class T>
std::vector<T> Download(const DeviceMemory& memory, uint64_t address) {
  const auto bytes = memory.Bytes(address);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// Runs `body` as kernel `k` over one buffer of 32-bit words, `words` long, whose address is in
// %rd1; %r1 is the thread's linear id in the grid.
struct WordRun {
  LaunchOutcome outcome;
  std::vector<uint32_t> words;
};
inline WordRun RunWords(std::string_view body, Dim3 grid, Dim3 block, size_t words,
                        Checks checks = {}, bool counters = false,
                        std::string_view module_level = {}, int threads = 1) {
  const std::string prologue =
      "ld.param.u64 %rd1, [p0];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, "
      "%tid.x;\n"
      "mad.lo.s32 %r1, %r2, %r3, %r4;\n";
  const Module module = MustParse(KernelText(prologue + std::string(body), 1, module_level));
  DeviceMemory memory;
  const uint64_t address = Upload(memory, "words", std::vector<uint32_t>(words, 0));
  LaunchRequest request = Request(module, "k", grid, block, {Argument(address)});
  request.checks = checks;
  request.counters = counters;
  request.threads = threads;
  request.step_limit = uint64_t{1} << 26;
  WordRun run;
  run.outcome = Launch(request, memory);
  run.words = Download<uint32_t>(memory, address);
  return run;
}

using Operands = std::array<uint64_t, 3>;

// Applies one instruction, written with %d and the sources %a %b %c (and %p, true for odd cases),
// to each case; the result is zero-extended. `widths`: bytes of d, a, b, c; 0: not used. A width of
// 1 in d: %d is the predicate %q.
inline std::vector<uint64_t> Apply(const std::string& instruction, std::array<uint32_t, 4> widths,
                                   const std::vector<Operands>& cases) {
  const auto declare = [](uint32_t bytes, std::string_view name) {
    return bytes == 0 ? std::string()
                      : fmt::format(".reg .b{} {};\n", std::max(bytes, 2u) * 8, name);
  };
  std::string text = Header() +
                     ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n.reg "
                     ".b32 %i, %m, %n, %t;\n.reg .b64 %x, %y, %z;\n.reg .pred %p, %q, %s;\n";
  text += declare(widths[0], "%d") + declare(widths[1], "%a") + declare(widths[2], "%b") +
          declare(widths[3], "%c");
  text +=
      "ld.param.u64 %x, [in];\nld.param.u64 %y, [out];\nld.param.u32 %n, [n];\nmov.u32 %i, "
      "%ctaid.x;\nmov.u32 %m, %tid.x;\nmad.lo.s32 %i, %i, 64, %m;\n"
      "setp.ge.u32 %s, %i, %n;\n@%s bra done;\nmul.wide.u32 %z, %i, 24;\nadd.s64 %x, %x, "
      "%z;\nmul.wide.u32 %z, %i, 8;\nadd.s64 %y, %y, %z;\n"
      "and.b32 %t, %i, 1;\nsetp.ne.u32 %p, %t, 0;\n";
  const std::string_view names[3] = {"%a", "%b", "%c"};
  for (size_t i = 0; i < 3; ++i) {
    if (widths[i + 1] != 0) {
      text += fmt::format("ld.global.b{} {}, [%x+{}];\n", widths[i + 1] * 8, names[i], i * 8);
    }
  }
  if (widths[0] > 1) {
    text += fmt::format("mov.b{} %d, 0;\n", widths[0] * 8);
  }
  text += instruction + "\n";
  if (widths[0] == 1) {
    text += "selp.b32 %t, 1, 0, %q;\nst.global.b32 [%y], %t;\n";
  } else {
    text += fmt::format("st.global.b{} [%y], %d;\n", widths[0] * 8);
  }
  text += "done:\nret;\n}\n";
  const Module module = MustParse(text);
  DeviceMemory memory;
  const uint64_t in = Upload(memory, "in", cases);
  const uint64_t out = Upload(memory, "out", std::vector<uint64_t>(cases.size(), 0));
  const auto count = static_cast<uint32_t>(cases.size());
  const LaunchOutcome outcome = Launch(Request(module, "k", {(count + 63) / 64}, {64},
                                               {Argument(in), Argument(out), Argument(count)}),
                                       memory);
  EXPECT_EQ(outcome.status, LaunchStatus::kCompleted) << instruction << ": " << outcome.message;
  return Download<uint64_t>(memory, out);
}

inline Module ParseFile(const std::string& relative) {
  auto text = ReadFile(std::string(OPTIML_SOURCE_DIR) + "/" + relative);
  EXPECT_TRUE(text.has_value()) << relative;
  return text ? MustParse(*text) : Module();
}

// Runs every test once for each table of handlers.
class EveryHandlerTable : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    size_t count = 0;
    const HandlerTable* const* tables = AllHandlers(count);
    if (GetParam() >= count) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
    UseHandlersForTest(tables[GetParam()]);
  }
  void TearDown() override { UseHandlersForTest(nullptr); }
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_TEST_SUPPORT_H_
