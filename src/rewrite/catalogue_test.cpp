#include "rewrite/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rewrite/catalogue_test_kernels.h"
#include "rewrite/catalogue_test_support.h"

namespace optiml::rewrite::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Labels(const std::vector<Edit>& edits) {
  std::vector<std::string> labels;
  for (const Edit& edit : edits) {
    labels.push_back(edit.Label());
  }
  return labels;
}

TEST(Catalogue, OffersAHandfulOfDistinctEditsThatAllApply) {
  for (const KernelCase& kernel : AllKernels()) {
    SCOPED_TRACE(kernel.entry);
    const Made made = Make(kernel);
    const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
    EXPECT_GE(edits.size(), 4u);
    EXPECT_LE(edits.size(), 15u);
    std::set<std::string> texts;
    for (const Edit& edit : edits) {
      EXPECT_FALSE(edit.summary.empty());
      EXPECT_FALSE(edit.claim.empty());
      EXPECT_GT(edit.prior, 0);
      texts.insert(made.Apply({edit}));
    }
    // A sketch may spell the same schedule as a single primitive, but not most of them.
    EXPECT_GE(2 * texts.size(), edits.size());
  }
}

TEST(Catalogue, IsDeterministic) {
  const Made made = Make(MatMul());
  const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
  EXPECT_EQ(Labels(edits), Labels(made.catalogue->Propose({}, nullptr)));
  EXPECT_EQ(made.Apply({edits[0]}), made.Apply({edits[0]}));
}

TEST(Catalogue, ChainsEnd) {
  const Made made = Make(Softmax());
  std::vector<Edit> chain;
  // The first edit of each node: labels never repeat, so a chain cannot go on for ever.
  constexpr size_t kFar = 100;
  std::vector<Edit> edits = made.catalogue->Propose(chain, nullptr);
  while (!edits.empty() && chain.size() < kFar) {
    chain.push_back(edits[0]);
    edits = made.catalogue->Propose(chain, nullptr);
  }
  EXPECT_GT(chain.size(), 1u);
  EXPECT_LT(chain.size(), kFar);
}

TEST(Catalogue, EditWithoutWhatItNeedsIsRefusedByName) {
  EXPECT_THAT(Make(Softmax()).Refusal({MakeEdit("keep_row", {{"items", 4}})}),
              HasSubstr("keep_row(items=4): needs row_fold"));
  EXPECT_THAT(Make(Softmax()).Refusal({MakeEdit("no_such_thing")}), HasSubstr("no_such_thing"));
  EXPECT_THAT(Make(Relu()).Refusal({MakeEdit("row_on_chip")}), HasSubstr("is a map"));
}

TEST(Catalogue, DiagnosisMovesPriors) {
  const Made made = Make(MatMul());
  Diagnosis compute;
  compute.bound = Bound::kCompute;
  const auto prior = [&](const Diagnosis* diagnosis) {
    for (const Edit& edit : made.catalogue->Propose({}, diagnosis)) {
      if (edit.rewrite == "register_tiled") {
        return edit.prior;
      }
    }
    return 0.0;
  };
  EXPECT_GT(prior(&compute), prior(nullptr));
}

std::string WithReturns(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '\n' ? "\r\n" : std::string(1, c);
  }
  return result;
}

TEST(Catalogue, LineEndsStayThoseOfTheSource) {
  // One whose kernel is replaced, one that gets edits of its text.
  KernelCase unlifted = Relu();
  unlifted.text.replace(unlifted.text.find("fmaxf(x[i], 0.0f)"), 17,
                        "x[i]; __syncthreads(); for (int j = 0; j < n; ++j) y[i] += 1.0f");
  for (const KernelCase& kernel : {Relu(), BiasGelu(), Softmax(), unlifted}) {
    KernelCase windows = kernel;
    windows.text = WithReturns(kernel.text);
    const Made made = Make(windows);
    const Made plain = Make(kernel);
    const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
    ASSERT_FALSE(edits.empty()) << kernel.entry;
    for (const Edit& edit : edits) {
      EXPECT_EQ(made.Apply({edit}), WithReturns(plain.Apply({edit})))
          << kernel.entry << " " << edit.Label();
    }
  }
}

TEST(Catalogue, AByteOrderMarkStaysBeforeTheResult) {
  const std::string mark = "\xEF\xBB\xBF";
  KernelCase marked = Relu();
  marked.text = "// What the file is.\n" + marked.text.substr(1);  // right before the kernel
  const Made plain = Make(marked);
  marked.text = mark + marked.text;
  const Made made = Make(marked);
  const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
  ASSERT_FALSE(edits.empty());
  for (const Edit& edit : edits) {
    EXPECT_EQ(made.Apply({edit}), mark + plain.Apply({edit})) << edit.Label();
  }
}

