#include "rewrite/schedule/transformation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/catalogue_test_kernels.h"
#include "rewrite/catalogue_test_support.h"
#include "rewrite/schedule/fusion.h"
#include "rewrite/schedule/normalise.h"

namespace optiml::rewrite::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Why the chain is refused on the kernel; empty when it is legal.
std::string Reason(const KernelCase& kernel, const std::vector<Edit>& chain,
                   const TargetLimits& limits = {}) {
  return Make(kernel, limits).Refusal(chain);
}

std::string Text(const KernelCase& kernel, const std::vector<Edit>& chain) {
  return Make(kernel).Apply(chain);
}

// The kernel's text with one piece replaced.
KernelCase With(KernelCase kernel, const std::string& from, const std::string& to) {
  const size_t at = kernel.text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  kernel.text.replace(at, from.size(), to);
  return kernel;
}

TEST(Shapes, AreToldByAccessesAlone) {
  const auto kind = [](const KernelCase& kernel) { return Make(kernel).facts->shape.kind; };
  EXPECT_EQ(kind(Relu()), ShapeKind::kMap);
  EXPECT_EQ(kind(BiasGelu()), ShapeKind::kMap);
  EXPECT_EQ(kind(RowMap()), ShapeKind::kMap);
  EXPECT_EQ(kind(Softmax()), ShapeKind::kRowFold);
  EXPECT_EQ(kind(SoftmaxByElement()), ShapeKind::kRowFold);
  EXPECT_EQ(kind(Gemv()), ShapeKind::kRowFold);
  EXPECT_EQ(kind(ColumnSum()), ShapeKind::kColumnFold);
  EXPECT_EQ(kind(Dot()), ShapeKind::kFullFold);
  EXPECT_EQ(kind(Histogram()), ShapeKind::kScatter);
  EXPECT_EQ(kind(MatMul()), ShapeKind::kContraction);
  EXPECT_EQ(kind(BatchedTransposedMatMul()), ShapeKind::kContraction);
  EXPECT_EQ(kind(Transpose()), ShapeKind::kTranspose);
  EXPECT_EQ(kind(AddTransposed()), ShapeKind::kTranspose);
  EXPECT_EQ(kind(Jacobi()), ShapeKind::kStencil);
  EXPECT_EQ(kind(Convolution()), ShapeKind::kStencil);
}

TEST(Normalise, RowThatEveryElementFoldsIsFoldedOnce) {
  const Made made = Make(SoftmaxByElement());
  EXPECT_EQ(made.facts->lifted.dims.size(), 2u);
  EXPECT_EQ(made.facts->program.dims.size(), 1u);
}

TEST(Flatten, JoinsContiguousDims) {
  EXPECT_THAT(Text(ScaleInPlace(), {MakeEdit("flatten")}), HasSubstr("long long i = "));
}

TEST(Flatten, RefusesBroadcast) {
  EXPECT_THAT(Reason(BiasGelu(), {MakeEdit("flatten")}), HasSubstr("order of the dims"));
}

TEST(Flatten, RefusesOneDim) {
  EXPECT_THAT(Reason(Relu(), {MakeEdit("flatten")}), HasSubstr("one dim already"));
}

TEST(BlockSize, SetsTheBlock) {
  EXPECT_THAT(Text(Relu(), {MakeEdit("block_size", {{"threads", 512}})}), HasSubstr("512>>>"));
}

TEST(BlockSize, RefusesOddSizesAndWhatDecidesItself) {
  EXPECT_THAT(Reason(Relu(), {MakeEdit("block_size", {{"threads", 100}})}), HasSubstr("allowed"));
  EXPECT_THAT(Reason(Softmax(), {MakeEdit("row_fold", {{"threads", 128}}),
                                 MakeEdit("block_size", {{"threads", 256}})}),
              HasSubstr("row_fold decides"));
}

TEST(RowFold, GivesARowToABlock) {
  EXPECT_THAT(Text(Softmax(), {MakeEdit("row_fold", {{"threads", 128}})}),
              HasSubstr("softmax_kernel<<<rows, 128>>>(x, y, rows, cols);"));
}

TEST(RowFold, GivesARowToAWarp) {
  EXPECT_THAT(Text(Gemv(), {MakeEdit("row_fold", {{"threads", 32}})}), HasSubstr("dim3(32, 8)"));
}

