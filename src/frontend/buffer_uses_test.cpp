#include "frontend/buffer_uses.h"

#include <gtest/gtest.h>

#include "frontend/frontend.h"

namespace optiml {
namespace {

// "r", "w", "rw", each with "first" when it starts written, "?" when it escapes; of a and b.
std::string UsesOf(const std::string& device, const std::string& body) {
  const std::string text =
      device + "\nextern \"C\" void run(const float* a, float* b, int n) {" + body + "}\n";
  const auto parsed = ParseSource(KernelSource(text, "run", "kernel.cu"));
  if (!parsed.has_value() || std::holds_alternative<Refusal>(*parsed)) {
    return "refused: " + (parsed ? std::get<Refusal>(*parsed).reason : parsed.error().message());
  }
  std::string out;
  for (const BufferUse& use : BufferUses(std::get<ast::SourceUnit>(*parsed), "run")) {
    out += std::string(out.empty() ? "" : " ") + (use.is_read ? "r" : "") +
           (use.is_written ? "w" : "") + (use.starts_written ? "!" : "") +
           (use.escapes ? "?" : "") + ";";
  }
  return out;
}

std::string Kernel(const std::string& body) {
  return UsesOf(
      "__device__ void put(float* at, float v) { *at = v; }\n"
      "__device__ float get(const float* at) { return at[1]; }\n"
      "__device__ void bump(float& v) { v += 1; }\n"
      "__global__ void k(const float* x, float* y, int n) {" +
          body + "}",
      "k<<<1, n>>>(a, b, n);");
}

TEST(BufferUses, ReadWrittenAndBoth) {
  EXPECT_EQ(Kernel("y[n] = x[n];"), "r; w!; ;");
  EXPECT_EQ(Kernel("y[n] += x[n];"), "r; rw; ;");
  EXPECT_EQ(Kernel("atomicAdd(&y[n], __ldg(x + n));"), "r; rw; ;");
  EXPECT_EQ(Kernel("y[(int)x[n]] = y[n] + 1;"), "r; rw; ;");
  EXPECT_EQ(Kernel("y[n]++;"), "; rw; ;");
  EXPECT_EQ(Kernel("y[n] = n;"), "; w!; ;");
}

TEST(BufferUses, PointersAreFollowed) {
  EXPECT_EQ(Kernel("float* p = y + n; const float* q; q = x; for (;;) *p++ = *q++;"), "r; w!; ;");
  EXPECT_EQ(Kernel("float4* v = reinterpret_cast<float4*>(y); v[n].x = x[0];"), "r; w!; ;");
  EXPECT_EQ(Kernel("put(&y[n], get(x));"), "r; w!; ;");
  EXPECT_EQ(Kernel("float& v = y[n]; v = 1; const float w = v;"), "; rw; ;");
  EXPECT_EQ(Kernel("bump(y[n]);"), "; rw; ;");
  EXPECT_EQ(Kernel("float* p = n > 1 ? y : y + 1; p[0] = n;"), "; w!; ;");
  EXPECT_EQ(Kernel("asm(\"exit;\");"), "?; ?; ;");
}

TEST(BufferUses, TheFirstStepDecidesWhetherItStartsWritten) {
  const std::string kernels =
      "__global__ void make(float* y) { y[0] = 1; }\n"
      "__global__ void add(float* y, const float* x) { y[0] += x[0]; }\n";
  EXPECT_EQ(UsesOf(kernels, "make<<<1, 1>>>(b); add<<<1, 1>>>(b, a);"), "r; rw!; ;");
  EXPECT_EQ(UsesOf(kernels, "add<<<1, 1>>>(b, a); make<<<1, 1>>>(b);"), "r; rw; ;");
  EXPECT_EQ(UsesOf(kernels, "cudaMemset(b, 0, 4); add<<<1, 1>>>(b, a);"), "r; rw!; ;");
  EXPECT_EQ(UsesOf(kernels, "cudaMemcpyAsync(b, a, 4, cudaMemcpyDeviceToDevice, 0);"), "r; w!; ;");
  EXPECT_EQ(UsesOf(kernels, "float* c = b; void* args[] = {&c, &b};"), "; ?; ;");
}

}  // namespace
}  // namespace optiml
