#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/file_system.h"
#include "base/log.h"
#include "build/build_cache.h"
#include "build/builder.h"
#include "build/cuda_libraries.h"
#include "build/ptx_text.h"
#include "build/stub_headers.h"
#include "core/cub_header.h"

namespace optiml {
namespace {

// A kernel compiles in 0.02 to 1 s; whatever takes this long does not end (a template recursion, a
// constexpr loop). Enforced where NVRTC can be interrupted (12.8 and later).
constexpr std::chrono::seconds kCompileTimeLimit{60};
// -I folders of a request with more files than this are not fingerprinted: such a build is not
// cached.
constexpr size_t kMaxFingerprintedFiles = 4096;

struct ProgramGuard {
  const NvrtcApi& api;
  NvrtcApi::Program program = nullptr;
  ~ProgramGuard() {
    if (program != nullptr) {
      api.destroy_program(&program);
    }
  }
};

std::string WithoutTrailingZero(std::string text) {
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  return text;
}

std::string ProgramLog(const NvrtcApi& api, NvrtcApi::Program program) {
  size_t bytes = 0;
  if (api.get_program_log_size(program, &bytes) != NvrtcApi::kSuccess || bytes == 0) {
    return {};
  }
  std::string log(bytes, '\0');
  if (api.get_program_log(program, log.data()) != NvrtcApi::kSuccess) {
    return {};
  }
  return WithoutTrailingZero(std::move(log));
}

int StopAfterDeadline(void* payload, void* /*reserved*/) {
  return std::chrono::steady_clock::now() >
                 *static_cast<std::chrono::steady_clock::time_point*>(payload)
             ? 1
             : 0;
}

// What NVRTC made of a source.
struct Compiled {
  std::string ptx;
  std::vector<std::byte> cubin;
  std::string log;
  std::vector<std::pair<std::string, std::string>> names;  // expression -> lowered
};

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  return pointers;
}

Error NvrtcError(const NvrtcApi& api, const char* what, int code) {
  return Error(ErrorCode::kInternal,
               fmt::format("{} failed: {}", what, api.get_error_string(code)));
}

BuildFailure Failure(const char* stage, std::string log, std::string first_error) {
  BuildFailure failure;
  failure.stage = stage;
  failure.log = std::move(log);
  failure.first_error = std::move(first_error);
  return failure;
}

// The stubs' texts for this program.
std::vector<const char*> StubTexts(const StubHeaders& stubs, const std::string& device_text) {
  std::vector<const char*> texts = stubs.texts;
  const bool uses_cub = UsesCub(device_text);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!uses_cub && std::string_view(stubs.names[i]) == kCubHeader) {
      texts[i] = kUnusedCub;
    }
  }
  return texts;
}

Result<std::variant<Compiled, BuildFailure>> Compile(const NvrtcApi& api,
                                                     const BuildRequest& request,
                                                     const std::vector<std::string>& options) {
  const StubHeaders& stubs = AllStubHeaders();
  const std::vector<const char*> texts = StubTexts(stubs, request.device_text);
  ProgramGuard guard{api};
  int code =
      api.create_program(&guard.program, request.device_text.c_str(), request.file_name.c_str(),
                         static_cast<int>(stubs.names.size()), texts.data(), stubs.names.data());
  if (code != NvrtcApi::kSuccess) {
    return NvrtcError(api, "nvrtcCreateProgram", code);
  }
  for (const std::string& name : request.name_expressions) {
    code = api.add_name_expression(guard.program, name.c_str());
    if (code != NvrtcApi::kSuccess) {
      return NvrtcError(api, "nvrtcAddNameExpression", code);
    }
  }
  auto deadline = std::chrono::steady_clock::now() + kCompileTimeLimit;
  if (api.set_flow_callback != nullptr) {
    api.set_flow_callback(guard.program, StopAfterDeadline, &deadline);
  }
  const std::vector<const char*> pointers = Pointers(options);
  code = api.compile_program(guard.program, static_cast<int>(pointers.size()), pointers.data());
  Compiled compiled;
  compiled.log = ProgramLog(api, guard.program);
  if (code == NvrtcApi::kCancelled) {
    return {Failure("compile", compiled.log,
                    fmt::format("{}: compilation did not end within {} s", request.file_name,
                                kCompileTimeLimit.count()))};
  }
  if (code != NvrtcApi::kSuccess) {
    if (std::string first = FirstAssemblerError(compiled.log); !first.empty()) {
      return {Failure("assemble", std::move(compiled.log),
                      fmt::format("{}: {}", request.file_name, first))};
    }
  }
  if (code == NvrtcApi::kCompilationError || code == NvrtcApi::kNameExpressionNotValid) {
    std::string first = FirstError(compiled.log);
    return {Failure("compile", std::move(compiled.log), std::move(first))};
  }
  if (code != NvrtcApi::kSuccess) {
    // An option that NVRTC does not know, or its own failure: the log says which.
    return Error(code == 5 ? ErrorCode::kInvalidArgument : ErrorCode::kInternal,
                 fmt::format("{}: nvrtcCompileProgram failed: {}: {}", request.file_name,
                             api.get_error_string(code), FirstError(compiled.log)));
  }
  for (const std::string& name : request.name_expressions) {
    const char* lowered = nullptr;
    code = api.get_lowered_name(guard.program, name.c_str(), &lowered);
    if (code != NvrtcApi::kSuccess || lowered == nullptr) {
      return {Failure("compile", compiled.log,
                      fmt::format("{}: there is no kernel \"{}\"", request.file_name, name))};
    }
    compiled.names.emplace_back(name, lowered);
  }
  size_t bytes = 0;
  code = api.get_ptx_size(guard.program, &bytes);
  if (code == NvrtcApi::kSuccess) {
    compiled.ptx.resize(bytes);
    code = api.get_ptx(guard.program, compiled.ptx.data());
  }
  if (code != NvrtcApi::kSuccess) {
    return NvrtcError(api, "nvrtcGetPTX", code);
  }
  code = api.get_cubin_size(guard.program, &bytes);
  if (code == NvrtcApi::kSuccess) {
    compiled.cubin.resize(bytes);
    code = api.get_cubin(guard.program, reinterpret_cast<char*>(compiled.cubin.data()));
  }
  if (code != NvrtcApi::kSuccess) {
    return NvrtcError(api, "nvrtcGetCUBIN", code);
  }
  compiled.ptx = WithPlainFileName(WithoutTrailingZero(std::move(compiled.ptx)), request.file_name);
  return {std::move(compiled)};
}