TEST(RowFold, FoldsAnInitialValueInOnce) {
  EXPECT_THAT(Text(Gemv(), {MakeEdit("row_fold", {{"threads", 128}})}),
              HasSubstr("acc = beta * bias[i] + acc;"));
}

TEST(RowFold, RefusesBuffersThatMayOverlap) {
  const KernelCase aliased = With(Softmax(), "(x, y, rows, cols);", "(y, y, rows, cols);");
  EXPECT_THAT(Reason(aliased, {MakeEdit("row_fold", {{"threads", 128}})}), HasSubstr("overlap"));
}

// One thread of the row stores; the others would read before it has.
TEST(RowFold, RefusesToReadWhatOneThreadOfTheRowStored) {
  const KernelCase kernel = {
      "f",
      R"(
__global__ void f_kernel(const float* x, float* out, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; c++) s += x[r * cols + c];
  if (s > 0.0f) out[r] = s;
  float t = out[r];
  for (int c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * t;
}
extern "C" void f(const float* x, float* out, float* y, int rows, int cols) {
  f_kernel<<<(rows + 127) / 128, 128>>>(x, out, y, rows, cols);
}
)",
      {Bytes(4 << 20), Bytes(4 << 10), Bytes(4 << 20), Integer(1024), Integer(1024)}};
  EXPECT_THAT(Reason(kernel, {MakeEdit("row_fold", {{"threads", 128}})}),
              HasSubstr("out is read again after one thread of the row wrote it"));
}

// A parameter that has one of the emitters' words for its name, and an assumption about it.
TEST(RowFold, ParametersMayHaveTheEmittersNames) {
  KernelCase kernel = {"f",
                       R"(
__global__ void f_kernel(const float* x, float* y, int total, int step) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= total) return;
  float m = x[row * step];
  for (int c = 1; c < step; c++) m = fmaxf(m, x[row * step + c]);
  y[row] = m;
}
extern "C" void f(const float* x, float* y, int total, int step) {
  f_kernel<<<(total + 127) / 128, 128>>>(x, y, total, step);
}
)",
                       {Bytes(4 << 20), Bytes(4 << 10), Integer(1024), Integer(1024)}};
  EXPECT_EQ(Reason(kernel, {MakeEdit("row_fold", {{"threads", 128}})}), "");
}

TEST(RowFold, RefusesRegroupingWhereTheTaskForbidsIt) {
  TargetLimits limits;
  limits.allows_reassociation = false;
  EXPECT_THAT(Reason(LayerNorm(), {MakeEdit("row_fold", {{"threads", 128}})}, limits),
              HasSubstr("regroups"));
}

TEST(RowFold, RefusesOtherShapes) {
  EXPECT_THAT(Reason(MatMul(), {MakeEdit("row_fold", {{"threads", 128}})}),
              HasSubstr("is a contraction"));
}

TEST(Interchange, TurnsAThreadsLoopIntoNeighbours) {
  EXPECT_THAT(Text(RowMap(), {MakeEdit("interchange")}),
              HasSubstr("const int c = blockIdx.x * 64 + threadIdx.x;"));
}

TEST(Interchange, RefusesWhatIsCoalesced) {
  EXPECT_THAT(Reason(Relu(), {MakeEdit("interchange")}), HasSubstr("already"));
}

TEST(ColumnFold, SharesAColumn) {
  EXPECT_THAT(Text(ColumnSum(), {MakeEdit("column_fold", {{"slices", 16}})}),
              HasSubstr("s_of_slice[threadIdx.y][threadIdx.x] = s;"));
}

TEST(ColumnFold, RefusesRows) {
  EXPECT_THAT(Reason(Gemv(), {MakeEdit("column_fold", {{"slices", 16}})}),
              HasSubstr("is a row fold"));
}

TEST(VectorWidth, ChecksAlignmentAtRunTime) {
  EXPECT_THAT(Text(Relu(), {MakeEdit("vector_width", {{"width", 4}})}),
              HasSubstr("reinterpret_cast<size_t>(x) % 16 == 0"));
  EXPECT_THAT(Text(BiasGelu(), {MakeEdit("vector_width", {{"width", 4}})}),
              HasSubstr("cols % 4 == 0"));
}

