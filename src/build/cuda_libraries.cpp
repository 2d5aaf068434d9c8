#include "build/cuda_libraries.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/file_system.h"
#include "base/process.h"

namespace optiml {
namespace {

constexpr char kRemedy[] =
    "install the CUDA toolkit (12.0 or later) or `pip install nvidia-cuda-nvrtc "
    "nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt`, and set OPTIML_CUDA_HOME or "
    "OPTIML_PYTHON_SITE if it is in an unusual place";

bool IsDirectory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<fs::path> SortedChildren(const fs::path& folder) {
  std::vector<fs::path> children;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    children.push_back(it->path());
  }
  std::sort(children.begin(), children.end());
  return children;
}

// A toolkit: lib64, or targets/<platform>/lib, and the includes beside them.
void AddToolkit(const fs::path& root, SearchPlaces& places) {
  places.libraries.push_back(root / "lib64");
  places.libraries.push_back(root / "lib");
  places.includes.push_back(root / "include");
  for (const fs::path& target : SortedChildren(root / "targets")) {
    places.libraries.push_back(target / "lib");
    places.includes.push_back(target / "include");
  }
  places.libraries.push_back(root);
}

// NVIDIA's wheels: nvidia/cu13/{lib,include} since CUDA 13, one folder a component before.
void AddSite(const fs::path& site, SearchPlaces& places) {
  const fs::path nvidia = site / "nvidia";
  std::vector<fs::path> components = SortedChildren(nvidia);
  std::reverse(components.begin(), components.end());  // cu14 before cu13
  for (const fs::path& component : components) {
    if (component.filename().string().rfind("cu", 0) == 0) {
      places.libraries.push_back(component / "lib");
      places.includes.push_back(component / "include");
    }
  }
}

// <venv>/lib/python3.x/site-packages, and the folder itself.
void AddVenv(const fs::path& root, SearchPlaces& places) {
  for (const fs::path& python : SortedChildren(root / "lib")) {
    AddSite(python / "site-packages", places);
  }
  AddSite(root, places);
}

void AddPythonSites(SearchPlaces& places) {
  ProcessRequest request;
  request.argv = {"python3", "-c",
                  "import site,sys;print('\\n'.join(site.getsitepackages()+[site."
                  "getusersitepackages()]))"};
  request.limits.wall_time = std::chrono::seconds(10);
  const auto outcome = RunProcess(request);
  if (!outcome.has_value() || !outcome->succeeded()) {
    return;  // no Python: one place less
  }
  std::string line;
  for (const char c : outcome->standard_output) {
    if (c == '\n') {
      AddSite(line, places);
      line.clear();
    } else {
      line += c;
    }
  }
}

// libNAME.so or the highest libNAME.so.N of a folder; empty when there is none.
fs::path LibraryIn(const fs::path& folder, const std::string& name) {
  const fs::path plain = folder / (name + ".so");
  if (Exists(plain)) {
    return plain;
  }
  int best_version = -1;
  fs::path best;
  for (const fs::path& child : SortedChildren(folder)) {
    const std::string file = child.filename().string();
    const std::string prefix = name + ".so.";
    if (file.rfind(prefix, 0) == 0) {
      const int version = std::atoi(file.c_str() + prefix.size());
      if (version > best_version) {
        best_version = version;
        best = child;
      }
    }
  }
  return best;
}

struct OpenedLibrary {
  void* handle = nullptr;
  fs::path path;
};

fs::path PathOfSymbol(void* symbol) {
  Dl_info info;
  if (symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) {
    return info.dli_fname;
  }
  return {};
}

// Opens a library from the first folder that has a working one. `problems` collects those that are
// there but do not open.
OpenedLibrary OpenFrom(const std::vector<fs::path>& folders, const std::string& name,
                       std::vector<std::string>& problems) {
  for (const fs::path& folder : folders) {
    const fs::path path = LibraryIn(folder, name);
    if (path.empty()) {
      continue;
    }
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return {handle, path};
    }
    problems.push_back(dlerror());
  }
  return {};
}

