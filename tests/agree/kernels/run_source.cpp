#include "run_source.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "device/emulator_device.h"
#include "frontend/frontend.h"

namespace optiml {
namespace {

Builder& SharedBuilder() {
  static const std::unique_ptr<Builder> builder = MakeNvrtcBuilder({});
  return *builder;
}

Result<ast::SourceUnit> Parse(const SourceRun& source) {
  OPTIML_ASSIGN(const ToolchainInfo toolchain, SourceToolchain());
  ParseOptions options;
  options.cuda_include_directory = toolchain.include_directory.string();
  OPTIML_ASSIGN(auto parsed,
                ParseSource(KernelSource(source.text, "launch", source.name), options));
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    return Error(ErrorCode::kInvalidArgument, refusal->reason);
  }
  return std::get<ast::SourceUnit>(std::move(parsed));
}

Result<LaunchPlan> Plan(const SourceRun& source, const ast::SourceUnit& unit) {
  LauncherArgument in;
  in.name = "in";
  in.is_buffer = true;
  in.size_bytes = source.in_bytes;
  LauncherArgument out = in;
  out.name = "out";
  out.size_bytes = source.out_bytes;
  LauncherArgument n;
  n.name = "n";
  n.value = source.n;
  PlanOutcome planned = MakeLaunchPlan(unit, "launch", {in, out, n});
  if (const auto* refusal = std::get_if<Refusal>(&planned)) {
    return Error(ErrorCode::kInvalidArgument, refusal->reason);
  }
  return std::get<LaunchPlan>(std::move(planned));
}

}  // namespace

std::vector<std::byte> DriverInput(uint64_t bytes) {
  std::vector<std::byte> input(bytes);
  uint64_t state = 42;
  for (uint64_t at = 0; at < bytes; at += 4) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto word = static_cast<uint32_t>(state >> 33);
    std::memcpy(&input[at], &word, std::min<uint64_t>(sizeof(word), bytes - at));
  }
  return input;
}

Result<ToolchainInfo> SourceToolchain() {
  return SharedBuilder().Toolchain();
}

Result<RunOutcome> RunSource(const SourceRun& source) {
  OPTIML_ASSIGN(const ast::SourceUnit unit, Parse(source));
  OPTIML_ASSIGN(const LaunchPlan plan, Plan(source, unit));
  BuildRequest build;
  build.device_text = unit.device_text;
  build.file_name = source.name;
  build.name_expressions = plan.Kernels();
  build.architecture = "sm_90a";
  OPTIML_ASSIGN(const auto built, SharedBuilder().Build(build));
  if (const auto* failure = std::get_if<BuildFailure>(&built)) {
    return Error(ErrorCode::kInvalidArgument, failure->log);
  }
  static const std::unique_ptr<Device> device = *MakeEmulatorDevice({});
  RunRequest request;
  request.artifact = &std::get<Artifact>(built);
  request.plan = &plan;
  request.checks = CheckLevel::kFull;
  request.step_limit = 2'000'000'000;
  BufferContents input;
  input.bytes = DriverInput(source.in_bytes);
  input.read_only = true;
  input.element_bytes = 4;
  BufferContents output;
  output.poison = 0xA5;
  output.element_bytes = 4;
  request.buffers = {input, output};
  return device->Run(request);
}

}  // namespace optiml