TEST(VectorWidth, RefusesWhatCanNeverBeAligned) {
  KernelCase shifted = With(Relu(), "fmaxf(x[i], 0.0f)", "fmaxf(x[2 * i], 0.0f)");
  shifted = With(shifted, "y[i] =", "y[3 * i] =");
  EXPECT_THAT(Reason(shifted, {MakeEdit("vector_width", {{"width", 4}})}), Not(IsEmpty()));
}

TEST(VectorWidth, RefusesMoreThanSixteenBytes) {
  EXPECT_THAT(Reason(Relu(), {MakeEdit("vector_width", {{"width", 8}})}), HasSubstr("16 bytes"));
}

TEST(VectorWidth, NeedsTheRowsThreads) {
  EXPECT_THAT(Reason(Softmax(), {MakeEdit("vector_width", {{"width", 4}})}),
              HasSubstr("needs row_fold"));
}

TEST(VectorWidth, LeavesConditionalLoadsAlone) {
  KernelCase guarded = With(Relu(), "fmaxf(x[i], 0.0f)", "i > 3 ? x[i - 4] : 0.0f");
  const std::string text = Text(guarded, {MakeEdit("vector_width", {{"width", 4}})});
  EXPECT_THAT(text, Not(HasSubstr("x_pack")));
  EXPECT_THAT(text, HasSubstr("y_pack"));
}

TEST(Coarsen, ReadsSeveralPacksFirst) {
  EXPECT_THAT(
      Text(Relu(), {MakeEdit("vector_width", {{"width", 4}}), MakeEdit("coarsen", {{"items", 4}})}),
      HasSubstr("Pack<float, kWidth> x_pack[kItems];"));
}

TEST(Coarsen, RefusesRowsThatAreNotJoined) {
  EXPECT_THAT(Reason(BiasGelu(), {MakeEdit("coarsen", {{"items", 4}})}), HasSubstr("flatten"));
}

TEST(TileShared, StagesBothOperands) {
  const std::string text =
      Text(MatMul(), {MakeEdit("tile_shared", {{"m", 32}, {"n", 32}, {"k", 32}})});
  EXPECT_THAT(text, HasSubstr("__shared__ float A_tile[kTileK][kTileM + 4];"));
  EXPECT_THAT(text, HasSubstr("__shared__ float B_tile[kTileK][kTileN];"));
}

TEST(TileShared, RefusesWhatDoesNotFit) {
  EXPECT_THAT(Reason(MatMul(), {MakeEdit("tile_shared", {{"m", 128}, {"n", 128}, {"k", 16}})}),
              HasSubstr("threads a block"));
  EXPECT_THAT(Reason(MatMul(), {MakeEdit("tile_shared", {{"m", 48}, {"n", 32}, {"k", 32}})}),
              HasSubstr("allowed"));
}

TEST(RegisterTile, NeedsSharedTiles) {
  EXPECT_THAT(Reason(MatMul(), {MakeEdit("register_tile", {{"m", 4}, {"n", 4}})}),
              HasSubstr("needs tile_shared"));
}

TEST(RegisterTile, KeepsResultsInRegisters) {
  EXPECT_THAT(Text(MatMul(), {MakeEdit("tile_shared", {{"m", 32}, {"n", 32}, {"k", 32}}),
                              MakeEdit("register_tile", {{"m", 4}, {"n", 4}})}),
              HasSubstr("float acc_tile[4][4] = {};"));
}

TEST(RegisterTile, RefusesTooManyRegisters) {
  EXPECT_THAT(
      Reason(MatMul(),
             {MakeEdit("register_tiled",
                       {{"m", 256}, {"n", 256}, {"k", 8}, {"thread_m", 16}, {"thread_n", 16}})}),
      HasSubstr("registers"));
}

TEST(DoubleBuffer, HasOneBarrierPerTile) {
  const std::string text =
      Text(MatMul(),
           {MakeEdit("tile_shared", {{"m", 32}, {"n", 32}, {"k", 32}}), MakeEdit("double_buffer")});
  EXPECT_THAT(text, HasSubstr("A_tile[2][kTileK]"));
}

TEST(DoubleBuffer, NeedsTiles) {
  EXPECT_THAT(Reason(MatMul(), {MakeEdit("double_buffer")}), HasSubstr("needs tile_shared"));
}

TEST(TurnTile, PadsTheTile) {
  EXPECT_THAT(Text(Transpose(), {MakeEdit("turn_tile", {{"tile", 32}, {"rows", 8}})}),
              HasSubstr("__shared__ float in_tile[kTile][kTile + 1];"));
}

