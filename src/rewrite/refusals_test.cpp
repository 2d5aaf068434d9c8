// What a rewrite must not be applied to, and why: near misses of the computations in spelled/ (a
// padded row, another exponent, a buffer that is passed twice), and schedules that do not fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <set>

#include "rewrite/spelled/spelled_kernels.h"

namespace optiml::rewrite::testing {
namespace {

using ::testing::HasSubstr;

struct RefusedCase {
  std::string name;
  KernelCase kernel;
  std::vector<Edit> chain;  // the last edit is the one that must be refused
  std::string reason;       // part of it
  TargetLimits limits = {};
};

void PrintTo(const RefusedCase& one, std::ostream* out) {
  *out << one.name;
}

KernelCase Spelled(const std::string& shape, const std::string& spelling = "early_return") {
  for (const Spelling& one : FindSpelledShape(shape).spellings) {
    if (one.name == spelling) {
      return CaseOf(FindSpelledShape(shape), one);
    }
  }
  ADD_FAILURE() << shape << " has no spelling " << spelling;
  return {};
}

// The kernel's text with one piece replaced, wherever it occurs.
KernelCase With(KernelCase kernel, const std::string& from, const std::string& to) {
  size_t at = kernel.text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = kernel.text.find(from, at + to.size())) {
    kernel.text.replace(at, from.size(), to);
  }
  return kernel;
}

// y[r] is the sum of row r, which is read once.
KernelCase RowSum() {
  return {"run",
          R"(
__global__ void k(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0.0f;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
extern "C" void run(const float* x, float* y, int rows, int cols) {
  k<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
)",
          {Bytes(4 << 20), Bytes(4 << 10), Integer(1024), Integer(1024)}};
}

// The sum of a matrix whose rows are `pitch` apart.
KernelCase PaddedSum() {
  return {"run",
          R"(
__global__ void k(const float* x, float* out, int rows, int cols, int pitch) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (r < rows && c < cols) atomicAdd(out, x[r * pitch + c]);
}
extern "C" void run(const float* x, float* out, int rows, int cols, int pitch) {
  cudaMemset(out, 0, sizeof(float));
  k<<<dim3((cols + 255) / 256, rows), 256>>>(x, out, rows, cols, pitch);
}
)",
          {Bytes(8 << 20), Bytes(4), Integer(1024), Integer(1024), Integer(1056)}};
}

KernelCase WithBins(KernelCase kernel, int64_t bins) {
  kernel.timed[1] = Bytes(static_cast<double>(bins) * 4);
  kernel.timed[3] = Integer(static_cast<double>(bins));
  return kernel;
}

TargetLimits Limits(const std::function<void(TargetLimits&)>& change) {
  TargetLimits limits;
  change(limits);
  return limits;
}
TargetLimits FixedOrder() {
  return Limits([](TargetLimits& limits) { limits.allows_reassociation = false; });
}
TargetLimits SmallShared() {
  return Limits([](TargetLimits& limits) { limits.shared_bytes_default = 1024; });
}

Edit RowFold(int64_t threads) {
  return MakeEdit("row_fold", {{"threads", threads}});
}
Edit Tiles(int64_t m, int64_t n, int64_t k) {
  return MakeEdit("tile_shared", {{"m", m}, {"n", n}, {"k", k}});
}

