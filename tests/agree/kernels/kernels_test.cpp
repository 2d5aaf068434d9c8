// The emulator against a GPU: each .cu file of this folder goes from its launcher to the emulator
// with every check on, and must leave, bit for bit, what an H200 left (gpu_outputs.txt, made by
// gpu_run). With --dump FOLDER the outputs are written there.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/content_hash.h"
#include "base/file_system.h"
#include "run_source.h"

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

class Agree : public testing::TestWithParam<std::string> {};

TEST_P(Agree, BitForBitWithTheGpu) {
  const auto toolchain = SourceToolchain();
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
  const auto run =
      RunSource({GetParam() + ".cu", *text, static_cast<int64_t>(words), words * 4, words * 4});
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