TEST(TurnTile, RefusesMaps) {
  EXPECT_THAT(Reason(Relu(), {MakeEdit("turn_tile", {{"tile", 32}, {"rows", 8}})}),
              HasSubstr("is a map"));
}

TEST(TurnTile, RefusesInPlace) {
  KernelCase in_place = With(Transpose(), "(in, out, rows, cols);", "(out, out, rows, cols);");
  EXPECT_THAT(Reason(in_place, {MakeEdit("turn_tile", {{"tile", 32}, {"rows", 8}})}),
              HasSubstr("overlap"));
}

TEST(RegisterWindow, SplitsInteriorFromBorder) {
  const std::string text =
      Text(Jacobi(), {MakeEdit("register_window", {{"columns", 4}, {"rows", 2}})});
  EXPECT_THAT(text, HasSubstr("float in_window[4][6];"));
}

TEST(RegisterWindow, RefusesOnePointAndHugeWindows) {
  EXPECT_THAT(Reason(Jacobi(), {MakeEdit("register_window", {{"columns", 1}, {"rows", 1}})}),
              HasSubstr("one point"));
  EXPECT_THAT(Reason(Relu(), {MakeEdit("register_window", {{"columns", 4}, {"rows", 1}})}),
              HasSubstr("is a map"));
}

TEST(KeepRow, ReadsTheRowOnce) {
  const std::string text = Text(
      Softmax(), {MakeEdit("row_fold", {{"threads", 128}}),
                  MakeEdit("vector_width", {{"width", 4}}), MakeEdit("keep_row", {{"items", 2}})});
  EXPECT_THAT(text, HasSubstr("Pack<float, kWidth> x_row[kItems];"));
  EXPECT_THAT(text, HasSubstr("softmax_kernel_long_rows"));
}

TEST(KeepRow, RefusesRowsThatAreReadOnceOrDoNotFit) {
  EXPECT_THAT(Reason(Gemv(), {MakeEdit("row_fold", {{"threads", 128}}),
                              MakeEdit("keep_row", {{"items", 8}})}),
              HasSubstr("read twice"));
  EXPECT_THAT(Reason(Softmax(), {MakeEdit("row_fold", {{"threads", 128}}),
                                 MakeEdit("keep_row", {{"items", 2}})}),
              HasSubstr("a row has 1024"));
}

// In place: what the registers hold is not what the row holds any more.
TEST(KeepRow, RefusesRowsThatAreStoredBetweenTheReads) {
  KernelCase kernel = {"f",
                       R"(
__global__ void f_kernel(float* x, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* in = x + row * cols;
  float s = 0.0f;
  for (int c = 0; c < cols; c++) s += in[c];
  for (int c = 0; c < cols; c++) in[c] = in[c] - s;
  float q = 0.0f;
  for (int c = 0; c < cols; c++) q += in[c] * in[c];
  for (int c = 0; c < cols; c++) in[c] = in[c] / q;
}
extern "C" void f(float* x, int rows, int cols) {
  f_kernel<<<(rows + 127) / 128, 128>>>(x, rows, cols);
}
)",
                       {Bytes(4 << 20), Integer(1024), Integer(1024)}};
  const std::vector<Edit> chain = {MakeEdit("row_fold", {{"threads", 256}}),
                                   MakeEdit("vector_width", {{"width", 4}}),
                                   MakeEdit("keep_row", {{"items", 1}})};
  EXPECT_THAT(Reason(kernel, chain), HasSubstr("no element of the row is read twice"));
}

TEST(LaunchBounds, NamesTheBlocks) {
  EXPECT_THAT(Text(Softmax(), {MakeEdit("row_fold", {{"threads", 256}}),
                               MakeEdit("launch_bounds", {{"blocks", 4}})}),
              HasSubstr("__launch_bounds__(256, 4)"));
}

TEST(LaunchBounds, RefusesMoreThreadsThanAMultiprocessorHolds) {
  EXPECT_THAT(Reason(Softmax(), {MakeEdit("row_fold", {{"threads", 1024}}),
                                 MakeEdit("launch_bounds", {{"blocks", 4}})}),
              HasSubstr("more than a multiprocessor holds"));
}