OpenedLibrary OpenFromLoader(const std::string& name, const char* symbol) {
  for (const char* suffix : {".so", ".so.14", ".so.13", ".so.12"}) {
    if (void* handle = dlopen((name + suffix).c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return {handle, PathOfSymbol(dlsym(handle, symbol))};
    }
  }
  return {};
}

Result<OpenedLibrary> Open(const LibrarySearch& search, SearchPlaces& places,
                           const std::string& name, const char* symbol) {
  std::vector<std::string> problems;
  const bool exclusive = search.environment("OPTIML_CUDA_HOME").has_value();
  if (OpenedLibrary found = OpenFrom(places.libraries, name, problems); found.handle != nullptr) {
    return found;
  }
  if (!exclusive && search.use_defaults) {
    if (OpenedLibrary found = OpenFromLoader(name, symbol); found.handle != nullptr) {
      return found;
    }
    SearchPlaces of_python;
    AddPythonSites(of_python);
    if (OpenedLibrary found = OpenFrom(of_python.libraries, name, problems);
        found.handle != nullptr) {
      places.includes.insert(places.includes.end(), of_python.includes.begin(),
                             of_python.includes.end());
      return found;
    }
  }
  std::string message = fmt::format("{} was not found", name + ".so");
  if (exclusive) {
    message += fmt::format(" under OPTIML_CUDA_HOME={}", *search.environment("OPTIML_CUDA_HOME"));
  }
  if (!problems.empty()) {
    message += fmt::format(" ({})", fmt::join(problems, "; "));
  }
  return Error(ErrorCode::kUnavailable, message + ": " + kRemedy);
}

template <typename Function>
void Bind(void* handle, const char* name, Function& target, std::vector<std::string>& missing) {
  target = reinterpret_cast<Function>(dlsym(handle, name));
  if (target == nullptr) {
    missing.emplace_back(name);
  }
}

Result<void> BindNvrtc(void* handle, const fs::path& path, NvrtcApi& api) {
  std::vector<std::string> missing;
  Bind(handle, "nvrtcGetErrorString", api.get_error_string, missing);
  Bind(handle, "nvrtcVersion", api.version, missing);
  Bind(handle, "nvrtcGetNumSupportedArchs", api.get_num_supported_archs, missing);
  Bind(handle, "nvrtcGetSupportedArchs", api.get_supported_archs, missing);
  Bind(handle, "nvrtcCreateProgram", api.create_program, missing);
  Bind(handle, "nvrtcDestroyProgram", api.destroy_program, missing);
  Bind(handle, "nvrtcCompileProgram", api.compile_program, missing);
  Bind(handle, "nvrtcGetPTXSize", api.get_ptx_size, missing);
  Bind(handle, "nvrtcGetPTX", api.get_ptx, missing);
  Bind(handle, "nvrtcGetCUBINSize", api.get_cubin_size, missing);
  Bind(handle, "nvrtcGetCUBIN", api.get_cubin, missing);
  Bind(handle, "nvrtcGetProgramLogSize", api.get_program_log_size, missing);
  Bind(handle, "nvrtcGetProgramLog", api.get_program_log, missing);
  Bind(handle, "nvrtcAddNameExpression", api.add_name_expression, missing);
  Bind(handle, "nvrtcGetLoweredName", api.get_lowered_name, missing);
  std::vector<std::string> optional;
  Bind(handle, "nvrtcSetFlowCallback", api.set_flow_callback, optional);
  if (!missing.empty()) {
    return Error(ErrorCode::kUnavailable, fmt::format("{} is not a usable NVRTC: it has no {}: {}",
                                                      path.string(), missing.front(), kRemedy));
  }
  return {};
}

// NVRTC opens libnvrtc-builtins by its bare name when it first compiles, which only the loader's
// own folders answer. One that lies beside NVRTC is loaded here, where the path is known; the
// loader then finds it by name.
void LoadBuiltins(const fs::path& nvrtc) {
  if (const fs::path builtins = LibraryIn(nvrtc.parent_path(), "libnvrtc-builtins");
      !builtins.empty()) {
    dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL);  // fails later, with NVRTC's own message
  }
}

// Headers: every place that has some, so that wheels in several folders add up.
void FindHeaders(const SearchPlaces& places, const fs::path& nvrtc, CudaLibraries& libraries) {
  std::vector<fs::path> includes = places.includes;
  if (!nvrtc.empty()) {  // beside the library that the loader found
    includes.push_back(nvrtc.parent_path().parent_path() / "include");
  }
  const auto add = [&](const fs::path& folder) {
    std::error_code ignored;
    const fs::path real = fs::weakly_canonical(folder, ignored);
    auto& known = libraries.include_directories;
    if (IsDirectory(folder) && std::find(known.begin(), known.end(), real) == known.end()) {
      known.push_back(real);
    }
  };
  for (const fs::path& include : includes) {
    if (!Exists(include / "cuda_fp16.h") && libraries.info.include_directory.empty()) {
      continue;  // the first must be the main one
    }
    if (libraries.info.include_directory.empty()) {
      libraries.info.include_directory = include;
    } else if (Exists(include / "cuda_fp16.h")) {
      continue;  // another toolkit: never mix two
    }
    add(include);
    add(include / "cccl");
  }
  if (libraries.include_directories.empty()) {
    return;
  }
  ContentHasher hasher;
  for (const fs::path& folder : libraries.include_directories) {
    for (const char* file :
         {"cuda_fp16.h", "cuda_fp16.hpp", "cuda_runtime_api.h", "cooperative_groups.h",
          "cuda/std/__cccl/version.h", "cuda/std/__cccl_config", "cub/version.cuh"}) {
      if (const auto text = ReadFile(folder / file); text.has_value()) {
        hasher.Add(file).Add(*text);
      }
    }
  }
  libraries.headers = hasher.Finish();
}

}  // namespace

