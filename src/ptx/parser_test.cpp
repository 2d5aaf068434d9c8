#include <gmock/gmock.h>

#include "base/rng.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One line an instruction: "12/7 @!%p1 ld.global.v2.f32 {%f1,%f2} [%rd1+8]" (PTX line / source
// line).
std::string Show(const Function& function, const Operand& operand) {
  std::string text = operand.negated ? "!" : "";
  switch (operand.kind) {
    case OperandKind::kRegister:
      return text + function.registers[static_cast<size_t>(operand.index)].name;
    case OperandKind::kSpecial:
    case OperandKind::kSymbol:
      return text + operand.text + (operand.offset != 0 ? fmt::format("{:+}", operand.offset) : "");
    case OperandKind::kImmediate:
      return text + fmt::format("{}{:#x}",
                                operand.is_float ? fmt::format("f{}:", operand.float_bits) : "",
                                operand.bits);
    case OperandKind::kLabel:
      return function.labels[static_cast<size_t>(operand.index)];
    case OperandKind::kSink:
      return "_";
    default:
      break;
  }
  const char* braces = operand.kind == OperandKind::kAddress  ? "[]"
                       : operand.kind == OperandKind::kVector ? "{}"
                       : operand.kind == OperandKind::kList   ? "()"
                                                              : "||";
  text += braces[0];
  for (size_t i = 0; i < operand.elements.size(); ++i) {
    text += (i == 0 ? "" : ",") + Show(function, operand.elements[i]);
  }
  if (operand.offset != 0) {
    text += fmt::format("{:+}", operand.offset);
  }
  return text + braces[1];
}

std::vector<std::string> Dump(const Function& function) {
  std::vector<std::string> lines;
  for (const Instruction& instruction : function.instructions) {
    std::string line = fmt::format("{}/{} ", instruction.ptx_line, instruction.source_line);
    if (instruction.predicate >= 0) {
      line += fmt::format("@{}{} ", instruction.predicate_negated ? "!" : "",
                          function.registers[static_cast<size_t>(instruction.predicate)].name);
    }
    line += instruction.opcode;
    for (const Operand& operand : instruction.operands) {
      line += " " + Show(function, operand);
    }
    lines.push_back(line);
  }
  return lines;
}

constexpr char kText[] = R"(.version 9.0
.target sm_90, debug
.address_size 64
.extern .shared .align 16 .b8 dyn[];
.const .align 4 .f32 table[2] = {1.5, 0f40000000};
.global .align 8 .u64 pointers[2] = {generic(table), table+4};
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .entry axpy(.param .u64 .ptr .global .align 4 x, .param .u32 n, .param .align 8 .b8 s[12])
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred %p<2>;
  .reg.b32 %r<4>;
  .reg .b64 %rd<3>;
  .reg .f32 %f<5>;
  .loc 1 3 5
  ld.param.u64 %rd1, [x];   // comment
  ld.param.u32 %r1, [s+4]; /* another
  comment */
  .loc 2 77 1, function_name $L__info_string0, inlined_at 1 4 9
  setp.lt.s32 %p0|%p1, %r1, -5;
  @!%p1 bra $done;
  ld.global.v2.f32 {%f1, %f2}, [%rd1+-8];
  { .reg .f32 %f1; mov.f32 %f1, 0fBF800000; fma.rn.f32 %f3, %f1, %f2, 0d3FF0000000000000; }
  shfl.sync.down.b32 %r2|%p0, %r1, 16, 31, -1;
  mov.u32 %r3, %tid.x;
$done:
  .loc 1 9 1
  st.shared.f32 [dyn+4], %f3;
  ret;
}
.file 1 "kernel.cu"
.file 2 "helper.h"
.section .debug_str { .b8 1, 2 }
)";

TEST(Parser, DumpsWhatItRead) {
  const Module module = MustParse(kText);
  EXPECT_EQ(module.version, "9.0");
  EXPECT_EQ(module.target, "sm_90");
  EXPECT_EQ(module.source_file, "kernel.cu");
  EXPECT_THAT(module.KernelNames(), ElementsAre("axpy"));
  const Function& kernel = *module.FindKernel("axpy");
  EXPECT_THAT(
      Dump(kernel),
      ElementsAre("17/3 ld.param.u64 %rd1 [x]", "18/3 ld.param.u32 %r1 [s+4]",
                  "21/4 setp.lt.s32 |%p0,%p1| %r1 0xfffffffffffffffb", "22/4 @!%p1 bra $done",
                  "23/4 ld.global.v2.f32 {%f1,%f2} [%rd1-8]", "24/4 mov.f32 %f1@1 f32:0xbf800000",
                  "24/4 fma.rn.f32 %f3 %f1@1 %f2 f64:0x3ff0000000000000",
                  "25/4 shfl.sync.down.b32 |%r2,%p0| %r1 0x10 0x1f 0xffffffffffffffff",
                  "26/4 mov.u32 %r3 %tid.x", "29/9 st.shared.f32 [dyn+4] %f3", "30/9 ret"));
}