// Folders that the request's own options add to the include path.
std::vector<fs::path> IncludeFolders(const std::vector<std::string>& options) {
  std::vector<fs::path> folders;
  for (size_t i = 0; i < options.size(); ++i) {
    for (const std::string_view form : {"--include-path=", "-I"}) {
      if (options[i].rfind(form, 0) == 0 && options[i].size() > form.size()) {
        folders.emplace_back(options[i].substr(form.size()));
      }
    }
    if (options[i] == "-I" && i + 1 < options.size()) {
      folders.emplace_back(options[i + 1]);
    }
  }
  return folders;
}

// Names, sizes and times of the files below the folders; nothing when there are too many to look
// at.
std::optional<std::string> Fingerprint(const std::vector<fs::path>& folders) {
  std::set<std::string> files;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code ignored;
      if (it->is_regular_file(ignored)) {
        files.insert(fmt::format("{} {} {}", it->path().string(), it->file_size(ignored),
                                 it->last_write_time(ignored).time_since_epoch().count()));
      }
      if (files.size() > kMaxFingerprintedFiles) {
        return std::nullopt;
      }
    }
  }
  return fmt::format("{}", fmt::join(files, "\n"));
}

class NvrtcBuilder : public Builder {
 public:
  explicit NvrtcBuilder(BuilderOptions options) : cache_(std::move(options.cache_directory)) {}

  Result<ToolchainInfo> Toolchain() override {
    OPTIML_ASSIGN(const CudaLibraries* libraries, Libraries());
    return libraries->info;
  }

  Result<BuildOutcome> Build(const BuildRequest& request) override {
    OPTIML_ASSIGN(const CudaLibraries* libraries, Libraries());
    OPTIML_TRY(CheckArchitecture(*libraries, request.architecture));
    const std::vector<std::string> options = OptionsFor(*libraries, request);
    const std::optional<ContentHash> key = KeyOf(*libraries, request, options);
    if (!key.has_value()) {
      return BuildNew(*libraries, request, options, ContentHash());
    }
    // One thread builds a key, others that want the same wait for it.
    {
      std::unique_lock lock(mutex_);
      in_flight_changed_.wait(lock, [&] { return in_flight_.count(*key) == 0; });
      if (auto found = cache_.Find(*key)) {
        return *std::move(found);
      }
      in_flight_.insert(*key);
    }
    auto outcome = BuildNew(*libraries, request, options, *key);
    if (outcome.has_value()) {
      cache_.Insert(*key, *outcome);
    }
    {
      const std::lock_guard lock(mutex_);
      in_flight_.erase(*key);
    }
    in_flight_changed_.notify_all();
    return outcome;
  }

 private:
  Result<const CudaLibraries*> Libraries() {
    const std::lock_guard lock(libraries_mutex_);
    if (!libraries_.has_value()) {
      OPTIML_ASSIGN(libraries_, OpenCudaLibraries(LibrarySearch::OfThisProcess()));
      Log(LogLevel::kInfo, fmt::format("NVRTC {} from {}", libraries_->info.nvrtc_version,
                                       libraries_->info.nvrtc.string()));
    }
    return &*libraries_;
  }