TEST(Catalogue, EmptyChainIsTheRoot) {
  const Made made = Make(Relu());
  EXPECT_EQ(made.Apply({}), made.source.text());
}

TEST(Catalogue, KeepsEverythingAroundTheKernel) {
  KernelCase kernel = Relu();
  kernel.text = "// licence of the file\n\n#include <stdio.h>\n" + kernel.text + "// the end\n";
  const std::string text = Make(kernel).Apply({MakeEdit("vector_width", {{"width", 4}})});
  EXPECT_THAT(text, ::testing::StartsWith("// licence of the file\n\n#include <stdio.h>\n"));
  EXPECT_THAT(text, ::testing::EndsWith("// the end\n"));
}

TEST(Catalogue, NamesTheKernelWhereThereAreTwo) {
  KernelCase two = {"two",
                    R"(
__global__ void first(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}
__global__ void second(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
extern "C" void two(const float* x, float* t, float* y, int n) {
  first<<<(n + 255) / 256, 256>>>(x, t, n);
  second<<<(n + 255) / 256, 256>>>(t, y, n);
}
)",
                    {Bytes(4096), Bytes(4096), Bytes(4096), Integer(1024)}};
  const Made made = Make(two);
  const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
  ASSERT_FALSE(edits.empty());
  const std::string text = made.Apply({MakeEdit("vector_width", {{"width", 4}, {"kernel", 0}}),
                                       MakeEdit("vector_width", {{"width", 4}, {"kernel", 1}})});
  EXPECT_THAT(text, HasSubstr("launch_first(x, t, n);"));
  EXPECT_THAT(text, HasSubstr("launch_second(t, y, n);"));
  // The pack is defined once.
  EXPECT_EQ(text.find("struct alignas"), text.rfind("struct alignas"));
  for (const Edit& edit : edits) {
    EXPECT_EQ(edit.parameters.count("kernel"), 1u);
  }
}

TEST(Catalogue, RefusesAModelsEditInAChain) {
  Edit edit;
  edit.origin = EditOrigin::kModel;
  EXPECT_THAT(Make(Relu()).Refusal({edit}), HasSubstr("lift the result anew"));
}

TEST(Catalogue, KernelThatIsNotLiftedGetsTextEdits) {
  KernelCase shared = {"shared",
                       R"(
__global__ void shared_kernel(const float* x, float* y, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  float s = 0.0f;
  for (int k = 0; k < 256; ++k) s += tile[k];
  if (i < n) y[i] = s;
}
extern "C" void shared(const float* x, float* y, int n) {
  shared_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
)",
                       {Bytes(4096), Bytes(4096), Integer(1024)}};
  const Made made = Make(shared);
  EXPECT_FALSE(made.catalogue->Lifted()[0].lifted);
  EXPECT_FALSE(made.catalogue->Lifted()[0].detail.empty());
  const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
  ASSERT_FALSE(edits.empty());
  EXPECT_EQ(edits[0].origin, EditOrigin::kTextRewrite);
  EXPECT_TRUE(std::holds_alternative<ApplyRefusal>(made.catalogue->Identity()));
}

TEST(Catalogue, TextEditsKeepToEveryLaunchAndToEachOther) {
  const KernelCase kernel = {"shared",
                             R"(
__global__ void shared_kernel(float* y) {
  __shared__ float tile[1];
  y[threadIdx.x] = tile[0];
}
extern "C" void shared(float* y, int n) {
  int block = 64;
  if (n > 64) shared_kernel<<<1, n>>>(y);
  shared_kernel<<<1, block>>>(y);
}
)",
                             {Bytes(4096), Integer(64)}};
  const KernelSource source(kernel.text, "shared", "shared.cu");
  const ast::SourceUnit unit = Parse(source);
  KernelTask task;
  task.source = source;
  const LaunchPlan timed = PlanOf(unit, "shared", kernel.timed);
  const LaunchPlan checked = PlanOf(unit, "shared", {Bytes(4096), Integer(100)});
  const auto text_edit = [](const std::string& name, const std::map<std::string, int64_t>& holes) {
    Edit edit = MakeEdit(name, holes);
    edit.origin = EditOrigin::kTextRewrite;
    return edit;
  };
  const auto text = [&](const std::vector<LaunchPlan>& checked_plans) {
    const auto made = *MakeCatalogue(task, unit, {timed}, {}, {}, checked_plans);
    const std::vector<Edit> chain = {text_edit("bounds", {})};
    return std::get<KernelSource>(made->Apply(chain)).text();
  };
  EXPECT_THAT(text({}), HasSubstr("__launch_bounds__(64)"));
  EXPECT_THAT(text({checked}), HasSubstr("__launch_bounds__(100)"));

  KernelCase one = kernel;
  one.text.erase(one.text.find("  if (n > 64)"),
                 one.text.find("  shared_kernel<<<1, block") - one.text.find("  if (n > 64)"));
  const Made made = Make(one);
  const auto offered = [&](const std::vector<Edit>& chain) {
    std::set<std::string> names;
    for (const Edit& edit : made.catalogue->Propose(chain, nullptr)) {
      names.insert(edit.rewrite);
    }
    return names;
  };
  EXPECT_TRUE(offered({}).contains("threads") && offered({}).contains("bounds"));
  EXPECT_FALSE(offered({text_edit("bounds", {})}).contains("threads"));
  EXPECT_FALSE(offered({text_edit("threads", {{"threads", 128}})}).contains("bounds"));
}