TEST(Parser, LaysOutParametersAndVariables) {
  const Module module = MustParse(kText);
  const Function& kernel = *module.FindKernel("axpy");
  ASSERT_EQ(kernel.parameters.size(), 3u);
  EXPECT_EQ(kernel.parameters[1].offset, 8u);
  EXPECT_EQ(kernel.parameters[2].offset, 16u);
  EXPECT_EQ(kernel.parameters[2].bytes, 12u);
  EXPECT_EQ(kernel.parameter_bytes, 28u);
  EXPECT_EQ(kernel.maximum_threads[0], 256u);
  const Variable& table = *module.FindVariable("table");
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(table.initial[2]) << 16 |
                                 static_cast<uint32_t>(table.initial[3]) << 24),
            1.5f);
  const Variable& pointers = *module.FindVariable("pointers");
  ASSERT_EQ(pointers.relocations.size(), 2u);
  EXPECT_TRUE(pointers.relocations[0].generic);
  EXPECT_EQ(pointers.relocations[1].offset, 4);
  EXPECT_TRUE(module.FindVariable("dyn")->is_extern);
  EXPECT_TRUE(module.FindFunction("vprintf")->is_declaration);
}

TEST(Parser, InnerScopesHaveTheirOwnLabels) {
  const Module module =
      MustParse(KernelText("{ L: add.u32 %r1, %r1, 1; bra L; }\n{ bra L; L: }", 0));
  const Function& kernel = *module.FindKernel("k");
  EXPECT_EQ(kernel.label_targets[static_cast<size_t>(kernel.instructions[1].operands[0].index)], 0);
  EXPECT_EQ(kernel.label_targets[static_cast<size_t>(kernel.instructions[2].operands[0].index)], 3);
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(Parser, NamesTheLineOfEachMistake) {
  const BadText cases[] = {
      {"", "no .version directive"},
      {".version 8.0\n", "no .target directive"},
      {".version 8.0\n.target sm_90\n.address_size 32\n", "test.ptx:3: expected address size 64"},
      {".version 8.0\n.target sm_90\n.entry k() { bra nowhere; }",
       "test.ptx:3: branch to an undefined label"},
      {".version 8.0\n.target sm_90\n.entry k() {\n @%p1 ret; }",
       "test.ptx:4: unknown predicate '%p1'"},
      {".version 8.0\n.target sm_90\n.entry k() {\n add.s32 %r1, 1 }",
       "test.ptx:4: expected ';', not '}'"},
      {".version 8.0\n.target sm_90\n.entry k() {\n mov.u32 0xzz, 1; }",
       "test.ptx:4: '0xzz' is not a number"},
      {".version 8.0\n.target sm_90\n.entry k() { /* ", "comment without end"},
      {".version 8.0\n.target sm_90\n.entry k() { L: L: ret; }", "label 'L' is defined twice"},
      {".version 8.0\n.target sm_90\n.entry k() { .reg .b32 %r<99999999>; }", "too many registers"},
      {".version 8.0\n.target sm_90\n.global .b8 x[99999999999999];", "array is too large"},
      {".version 8.0\n.target sm_90\n.entry k() {", "the text ends where '}' is expected"},
      {".version 8.0\n.target sm_90\n\x01", "character 0x01 is not PTX"},
  };
  for (const BadText& bad : cases) {
    const auto module = ParsePtx(bad.text, "test.ptx");
    ASSERT_FALSE(module.has_value()) << bad.text;
    EXPECT_EQ(module.error().code(), ErrorCode::kParse);
    EXPECT_THAT(module.error().message(), HasSubstr(bad.message));
  }
}

TEST(Parser, EveryPrefixIsAnErrorOrAModule) {
  const std::string text = kText;
  for (size_t length = 0; length < text.size(); ++length) {
    const auto module = ParsePtx(std::string_view(text).substr(0, length), "prefix.ptx");
    if (!module) {
      EXPECT_THAT(module.error().message(), HasSubstr("prefix.ptx:"));
    }
  }
}

TEST(Parser, MangledTextsNeverCrashNorDoTheirKernels) {
  const auto file = ReadFile(std::string(OPTIML_SOURCE_DIR) + "/bench/ptx/bench.ptx");
  ASSERT_TRUE(file.has_value());
  Rng rng(20261129);
  const std::string alphabet = "{}[]();,.%@!|+-0123456789abfrdpx_$ \n";
  for (int round = 0; round < 150; ++round) {
    const size_t start = rng.NextBelow(file->size() / 2);
    std::string text = file->substr(0, 400) + file->substr(start, 3000);
    for (uint64_t i = rng.NextBelow(12); i > 0; --i) {
      text[rng.NextBelow(text.size())] = alphabet[rng.NextBelow(alphabet.size())];
    }
    const auto module = ParsePtx(text, "mangled.ptx");
    if (!module) {
      continue;
    }
    for (const std::string& kernel : module->KernelNames()) {
      DeviceMemory memory;
      LaunchRequest request;
      request.module = &*module;
      request.kernel = kernel;
      request.block = {64, 1, 1};
      request.parameters.resize(module->FindKernel(kernel)->parameter_bytes);
      request.step_limit = 100000;
      request.checks = {true, true, true, true};
      Launch(request, memory);
    }
  }
}

}  // namespace
}  // namespace optiml::ptx
