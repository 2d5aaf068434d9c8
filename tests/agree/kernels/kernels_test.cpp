// The emulator against a GPU: each .cu file of this folder goes from its launcher to the emulator
// with every check on, and must leave, bit for bit, what an H200 left (gpu_outputs.txt, made by
// gpu_run). With --dump FOLDER the outputs are written there.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/content_hash.h"
#include "base/file_system.h"
#include "build/builder.h"
#include "device/emulator_device.h"
#include "frontend/frontend.h"

namespace optiml {
namespace {

constexpr char kFolder[] = OPTIML_SOURCE_DIR "/tests/agree/kernels";
constexpr char kDriver[] = "driver";
std::string dump_folder;

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cu" && entry.path().stem() != kDriver) {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Expected {
  uint64_t words = 0;
  std::string digest;
};

std::map<std::string, Expected> GpuOutputs() {
  std::map<std::string, Expected> outputs;
  std::ifstream file(std::string(kFolder) + "/gpu_outputs.txt");
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name;
    Expected expected;
    if (!line.empty() && line[0] != '#' && fields >> name >> expected.words >> expected.digest) {
      outputs[name] = expected;
    }
  }
  return outputs;
}

// As driver.cu makes them.
std::vector<std::byte> Inputs(uint64_t words) {
  std::vector<std::byte> bytes(words * 4);
  uint64_t state = 42;
  for (uint64_t i = 0; i < words; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto word = static_cast<uint32_t>(state >> 33);
    std::memcpy(&bytes[i * 4], &word, sizeof(word));
  }
  return bytes;
}

class Agree : public testing::TestWithParam<std::string> {
 protected:
  static Builder& SharedBuilder() {
    static const std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
    return *builder;
  }
};

TEST_P(Agree, BitForBitWithTheGpu) {
  const auto toolchain = SharedBuilder().Toolchain();
  if (!toolchain) {
    GTEST_SKIP() << toolchain.error().message();
  }
  const auto outputs = GpuOutputs();
  const auto expected = outputs.find(GetParam());
  ASSERT_TRUE(expected != outputs.end() || !dump_folder.empty())
      << "gpu_outputs.txt has no line for " << GetParam() << ": run gpu_run on a GPU";
  const std::string path = std::string(kFolder) + "/" + GetParam() + ".cu";
  const auto text = ReadFile(path);
  ASSERT_TRUE(text);
  const uint64_t words = std::stoull(text->substr(text->find("// n: ") + 6));
  if (expected != outputs.end()) {
    ASSERT_EQ(words, expected->second.words) << "the kernel changed since the GPU ran it";
  }
  ParseOptions parse;
  parse.cuda_include_directory = toolchain->include_directory.string();
  const auto parsed = ParseSource(KernelSource(*text, "launch", GetParam() + ".cu"), parse);
  ASSERT_TRUE(parsed) << parsed.error().message();
  const auto* refusal = std::get_if<Refusal>(&*parsed);
  ASSERT_EQ(refusal, nullptr) << refusal->reason;
  const auto& unit = std::get<ast::SourceUnit>(*parsed);
  LauncherArgument in;
  in.name = "in";
  in.is_buffer = true;
  in.size_bytes = words * 4;
  LauncherArgument out = in;
  out.name = "out";
  LauncherArgument n;
  n.name = "n";
  n.value = static_cast<int64_t>(words);
  const PlanOutcome planned = MakeLaunchPlan(unit, "launch", {in, out, n});
  refusal = std::get_if<Refusal>(&planned);
  ASSERT_EQ(refusal, nullptr) << refusal->reason;
  const auto& plan = std::get<LaunchPlan>(planned);
  BuildRequest build;
  build.device_text = unit.device_text;
  build.file_name = GetParam() + ".cu";
  build.name_expressions = plan.Kernels();
  build.architecture = "sm_90a";
  const auto built = SharedBuilder().Build(build);
  ASSERT_TRUE(built) << built.error().message();
  const auto* failure = std::get_if<BuildFailure>(&*built);
  ASSERT_EQ(failure, nullptr) << failure->log;
  static const std::unique_ptr<Device> device = *MakeEmulatorDevice({});
  RunRequest request;
  request.artifact = &std::get<Artifact>(*built);
  request.plan = &plan;
  request.checks = CheckLevel::kFull;
  request.step_limit = 2'000'000'000;
  BufferContents input;
  input.bytes = Inputs(words);
  input.read_only = true;
  input.element_bytes = 4;
  BufferContents output;
  output.poison = 0xA5;
  output.element_bytes = 4;
  request.buffers = {input, output};
  const auto run = device->Run(request);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->status, RunStatus::kCompleted) << run->reason;
  for (const Finding& finding : run->findings) {
    ADD_FAILURE() << finding.kind << " at line " << finding.line << ": " << finding.detail;
  }
  ASSERT_EQ(run->buffers.size(), 2u);
  const std::vector<std::byte>& bytes = run->buffers[1];
  if (!dump_folder.empty()) {
    std::ofstream file(dump_folder + "/" + GetParam() + ".bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  if (expected != outputs.end()) {
    EXPECT_EQ(ContentHash::Of(bytes).Hex(), expected->second.digest)
        << "compare the outputs: kernels_test --dump FOLDER, gpu_run --out FOLDER";
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Agree, testing::ValuesIn(KernelNames()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace optiml

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc == 3 && std::string(argv[1]) == "--dump") {
    optiml::dump_folder = argv[2];
    std::filesystem::create_directories(optiml::dump_folder);
  }
  return RUN_ALL_TESTS();
}