TEST(Catalogue, KernelsThatShareTheirBlockSizeChangeItOnce) {
  const Made made = Make({"twice",
                          R"(
__global__ void first(float* y) {
  __shared__ float tile[1];
  y[threadIdx.x] = tile[0];
}
__global__ void second(float* y) {
  __shared__ float tile[1];
  y[threadIdx.x] = tile[0];
}
extern "C" void twice(float* y) {
  int block = 64;
  first<<<1, block>>>(y);
  second<<<1, block>>>(y);
}
)",
                          {Bytes(4096)}});
  const auto threads = [](int64_t kernel, int64_t count) {
    Edit edit = MakeEdit("threads", {{"kernel", kernel}, {"threads", count}});
    edit.origin = EditOrigin::kTextRewrite;
    return edit;
  };
  const auto kernels_offered = [&](const std::vector<Edit>& chain) {
    std::set<int64_t> kernels;
    for (const Edit& edit : made.catalogue->Propose(chain, nullptr)) {
      if (edit.rewrite == "threads") {
        kernels.insert(edit.parameters.at("kernel"));
      }
    }
    return kernels;
  };
  EXPECT_EQ(kernels_offered({}), (std::set<int64_t>{0, 1}));
  EXPECT_TRUE(kernels_offered({threads(0, 128)}).empty());
  const std::vector<Edit> chain = {threads(0, 128), threads(1, 256)};
  const ApplyOutcome outcome = made.catalogue->Apply(chain);
  ASSERT_TRUE(std::holds_alternative<ApplyRefusal>(outcome));
  EXPECT_THAT(std::get<ApplyRefusal>(outcome).reason, HasSubstr("changes the same text"));
  EXPECT_TRUE(made.catalogue->Propose(chain, nullptr).empty());
}

TEST(Catalogue, PlacesComputedFromAFloatAreAScatterAndNoFullFold) {
  const Made made = Make(FloatHistogram());
  EXPECT_NE(made.Refusal({MakeEdit("grid_fold", {{"blocks", 8}, {"width", 4}, {"items", 4}})}), "");
  const std::string text =
      made.Apply({MakeEdit("private_bins", {{"replicas", 32}, {"width", 4}, {"items", 2}})});
  EXPECT_THAT(text, HasSubstr("__shared__ int counts_copies"));
  Parse(KernelSource(text, "float_histogram", "float_histogram.cu"));
}

TEST(Catalogue, RefusesLaunchesSpelledByMacros) {
  KernelCase macro = Relu();
  macro.text = R"(
#define RUN(k, n, ...) k<<<((n) + 255) / 256, 256>>>(__VA_ARGS__)
__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" void relu(const float* x, float* y, int n) { RUN(relu_kernel, n, x, y, n); }
)";
  const Made made = Make(macro);
  EXPECT_FALSE(made.catalogue->Lifted()[0].lifted);
  EXPECT_THAT(made.catalogue->Lifted()[0].detail, HasSubstr("macro"));
}