std::vector<RefusedCase> RefusedMaps() {
  const Edit flatten = MakeEdit("flatten");
  const Edit interchange = MakeEdit("interchange");
  const auto block = [](int64_t threads) { return MakeEdit("block_size", {{"threads", threads}}); };
  const auto width = [](int64_t of) { return MakeEdit("vector_width", {{"width", of}}); };
  const auto items = [](int64_t of) { return MakeEdit("coarsen", {{"items", of}}); };
  const KernelCase padded = With(Spelled("scale_rows"), "x[r * cols + c]", "x[r * (cols + 8) + c]");
  const KernelCase strided = With(With(Spelled("axpb"), "y[i]", "y[3 * i]"), "x[i]", "x[2 * i]");
  return {
      {"flatten_padded_rows", padded, {flatten}, "does not run through memory in the order"},
      {"flatten_one_dim", Spelled("axpb"), {flatten}, "one dim already"},
      {"flatten_row_fold", Spelled("softmax"), {flatten}, "k is a row fold"},
      {"block_size_odd", Spelled("axpb"), {block(100)}, "threads 100 (allowed: 64"},
      {"block_size_of_a_small_device",
       Spelled("axpb"),
       {block(512)},
       "a block has at most 256 threads",
       Limits([](TargetLimits& limits) { limits.threads_per_block = 256; })},
      {"block_size_of_rows",
       Spelled("softmax"),
       {RowFold(128), block(256)},
       "row_fold decides the size of a block"},
      {"interchange_coalesced",
       Spelled("axpb"),
       {interchange},
       "neighbouring threads run along contiguous memory already"},
      {"interchange_strided",
       With(Spelled("row_map"), "[r * cols + c]", "[2 * (r * cols + c)]"),
       {interchange},
       "no dim is contiguous in memory"},
      {"interchange_transposition",
       Spelled("transpose", "thread_a_row"),
       {interchange},
       "k is a transpos"},
      {"vector_width_strided", strided, {width(4)}, "no access is contiguous"},
      {"vector_width_too_wide", Spelled("axpb"), {width(8)}, "8 elements are more than 16 bytes"},
      {"vector_width_of_a_threads_row", Spelled("softmax"), {width(4)}, "needs row_fold before it"},
      {"vector_width_odd_rows",
       With(RowSum(), "c < cols", "c < 1023"),
       {RowFold(128), width(4)},
       "the extent of c is no multiple of 4"},
      {"coarsen_padded_rows", padded, {items(4)}, "needs flatten before it"},
      {"coarsen_three", Spelled("axpb"), {items(3)}, "items 3 (allowed: 2 4 8)"},
      {"coarsen_atomics", Spelled("sum"), {items(4)}, "needs split_fold before it"},
      {"coarsen_rows", Spelled("softmax"), {RowFold(128), items(4)}, "k is a row fold"}};
}

std::vector<RefusedCase> RefusedRows() {
  const Edit fuse = MakeEdit("fuse_folds");
  const auto keep = [](int64_t items) { return MakeEdit("keep_row", {{"items", items}}); };
  const auto blocks = [](int64_t of) { return MakeEdit("launch_bounds", {{"blocks", of}}); };
  const auto columns = [](int64_t of) { return MakeEdit("column_fold", {{"slices", of}}); };
  return {{"row_fold_in_place",
           With(Spelled("softmax"), "(x, y, rows", "(y, y, rows"),
           {RowFold(128)},
           "a written buffer may overlap another one"},
          {"row_fold_fixed_order",
           Spelled("normalise"),
           {RowFold(128)},
           "regroups float sums",
           FixedOrder()},
          {"row_fold_contraction", Spelled("matmul"), {RowFold(128)}, "k is a contraction"},
          {"column_fold_in_place",
           With(Spelled("column_sum"), "(x, y, rows", "(y, y, rows"),
           {columns(16)},
           "a written buffer may overlap another one"},
          {"column_fold_fixed_order",
           Spelled("column_sum"),
           {columns(16)},
           "regroups float sums",
           FixedOrder()},
          {"column_fold_rows", RowSum(), {columns(16)}, "k is a row fold"},
          {"keep_row_of_one_thread", Spelled("softmax"), {keep(4)}, "needs row_fold before it"},
          {"keep_row_read_once",
           RowSum(),
           {RowFold(256), keep(4)},
           "no element of the row is read twice"},
          {"keep_row_too_long",
           Spelled("softmax"),
           {RowFold(128), keep(2)},
           "the threads hold 256 elements, a row has 1024"},
          {"keep_row_of_two_lengths",
           With(Spelled("softmax"), "for (int c = 0; c < cols; ++c) s",
                "for (int c = 3; c < cols; ++c) s"),
           {RowFold(256), keep(4)},
           "the passes have different lengths"},
          {"launch_bounds_alone", Spelled("softmax"), {blocks(4)}, "needs another edit before it"},
          {"launch_bounds_too_many_threads",
           Spelled("softmax"),
           {RowFold(1024), blocks(4)},
           "4 blocks of 1024 threads are more than a multiprocessor holds"},
          {"launch_bounds_too_few_registers",
           Spelled("softmax"),
           {RowFold(256), blocks(8)},
           "it leaves 16 registers a thread",
           Limits([](TargetLimits& limits) { limits.registers_per_multiprocessor = 32 * 1024; })},
          {"fuse_folds_of_one_thread", Spelled("softmax"), {fuse}, "needs row_fold before it"},
          {"fuse_folds_another_exponent",
           With(Spelled("softmax"), "s += expf(x[r * cols + c] - m)",
                "s += expf(2.0f * x[r * cols + c] - m)"),
           {RowFold(128), fuse},
           "no two folds have a known tuple form"},
          {"fuse_folds_mean_of_another_count",
           With(Spelled("normalise"), "float mean = s / cols", "float mean = s / (cols - 1)"),
           {RowFold(128), fuse},
           "no two folds have a known tuple form"}};
}