TEST(SplitFold, EndsInOneAtomicPerBlock) {
  const std::string text = Text(Dot(), {MakeEdit("split_fold", {{"blocks", 8}})});
  EXPECT_THAT(text, HasSubstr("if (threadIdx.x == 0) {\n    atomicAdd(&out[0], out_share);"));
}

TEST(SplitFold, RefusesScatters) {
  EXPECT_THAT(Reason(Histogram(), {MakeEdit("split_fold", {{"blocks", 8}})}),
              HasSubstr("is a scatter"));
}

TEST(FuseFolds, FindsBothTupleForms) {
  EXPECT_EQ(FindFusion(Make(Softmax()).facts->program)->kind, FusionKind::kOnlineExp);
  EXPECT_EQ(FindFusion(Make(SoftmaxByElement()).facts->program)->kind, FusionKind::kOnlineExp);
  EXPECT_EQ(FindFusion(Make(LayerNorm()).facts->program)->kind, FusionKind::kMoments);
}

TEST(FuseFolds, RefusesAnotherExponent) {
  KernelCase twice = With(Softmax(), "s += expf(in[c] - m)", "s += expf(2.0f * in[c] - m)");
  EXPECT_FALSE(FindFusion(Make(twice).facts->program).has_value());
  EXPECT_THAT(Reason(twice, {MakeEdit("row_fold", {{"threads", 128}}), MakeEdit("fuse_folds")}),
              HasSubstr("tuple form"));
}

TEST(FuseFolds, RefusesAMeanOfAnotherCount) {
  KernelCase unbiased =
      With(LayerNorm(), "float mean = sum / cols;", "float mean = sum / (cols - 1);");
  EXPECT_FALSE(FindFusion(Make(unbiased).facts->program).has_value());
}

TEST(Privatise, KeepsPlacesBeyondTheCopiesRight) {
  const std::string text = Text(Histogram(), {MakeEdit("privatise", {{"replicas", 8}})});
  EXPECT_THAT(text, HasSubstr("static_cast<unsigned int>(slot) < kBins"));
  EXPECT_THAT(text, HasSubstr("constexpr int kBins = 256;"));
}

TEST(Privatise, RefusesTargetsTooLargeForSharedMemory) {
  KernelCase large = Histogram();
  large.timed[1] = Bytes(1 << 20);
  EXPECT_THAT(Reason(large, {MakeEdit("privatise", {{"replicas", 8}})}),
              HasSubstr("bytes of shared memory"));
}

TEST(Transformations, HaveDistinctNamesAndClaims) {
  std::set<std::string> names;
  for (const Transformation& one : Transformations()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.code.empty()) << one.name;
    EXPECT_FALSE(one.claim.empty()) << one.name;
    EXPECT_NE(one.aims_at, Bound::kUnknown) << one.name;
  }
}

TEST(LaunchBounds, KeepsToTheDevicesMultiprocessor) {
  const std::vector<Edit> chain = {MakeEdit("row_fold", {{"threads", 256}}),
                                   MakeEdit("launch_bounds", {{"blocks", 8}})};
  EXPECT_EQ(Reason(Softmax(), chain), "");
  TargetLimits small;
  small.threads_per_multiprocessor = 1536;
  EXPECT_THAT(Reason(Softmax(), chain, small),
              HasSubstr("8 blocks of 256 threads are more than a multiprocessor holds (1536)"));
  TargetLimits narrow;
  narrow.registers_per_multiprocessor = 32 * 1024;
  EXPECT_THAT(Reason(Softmax(), chain, narrow), HasSubstr("it leaves 16 registers a thread"));
}

TEST(Privatise, LaunchesWhatTheDevicesMultiprocessorHolds) {
  const std::vector<Edit> chain = {MakeEdit("privatise", {{"replicas", 8}})};
  TargetLimits limits;
  const auto blocks_of = [&] {
    const std::string text = Make(Histogram(), limits).Apply(chain);
    const std::string head = "with at most ";
    const size_t at = text.find(head);
    return at == std::string::npos ? -1 : std::stoi(text.substr(at + head.size()));
  };
  const int blocks = blocks_of();
  EXPECT_GT(blocks, 1);
  limits.shared_bytes_per_multiprocessor /= 4;
  EXPECT_LT(blocks_of(), blocks);
  limits = {};
  limits.threads_per_multiprocessor = 256;
  EXPECT_EQ(blocks_of(), 1);
}

}  // namespace
}  // namespace optiml::rewrite::testing