// The text that people read; OPTIML_UPDATE_GOLDEN=1 writes the files.
TEST(EmittedText, IsWhatTheFilesOfTestdataShow) {
  ExpectGolden(Make(Relu()).Apply({MakeEdit("streaming_map", {{"width", 4}, {"items", 2}})}),
               "relu_streaming.cu");
  ExpectGolden(Make(BiasGelu()).Apply({MakeEdit("vector_width", {{"width", 4}})}),
               "bias_gelu_vectors.cu");
  ExpectGolden(Make(Softmax()).Apply(
                   {MakeEdit("row_on_chip", {{"threads", 128}, {"width", 4}, {"items", 2}})}),
               "softmax_on_chip.cu");
  ExpectGolden(Make(Softmax()).Apply({MakeEdit("row_streaming", {{"threads", 128}, {"width", 4}})}),
               "softmax_streaming.cu");
  ExpectGolden(
      Make(LayerNorm()).Apply({MakeEdit("row_streaming", {{"threads", 128}, {"width", 4}})}),
      "layer_norm_streaming.cu");
  ExpectGolden(
      Make(Dot()).Apply({MakeEdit("grid_fold", {{"blocks", 8}, {"width", 4}, {"items", 4}})}),
      "dot_grid_fold.cu");
  ExpectGolden(
      Make(Histogram())
          .Apply({MakeEdit("private_bins", {{"replicas", 32}, {"width", 4}, {"items", 2}})}),
      "histogram_private.cu");
  ExpectGolden(Make(MatMul()).Apply({MakeEdit(
                   "register_tiled",
                   {{"m", 128}, {"n", 128}, {"k", 16}, {"thread_m", 8}, {"thread_n", 8}})}),
               "matmul_register_tiled.cu");
  ExpectGolden(
      Make(BatchedTransposedMatMul())
          .Apply({MakeEdit("register_tiled",
                           {{"m", 64}, {"n", 64}, {"k", 16}, {"thread_m", 4}, {"thread_n", 4}})}),
      "batched_matmul_register_tiled.cu");
  ExpectGolden(Make(Transpose()).Apply({MakeEdit("turn_tile", {{"tile", 32}, {"rows", 8}})}),
               "transpose_turned.cu");
  ExpectGolden(Make(AddTransposed()).Apply({MakeEdit("turn_tile", {{"tile", 32}, {"rows", 8}})}),
               "symmetrise_turned.cu");
  ExpectGolden(Make(Jacobi()).Apply({MakeEdit("register_window", {{"columns", 4}, {"rows", 2}})}),
               "jacobi_window.cu");
  ExpectGolden(Make(ColumnSum()).Apply({MakeEdit("column_fold", {{"slices", 16}})}),
               "column_sum_fold.cu");
  ExpectGolden(Make(AwkwardNames()).Apply({MakeEdit("vector_width", {{"width", 4}})}),
               "awkward_names.cu");
}

// The kernel alone, launched by the task as the launcher would have launched it.
Made WithoutLauncher(KernelCase kernel) {
  Made made;
  LaunchPlan plan = Make(kernel).plan;
  plan.maker = PlanMaker::kTaskFile;
  kernel.text.erase(kernel.text.find("extern \"C\""));
  made.source = KernelSource(kernel.text, kernel.entry + "_kernel", kernel.entry + ".cu");
  made.unit = Parse(made.source);
  KernelTask task;
  task.source = made.source;
  made.plan = plan;
  made.catalogue = *MakeCatalogue(task, made.unit, {plan}, {});
  return made;
}

TEST(Catalogue, KernelWithoutLauncherGetsALauncherOfItsOwn) {
  for (const KernelCase& kernel : {Relu(), BiasGelu(), ScaleInPlace(), Softmax(), MatMul()}) {
    SCOPED_TRACE(kernel.entry);
    const Made made = WithoutLauncher(kernel);
    ASSERT_TRUE(made.catalogue->Lifted()[0].lifted) << made.catalogue->Lifted()[0].detail;
    const std::string launcher = "run_" + made.plan.Kernels()[0];
    std::vector<std::string> texts = {std::get<KernelSource>(made.catalogue->Identity()).text()};
    const std::vector<Edit> edits = made.catalogue->Propose({}, nullptr);
    EXPECT_GE(edits.size(), 4u);
    for (const Edit& edit : edits) {
      texts.push_back(made.Apply({edit}));
    }
    for (const std::string& text : texts) {
      EXPECT_THAT(text, HasSubstr("extern \"C\" void " + launcher + "("));
      const ast::SourceUnit unit = Parse(KernelSource(text, launcher, "best.cu"));
      EXPECT_FALSE(PlanOf(unit, launcher, kernel.timed).Kernels().empty());
    }
  }
}

TEST(Catalogue, KernelWithoutLauncherKeepsItsNameAndItsLaunch) {
  KernelCase taken = Relu();
  taken.text.insert(0, "__device__ int run_relu_kernel;\n");
  const Made refused = WithoutLauncher(taken);
  EXPECT_THAT(refused.catalogue->Lifted()[0].detail,
              HasSubstr("the file uses the name run_relu_kernel already"));
  const Made text = WithoutLauncher({"shared",
                                     R"(
__global__ void shared_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[0];
}
extern "C" void shared(const float* x, float* y) {
  int block = 64;
  shared_kernel<<<1, block>>>(x, y);
}
)",
                                     {Bytes(4096), Bytes(4096)}});
  EXPECT_FALSE(text.catalogue->Lifted()[0].lifted);
  for (const Edit& edit : text.catalogue->Propose({}, nullptr)) {
    EXPECT_NE(edit.rewrite, "threads");
    EXPECT_EQ(text.Apply({edit}).find("<<<"), std::string::npos);
  }
  Edit threads = MakeEdit("threads", {{"threads", 128}});
  threads.origin = EditOrigin::kTextRewrite;
  EXPECT_THAT(text.Refusal({threads}), HasSubstr("the task's [launch] says the block"));
}

}  // namespace
}  // namespace optiml::rewrite::testing
