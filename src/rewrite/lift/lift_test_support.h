#ifndef OPTIML_REWRITE_LIFT_LIFT_TEST_SUPPORT_H_
#define OPTIML_REWRITE_LIFT_LIFT_TEST_SUPPORT_H_

// For the tests of the lift: CUDA text in, the dump of its first kernel's program (or the refusal)
// out; and the many ways in which a person writes "for each i below n".

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "core/kernel_source.h"
#include "frontend/frontend.h"
#include "rewrite/lift/lift.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

inline std::variant<Program, std::string> LiftFirstKernel(const std::string& text) {
  const Result<ParseOutcome> parsed = ParseSource(KernelSource(text, "", "kernel.cu"));
  if (!parsed.has_value()) {
    return "error: " + parsed.error().message();
  }
  if (const auto* refusal = std::get_if<Refusal>(&*parsed)) {
    return "does not parse: " + refusal->reason;
  }
  const auto& unit = std::get<ast::SourceUnit>(*parsed);
  for (const ast::Function& function : unit.functions) {
    if (function.is_kernel && !function.is_template) {
      LiftOutcome outcome = Lift(unit, function);
      if (auto* program = std::get_if<Program>(&outcome)) {
        return std::move(*program);
      }
      return "refused: " + std::get<LiftRefusal>(outcome).reason;
    }
  }
  return "no kernel";
}

inline std::string LiftText(const std::string& text) {
  const std::variant<Program, std::string> outcome = LiftFirstKernel(text);
  if (const auto* refusal = std::get_if<std::string>(&outcome)) {
    return *refusal;
  }
  return Format(std::get<Program>(outcome));
}

// Kernels "k(parameters)" that run `body` for each `index` in [0, bound), in different spellings.
inline std::vector<std::string> Spellings1d(const std::string& index, const std::string& bound,
                                            const std::string& parameters,
                                            const std::string& body) {
  const std::string head = fmt::format("__global__ void k({}) {{\n", parameters);
  const std::string global = "blockIdx.x * blockDim.x + threadIdx.x";
  return {
      fmt::format("{0}int {1} = {2}; if ({1} < {3}) {{ {4} }} }}", head, index, global, bound,
                  body),
      fmt::format("{0}const int {1} = threadIdx.x + blockDim.x * blockIdx.x;\n"
                  "if ({1} >= {2}) return;\n{3} }}",
                  head, index, bound, body),
      fmt::format("{0}const unsigned int tx = threadIdx.x, bx = blockIdx.x;\n"
                  "int {1} = (int)(bx * blockDim.x + tx); if (!({1} < {2})) return; {3} }}",
                  head, index, bound, body),
      fmt::format(
          "#define GLOBAL_ID ({2})\n{0}int {1} = GLOBAL_ID; if ({1} <= {3} - 1) {{ {4} }} }}", head,
          index, global, bound, body),
      fmt::format("static __device__ __forceinline__ int Id() {{ return {2}; }}\n"
                  "{0}int {1} = Id(); if ({3} > {1}) {{ {4} }} }}",
                  head, index, global, bound, body),
      fmt::format("{0}for (int {1} = {2}; {1} < {3}; {1} += blockDim.x * gridDim.x) {{ {4} }} }}",
                  head, index, global, bound, body),
      fmt::format("{0}int step = gridDim.x * blockDim.x; int {1} = {2};\n"
                  "while ({1} < {3}) {{ {4}\n {1} += step; }} }}",
                  head, index, global, bound, body),
      fmt::format("{0}int {1} = {2}; if ({1} < 0 || {1} >= {3}) {{ return; }} else {{ {4} }} }}",
                  head, index, global, bound, body),
      fmt::format("{0}long long {1} = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "if ({1} < {2}) {{ {3} }} }}",
                  head, index, bound, body),
  };
}

// The same for each (row, col) with row below `rows` and col below `cols`; col is the fast axis.
inline std::vector<std::string> Spellings2d(const std::string& row, const std::string& col,
                                            const std::string& rows, const std::string& cols,
                                            const std::string& parameters,
                                            const std::string& body) {
  const std::string head = fmt::format("__global__ void k({}) {{\n", parameters);
  const std::string ids = fmt::format(
      "int {} = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "int {} = blockIdx.x * blockDim.x + threadIdx.x;\n",
      row, col);
  return {
      fmt::format("{0}{1}if ({2} < {4} && {3} < {5}) {{ {6} }} }}", head, ids, row, col, rows, cols,
                  body),
      fmt::format("{0}{1}if ({2} >= {4} || {3} >= {5}) return; {6} }}", head, ids, row, col, rows,
                  cols, body),
      fmt::format("{0}{1}if ({3} >= {5}) return; if ({4} <= {2}) return; {6} }}", head, ids, row,
                  col, rows, cols, body),
      fmt::format("{0}{1}if ({3} < {5}) {{ if ({2} < {4}) {{ {6} }} }} }}", head, ids, row, col,
                  rows, cols, body),
      fmt::format("{0}int idx = blockIdx.x * blockDim.x + threadIdx.x;\n"
                  "if (idx >= {3} * {4}) return;\n"
                  "int {1} = idx / {4}; int {2} = idx % {4}; {5} }}",
                  head, row, col, rows, cols, body),
      fmt::format("{0}for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < {3} * {4};\n"
                  " idx += blockDim.x * gridDim.x) {{ int {1} = idx / {4};\n"
                  "int {2} = idx - {1} * {4}; {5} }} }}",
                  head, row, col, rows, cols, body),
      fmt::format(
          "{0}for (int {1} = blockIdx.y * blockDim.y + threadIdx.y; {1} < {3};\n"
          "{1} += gridDim.y * blockDim.y)\nfor (int {2} = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "{2} < {4}; {2} += gridDim.x * blockDim.x) {{ {5} }} }}",
          head, row, col, rows, cols, body),
      fmt::format("#define INSIDE(r, c) ((r) < {4} && !((c) >= {5}))\n"
                  "{0}{1}bool inside = INSIDE({2}, {3}); if (!inside) {{ return; }} {6} }}",
                  head, ids, row, col, rows, cols, body),
  };
}

// Every body in every spelling of its index lifts to the same program.
inline void ExpectAll1d(const std::string& index, const std::string& bound,
                        const std::string& parameters, const std::vector<std::string>& bodies,
                        const std::string& expected) {
  for (const std::string& body : bodies) {
    for (const std::string& text : Spellings1d(index, bound, parameters, body)) {
      EXPECT_EQ(LiftText(text), expected) << text;
    }
  }
}

inline void ExpectAll2d(const std::string& row, const std::string& col, const std::string& rows,
                        const std::string& cols, const std::string& parameters,
                        const std::vector<std::string>& bodies, const std::string& expected) {
  for (const std::string& body : bodies) {
    for (const std::string& text : Spellings2d(row, col, rows, cols, parameters, body)) {
      EXPECT_EQ(LiftText(text), expected) << text;
    }
  }
}

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_LIFT_LIFT_TEST_SUPPORT_H_