std::vector<RefusedCase> RefusedAtomics() {
  const auto split = [](int64_t blocks) { return MakeEdit("split_fold", {{"blocks", blocks}}); };
  const auto bins = [](int64_t copies) { return MakeEdit("privatise", {{"replicas", copies}}); };
  const KernelCase histogram = Spelled("histogram");
  const KernelCase floats =
      With(With(histogram, "int* counts", "float* counts"), ", 1);", ", 1.0f);");
  return {
      {"split_fold_into_the_input",
       With(Spelled("sum"), "(x, out, n);", "(out, out, n);"),
       {split(8)},
       "out may overlap another buffer"},
      {"split_fold_padded_rows",
       PaddedSum(),
       {split(8)},
       "does not run through memory in the order"},
      {"split_fold_fixed_order", Spelled("sum"), {split(8)}, "regroups float sums", FixedOrder()},
      {"split_fold_scatter", histogram, {split(8)}, "k is a scatter"},
      {"split_fold_three", Spelled("sum"), {split(3)}, "blocks 3 (allowed: 1 2 4 8 16)"},
      {"privatise_too_many_bins",
       WithBins(histogram, 1 << 16),
       {bins(1)},
       "262144 bytes of shared memory (at most 49152)"},
      {"privatise_maximum",
       With(histogram, "atomicAdd(&counts[b], 1)", "atomicMax(&counts[b], i)"),
       {bins(8)},
       "only sums are privatised"},
      {"privatise_wide_counts",
       With(With(histogram, "int* counts", "double* counts"), ", 1);", ", 1.0);"),
       {bins(8)},
       "counts has no fast atomic in shared memory"},
      {"privatise_into_the_input",
       With(histogram, "(x, counts, n, bins);", "(counts, counts, n, bins);"),
       {bins(8)},
       "may overlap another buffer"},
      {"privatise_fixed_order", floats, {bins(8)}, "regroups float sums", FixedOrder()},
      {"privatise_one_place", Spelled("sum"), {bins(8)}, "k is a "}};
}