LibrarySearch LibrarySearch::OfThisProcess() {
  LibrarySearch search;
  search.environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') {
      return std::nullopt;
    }
    return std::string(value);
  };
  std::error_code ignored;
  search.executable = fs::read_symlink("/proc/self/exe", ignored);
  return search;
}

SearchPlaces PlacesOf(const LibrarySearch& search, bool ask_python) {
  SearchPlaces places;
  if (const auto home = search.environment("OPTIML_CUDA_HOME")) {
    AddToolkit(*home, places);
    return places;
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto home = search.environment(name)) {
      AddToolkit(*home, places);
    }
  }
  if (search.use_defaults) {
    AddToolkit("/usr/local/cuda", places);
  }
  if (const auto site = search.environment("OPTIML_PYTHON_SITE")) {
    AddSite(*site, places);
  }
  if (!search.executable.empty()) {
    const fs::path prefix = search.executable.parent_path().parent_path();
    // A build tree lies a few folders below the checkout whose .venv ./setup fills.
    constexpr int kFoldersUp = 4;
    fs::path folder = prefix;
    for (int i = 0; i < kFoldersUp && folder != folder.parent_path(); ++i) {
      AddVenv(folder / ".venv", places);
      folder = folder.parent_path();
    }
    AddVenv(prefix / "share/optiml/python", places);
  }
  if (const auto venv = search.environment("VIRTUAL_ENV")) {
    AddVenv(*venv, places);
  }
  if (ask_python) {
    AddPythonSites(places);
  }
  return places;
}

std::vector<std::string> LibraryFiles(const LibrarySearch& search, const std::string& name) {
  std::vector<std::string> files;
  const auto add = [&](const SearchPlaces& places) {
    for (const fs::path& folder : places.libraries) {
      for (const fs::path& one : {folder, folder.parent_path() / "extras" / "CUPTI" / "lib64"}) {
        const fs::path file = LibraryIn(one, name);
        if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) {
          files.push_back(file.string());
        }
      }
    }
  };
  add(PlacesOf(search, false));
  if (search.environment("OPTIML_CUDA_HOME") || !search.use_defaults) {
    return files;
  }
  if (files.empty()) {
    SearchPlaces of_python;
    AddPythonSites(of_python);
    add(of_python);
  }
  for (const char* suffix : {".so", ".so.14", ".so.13", ".so.12"}) {
    files.push_back(name + suffix);
  }
  return files;
}

Result<CudaLibraries> OpenCudaLibraries(const LibrarySearch& search) {
  SearchPlaces places = PlacesOf(search, false);
  CudaLibraries libraries;
  OPTIML_ASSIGN(const OpenedLibrary nvrtc, Open(search, places, "libnvrtc", "nvrtcVersion"));
  OPTIML_TRY(BindNvrtc(nvrtc.handle, nvrtc.path, libraries.nvrtc));
  if (!nvrtc.path.empty()) {
    LoadBuiltins(nvrtc.path);
  }
  int major = 0;
  int minor = 0;
  int count = 0;
  if (libraries.nvrtc.version(&major, &minor) != 0 ||
      libraries.nvrtc.get_num_supported_archs(&count) != 0 || count <= 0) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{} does not tell its version", nvrtc.path.string()));
  }
  libraries.architectures.resize(static_cast<size_t>(count));
  if (libraries.nvrtc.get_supported_archs(libraries.architectures.data()) != 0) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{} does not tell its architectures", nvrtc.path.string()));
  }
  libraries.info.nvrtc_version = fmt::format("{}.{}", major, minor);
  libraries.info.nvrtc = nvrtc.path;
  FindHeaders(places, nvrtc.path, libraries);
  return libraries;
}

}  // namespace optiml