  static Result<void> CheckArchitecture(const CudaLibraries& libraries,
                                        const std::string& architecture) {
    int number = 0;
    if (architecture.rfind("sm_", 0) == 0) {
      number = std::atoi(architecture.c_str() + 3);
    }
    const auto& known = libraries.architectures;
    if (std::find(known.begin(), known.end(), number) == known.end()) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("architecture \"{}\" is unknown to NVRTC {} (known: sm_{})", architecture,
                      libraries.info.nvrtc_version, fmt::join(known, " sm_")));
    }
    return {};
  }

  static std::vector<std::string> OptionsFor(const CudaLibraries& libraries,
                                             const BuildRequest& request) {
    std::vector<std::string> options = {"--gpu-architecture=" + request.architecture, "-lineinfo",
                                        "--ptxas-options=-v",
                                        std::string("--pre-include=") + kPreludeHeader};
    const auto names_standard = [](const std::string& option) {
      return option.rfind("-std=", 0) == 0 || option.rfind("--std=", 0) == 0;
    };
    if (std::none_of(request.options.begin(), request.options.end(), names_standard)) {
      options.emplace_back("-std=c++17");
    }
    for (const fs::path& folder : libraries.include_directories) {
      options.push_back("-I" + folder.string());
    }
    options.insert(options.end(), request.options.begin(), request.options.end());
    return options;
  }

  static std::optional<ContentHash> KeyOf(const CudaLibraries& libraries,
                                          const BuildRequest& request,
                                          const std::vector<std::string>& options) {
    const std::optional<std::string> includes = Fingerprint(IncludeFolders(request.options));
    if (!includes.has_value()) {
      return std::nullopt;
    }
    ContentHasher hasher;
    hasher.Add(request.device_text).Add(request.file_name).Add(request.architecture);
    hasher.Add(fmt::format("{}", request.name_expressions.size()));
    for (const std::string& name : request.name_expressions) {
      hasher.Add(name);
    }
    for (const std::string& option : options) {
      hasher.Add(option);
    }
    hasher.Add(ToolchainText(libraries)).Add(libraries.headers.Hex());
    hasher.Add(AllStubHeaders().hash.Hex()).Add(*includes);
    return hasher.Finish();
  }

  static std::string ToolchainText(const CudaLibraries& libraries) {
    return "NVRTC " + libraries.info.nvrtc_version;
  }

  static Result<BuildOutcome> BuildNew(const CudaLibraries& libraries, const BuildRequest& request,
                                       const std::vector<std::string>& options,
                                       const ContentHash& key) {
    const SystemClock clock;
    const Stopwatch stopwatch(clock);
    OPTIML_ASSIGN(auto compile_outcome, Compile(libraries.nvrtc, request, options));
    if (auto* failure = std::get_if<BuildFailure>(&compile_outcome)) {
      return {std::move(*failure)};
    }
    Compiled& compiled = std::get<Compiled>(compile_outcome);
    if (PtxEntries(compiled.ptx).empty()) {
      return {Failure(
          "compile", compiled.log,
          fmt::format("{}: there is no __global__ function that is used", request.file_name))};
    }
    Artifact artifact;
    artifact.key = key;
    artifact.ptx_hash = ContentHash::Of(NormalisePtx(compiled.ptx));
    artifact.architecture = request.architecture;
    artifact.options = options;
    artifact.toolchain = ToolchainText(libraries);
    artifact.kernels = ResourcesOf(compiled, ParseResourceLog(compiled.log));
    artifact.log = WithoutResourceReport(compiled.log);
    artifact.ptx = std::move(compiled.ptx);
    artifact.cubin = std::move(compiled.cubin);
    artifact.build_time = stopwatch.Elapsed();
    return {std::move(artifact)};
  }

  // One entry a requested name; without requested names, one an entry of the PTX.
  static std::vector<KernelResources> ResourcesOf(
      const Compiled& compiled, const std::map<std::string, KernelResources>& by_lowered_name) {
    std::vector<std::pair<std::string, std::string>> names = compiled.names;
    if (names.empty()) {
      for (const std::string& entry : PtxEntries(compiled.ptx)) {
        names.emplace_back(entry, entry);
      }
    }
    std::vector<KernelResources> kernels;
    for (const auto& [expression, lowered] : names) {
      const auto found = by_lowered_name.find(lowered);
      KernelResources kernel = found == by_lowered_name.end() ? KernelResources() : found->second;
      kernel.name_expression = expression;
      kernel.lowered_name = lowered;
      kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

  BuildCache cache_;
  std::mutex libraries_mutex_;
  std::optional<CudaLibraries> libraries_;
  std::mutex mutex_;
  std::condition_variable in_flight_changed_;
  std::set<ContentHash> in_flight_;
};

}  // namespace

std::unique_ptr<Builder> MakeNvrtcBuilder(BuilderOptions options) {
  return std::make_unique<NvrtcBuilder>(std::move(options));
}

}  // namespace optiml