std::vector<RefusedCase> RefusedTiles() {
  const auto results = [](int64_t m, int64_t n) {
    return MakeEdit("register_tile", {{"m", m}, {"n", n}});
  };
  const auto turn = [](int64_t tile) {
    return MakeEdit("turn_tile", {{"tile", tile}, {"rows", 8}});
  };
  const auto window = [](int64_t columns, int64_t rows) {
    return MakeEdit("register_window", {{"columns", columns}, {"rows", rows}});
  };
  const Edit buffers = MakeEdit("double_buffer");
  return {
      {"tile_shared_in_place",
       With(Spelled("matmul"), "(A, B, C, M, N, K);", "(C, B, C, M, N, K);"),
       {Tiles(32, 32, 32)},
       "the result may overlap an operand"},
      {"tile_shared_too_many_threads",
       Spelled("matmul"),
       {Tiles(128, 128, 16)},
       "16384 threads a block"},
      {"tile_shared_little_memory",
       Spelled("matmul"),
       {Tiles(32, 32, 32)},
       "9216 bytes of shared memory (at most 1024)",
       SmallShared()},
      {"turn_tile_in_place",
       With(Spelled("transpose"), "(x, y, rows", "(y, y, rows"),
       {turn(32)},
       "a written buffer may overlap another one"},
      {"turn_tile_little_memory",
       Spelled("transpose"),
       {turn(32)},
       "4224 bytes of shared memory (at most 1024)",
       SmallShared()},
      {"turn_tile_map", Spelled("scale_rows"), {turn(32)}, "k is a map"},
      {"double_buffer_without_tiles", Spelled("matmul"), {buffers}, "needs tile_shared before it"},
      {"double_buffer_too_large",
       Spelled("matmul"),
       {Tiles(128, 128, 32), results(8, 8), buffers},
       "67584 bytes of shared memory"},
      {"register_tile_without_tiles",
       Spelled("matmul"),
       {results(4, 4)},
       "needs tile_shared before it"},
      {"register_tile_too_few_threads",
       Spelled("matmul"),
       {Tiles(32, 32, 32), results(16, 16)},
       "4 threads a block"},
      {"register_tile_too_many_registers",
       Spelled("matmul"),
       {Tiles(256, 256, 8), results(8, 8), results(16, 16)},
       "about 396 registers a thread"},
      {"register_window_one_point",
       Spelled("blur"),
       {window(1, 1)},
       "one point a thread is no block of points"},
      {"register_window_too_large",
       Spelled("blur"),
       {window(8, 8)},
       "164 registers for the window (at most 128)"},
      {"register_window_in_place",
       With(Spelled("blur"), "(x, y, rows", "(y, y, rows"),
       {window(4, 2)},
       "a written buffer may overlap the window"},
      {"register_window_map", Spelled("axpb"), {window(4, 1)}, "k is a map"}};
}

std::vector<RefusedCase> AllRefused() {
  std::vector<RefusedCase> all = RefusedMaps();
  for (const std::vector<RefusedCase>& more : {RefusedRows(), RefusedAtomics(), RefusedTiles()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

class Refusals : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(Refusals, AreNotOfferedAndSayWhy) {
  const RefusedCase& one = GetParam();
  const Made made = Make(one.kernel, one.limits);
  ASSERT_TRUE(made.catalogue->Lifted()[0].lifted) << made.catalogue->Lifted()[0].detail;
  EXPECT_THAT(made.Refusal(one.chain), HasSubstr(one.reason));
  // It is the last edit that is refused, not what it needs.
  const std::vector<Edit> before(one.chain.begin(), one.chain.end() - 1);
  EXPECT_EQ(made.Refusal(before), "");
  for (const Edit& edit : made.catalogue->Propose(before, nullptr)) {
    EXPECT_NE(edit.Label(), one.chain.back().Label());
  }
}

INSTANTIATE_TEST_SUITE_P(Rewrites, Refusals, ::testing::ValuesIn(AllRefused()),
                         [](const auto& one) { return one.param.name; });

TEST(RefusedCases, GiveEveryPrimitiveTwoReasons) {
  for (const Transformation& one : Transformations()) {
    std::set<std::string> reasons;
    for (const RefusedCase& refused : AllRefused()) {
      if (refused.chain.back().rewrite == one.name) {
        reasons.insert(refused.reason);
      }
    }
    EXPECT_GE(reasons.size(), 2u) << one.name;
  }
}

}  // namespace
}  // namespace optiml::rewrite::testing
