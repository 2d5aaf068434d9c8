#include "rewrite/lift/buffer_shapes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rewrite/catalogue_test_kernels.h"

namespace optiml::rewrite::testing {
namespace {

std::string ShapesOf(const std::string& text, const std::string& entry) {
  std::string out;
  for (const auto& extents : BufferShapes(Parse(KernelSource(text, entry, entry + ".cu")), entry)) {
    out += fmt::format("[{}]", fmt::join(extents, ", "));
  }
  return out;
}

std::string ShapesOf(const KernelCase& kernel) {
  return ShapesOf(kernel.text, kernel.entry);
}

TEST(BufferShapes, ComeFromIndicesAndGuards) {
  EXPECT_EQ(ShapesOf(Relu()), "[n][n][]");
  EXPECT_EQ(ShapesOf(BiasGelu()), "[rows, cols][cols][rows, cols][][]");
  EXPECT_EQ(ShapesOf(Softmax()), "[rows, cols][rows, cols][][]");
  EXPECT_EQ(ShapesOf(Transpose()), "[rows, cols][cols, rows][][]");
  EXPECT_EQ(ShapesOf(MatMul()), "[M, K][K, N][M, N][][][]");
}

TEST(BufferShapes, AreInTheLaunchersNames) {
  const std::string kernel = R"(
__global__ void k(const float* in, float* out, int height, int width) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (r < height && c < width) out[r * width + c] = in[r * width + c];
}
)";
  EXPECT_EQ(ShapesOf(kernel + "extern \"C\" void f(const float* x, float* y, int h, int w) { "
                              "k<<<dim3(w, h), 1>>>(x, y, h, w); }",
                     "f"),
            "[h, w][h, w][][]");
  EXPECT_EQ(ShapesOf(kernel + "extern \"C\" void f(const float* x, float* y, int h) { "
                              "k<<<dim3(8, h), 1>>>(x, y, h, 8); }",
                     "f"),
            "[h, 8][h, 8][]");
  // What is computed on the way, and two launches that disagree, are not guessed.
  EXPECT_EQ(ShapesOf(kernel + "extern \"C\" void f(const float* x, float* y, int h) { int w = h; "
                              "k<<<dim3(8, h), 1>>>(x, y, h, w); }",
                     "f"),
            "[][][]");
  EXPECT_EQ(ShapesOf(kernel + "extern \"C\" void f(const float* x, float* y, int h) { "
                              "k<<<1, 1>>>(x, y, h, 8); k<<<1, 1>>>(x, y, h, 9); }",
                     "f"),
            "[][][]");
}

TEST(BufferShapes, AreNotGuessedFromOffsetsOrData) {
  EXPECT_EQ(ShapesOf(R"(
__global__ void k(const float* x, const int* at, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[at[i]] + x[i + 1];
}
extern "C" void f(const float* x, const int* at, float* y, int n) { k<<<n, 1>>>(x, at, y, n); }
)",
                     "f"),
            "[][n][n][]");
}

}  // namespace
}  // namespace optiml::rewrite::testing
