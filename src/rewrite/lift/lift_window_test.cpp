// Kernels that read a window around each point: stencils, convolutions, pooling.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/lift/lift.h"
#include "rewrite/lift/lift_test_support.h"

namespace optiml::rewrite {
namespace {

using testing::HasSubstr;

TEST(LiftStencil, InnerPointsOnly) {
  const std::string body =
      "out[i * w + j] = in[i * w + j - 1] + in[i * w + j + 1] - in[(i - 1) * w + j];";
  const std::string head =
      "__global__ void k(const float* in, float* out, int h, int w) {\n"
      "int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;\n";
  for (const std::string& text : {
           head + "if (i >= 1 && i < h - 1 && j >= 1 && j < w - 1) { " + body + " } }",
           head + "if (i < 1 || i >= h - 1 || j < 1 || j >= w - 1) return; " + body + " }",
           head + "if (i > 0 && j > 0 && i < h - 1 && j < w - 1) " + body + " }",
           head + "if (i + 1 < h && i >= 1) if (j + 1 < w && j >= 1) " + body + " }",
           head + "if (i <= 0 || j <= 0) return; if (i > h - 2 || j > w - 2) return; " + body + "}",
           head + "if (i == 0 || j == 0 || i >= h - 1 || j >= w - 1) return; " + body + " }",
           head +
               "if (i >= h || j >= w) return;\n"
               "if (i == 0 || i == h - 1 || j == 0 || j == w - 1) return; " +
               body + " }",
           head + "if (i < h && j < w && i != 0 && j != 0 && h - 1 != i && w - 1 != j) " + body +
               " }",
           head + "bool ok = i >= 1 && j >= 1; ok = ok && i < h - 1 && j < w - 1; if (ok) {" +
               body + "} }",
       }) {
    EXPECT_EQ(
        LiftText(text),
        "Program  k(in, out, h, w)  par: i in [0, h - 2), j in [0, w - 2)\n"
        "  Stage  out[i*w + j + w + 1] = in[i*w + j + w] + in[i*w + j + w + 2] - in[i*w + j + "
        "1]\n")
        << text;
  }
}

TEST(LiftStencil, BordersAreCopied) {
  ExpectAll2d(
      "i", "j", "h", "w", "const float* in, float* out, int h, int w",
      {
          "if (i == 0 || i == h - 1) out[i * w + j] = in[i * w + j];\n"
          "else out[i * w + j] = in[i * w + j - w] + in[i * w + j + w];",
          "float v; if (i == 0 || i == h - 1) v = in[i * w + j];\n"
          "else v = in[(i - 1) * w + j] + in[(i + 1) * w + j]; out[i * w + j] = v;",
          "int at = i * w + j; out[at] = i == 0 || i == h - 1 ? in[at]\n"
          "  : in[at - w] + in[at + w];",
      },
      "Program  k(in, out, h, w)  par: i in [0, h), j in [0, w)\n"
      "  Stage  out[i*w + j] = i == 0 || i == h - 1 ? in[i*w + j] : in[i*w + j - w] + in[i*w "
      "+ j + w]\n");
}

TEST(LiftStencil, PointsLeftOutInTheMiddleStayAGuard) {
  EXPECT_EQ(LiftText("__global__ void k(const float* in, float* out, int n) {\n"
                     "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "if (i < n && i != 2 && i != n - 2) out[i] = in[i]; }"),
            "Program  k(in, out, n)  par: i in [0, n)\n"
            "  Stage  out[i] = in[i], if i != 2 && i != n - 2\n");
}

TEST(LiftStencil, ClampedBordersAreOpaqueLoads) {
  const std::string parameters = "const float* in, float* out, int n";
  for (const char* body : {
           "int left = max(i - 1, 0); int right = min(i + 1, n - 1);\n"
           "out[i] = in[left] + in[right];",
           "out[i] = in[max(i - 1, 0)] + in[min(i + 1, n - 1)];",
           "float l = in[max(i - 1, 0)]; const float* r = in + min(i + 1, n - 1);\n"
           "out[i] = l + *r;",
       }) {
    for (const std::string& text : Spellings1d("i", "n", parameters, body)) {
      if (text.find("long long") != std::string::npos) {
        continue;  // max(long long, int) is ambiguous in CUDA
      }
      EXPECT_EQ(LiftText(text),
                "Program  k(in, out, n)  par: i in [0, n)\n"
                "  Stage  out[i] = in[max(i - 1, 0)] + in[min(i + 1, n - 1)]\n")
          << text;
    }
  }
}

TEST(LiftStencil3d, SevenPoints) {
  const std::string body =
      "out[(z * ny + y) * nx + x] = c * in[(z * ny + y) * nx + x] + in[((z - 1) * ny + y) * nx + x]"
      " + in[((z + 1) * ny + y) * nx + x] + in[(z * ny + y - 1) * nx + x]"
      " + in[(z * ny + y + 1) * nx + x] + in[(z * ny + y) * nx + x - 1]"
      " + in[(z * ny + y) * nx + x + 1];";
  const std::string head =
      "__global__ void k(const float* in, float* out, float c, int nx, int ny, int nz) {\n"
      "int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "int z = blockIdx.z * blockDim.z + threadIdx.z;\n";
  for (const std::string& text : {
           head + "if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1) {" +
               body + "} }",
           head +
               "if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;" +
               body + "}",
           head +
               "if (x == 0 || y == 0 || z == 0) return;\n"
               "if (x > nx - 2 || y > ny - 2 || z > nz - 2) return;" +
               body + "}",
           head +
               "bool inside = x >= 1 && y >= 1 && z >= 1;\n"
               "inside = inside && x < nx - 1 && y < ny - 1 && z < nz - 1; if (inside) {" +
               body + "} }",
           head + "#define AT(a, b, c) in[((c) * ny + (b)) * nx + (a)]\n"
                  "if (x + 1 < nx && x >= 1) if (y + 1 < ny && y >= 1) if (z + 1 < nz && z >= 1)\n"
                  "out[(z * ny + y) * nx + x] = c * AT(x, y, z) + AT(x, y, z - 1) + AT(x, y, z + 1)"
                  " + AT(x, y - 1, z) + AT(x, y + 1, z) + AT(x - 1, y, z) + AT(x + 1, y, z); }",
           head +
               "if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;\n"
               "int at = z * nx * ny + y * nx + x; const int plane = nx * ny;\n"
               "const float* p = in + at; float s = c * *p; s = s + p[-plane]; s += p[plane];\n"
               "s += p[-nx]; s += p[nx]; s += p[-1]; s += p[1]; out[at] = s; }",
       }) {
    const std::string lifted = LiftText(text);
    EXPECT_THAT(lifted, HasSubstr("par: z in [0, nz - 2), y in [0, ny - 2), x in [0, nx - 2)"))
        << text;
    EXPECT_THAT(lifted, HasSubstr("Stage  out[z*nx*ny + y*nx + x + nx + nx*ny + 1] = c * in["))
        << text;
  }
}

TEST(LiftConv2d, ZeroPaddingIsAGuard) {
  ExpectAll2d(
      "y", "x", "h", "w", "const float* in, const float* wt, float* out, int h, int w",
      {
          "float s = 0; for (int ky = 0; ky < 3; ++ky) for (int kx = 0; kx < 3; ++kx) {\n"
          "  int iy = y + ky - 1, ix = x + kx - 1;\n"
          "  if (iy >= 0 && iy < h && ix >= 0 && ix < w) s += in[iy * w + ix] * wt[ky * 3 + kx]; "
          "}\n"
          "out[y * w + x] = s;",
          "float s = 0; for (int ky = 0; ky < 3; ++ky) for (int kx = 0; kx < 3; ++kx) {\n"
          "  int iy = y + ky - 1, ix = x + kx - 1;\n"
          "  if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;\n"
          "  s = s + in[iy * w + ix] * wt[ky * 3 + kx]; }\n"
          "out[y * w + x] = s;",
      },
      "Program  k(in, wt, out, h, w)  par: y in [0, h), x in [0, w)\n"
      "  Stage  fold  s = sum over ky in [0, 3), kx in [0, 3) of in[y*w + x + ky*w + kx - w - 1] * "
      "wt[3*ky + kx], from 0.0f, if y + ky - 1 >= 0 && y + ky - 1 < h && x + kx - 1 >= 0 && x + kx "
      "- "
      "1 < w\n"
      "  Stage  out[y*w + x] = s\n");
}

TEST(LiftMaxPool, SplitsThreeDims) {
  const std::string head =
      "__global__ void k(const float* in, float* out, int c, int h, int w, int oh, int ow) {\n"
      "int idx = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const std::string window =
      "float m = -INFINITY; for (int ky = 0; ky < 2; ++ky) for (int kx = 0; kx < 2; ++kx) {\n"
      "float v = in[(ch * h + oy * 2 + ky) * w + ox * 2 + kx]; if (v > m) m = v; } out[idx] = m; }";
  for (const std::string& text : {
           head +
               "if (idx >= c * oh * ow) return; int ox = idx % ow; int oy = (idx / ow) % oh;\n"
               "int ch = idx / (ow * oh);" +
               window,
           head +
               "if (idx < c * oh * ow) { int t = idx; int ox = t % ow; t /= ow;\n"
               "int oy = t % oh; t /= oh; int ch = t;" +
               window + "}",
           head +
               "int plane = oh * ow; if (idx >= c * plane) return; int ch = idx / plane;\n"
               "int rest = idx % plane; int oy = rest / ow, ox = rest % ow;" +
               window,
           head +
               "for (int i = idx; i < c * oh * ow; i += gridDim.x * blockDim.x) {\n"
               "int ox = i % ow; int oy = i / ow % oh; int ch = i / ow / oh; idx = i;" +
               window + "}",
           head +
               "if (idx >= ow * oh * c) { return; } int ch = idx / (ow * oh);\n"
               "int rest = idx - ch * (ow * oh); int oy = rest / ow; int ox = rest - oy * ow;" +
               window,
           head +
               "if (!(idx < c * oh * ow)) return; int ox = idx % ow, oy = (idx / ow) % oh;\n"
               "int ch = idx / (ow * oh); float m = -INFINITY; const float* p = in + ch * h * w;\n"
               "for (int ky = 0; ky < 2; ky++) { const float* row = p + (oy * 2 + ky) * w;\n"
               "for (int kx = 0; kx < 2; kx++) m = fmaxf(m, row[2 * ox + kx]); } out[idx] = m; }",
       }) {
    EXPECT_EQ(
        LiftText(text),
        "Program  k(in, out, c, h, w, oh, ow)  par: ch in [0, c), oy in [0, oh), ox in [0, "
        "ow)\n"
        "  Stage  fold  m = max over ky in [0, 2), kx in [0, 2) of in[ch*h*w + 2*oy*w + 2*ox + "
        "ky*w + kx], from -INFINITY\n"
        "  Stage  out[ch*oh*ow + oy*ow + ox] = m\n")
        << text;
  }
}

}  // namespace
}  // namespace optiml::rewrite
