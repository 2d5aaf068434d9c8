#ifndef OPTIML_BUILD_CUDA_LIBRARIES_H_
#define OPTIML_BUILD_CUDA_LIBRARIES_H_

// CudaLibraries: NVRTC and CUDA's headers, found at run time.
//
// Searched in this order, the first place that has the library wins:
//   1. $OPTIML_CUDA_HOME (when it is set, nothing else is searched);
//   2. $CUDA_HOME, $CUDA_PATH, /usr/local/cuda;
//   3. the dynamic loader's own path;
//   4. wheels of PyPI in $OPTIML_PYTHON_SITE, in a virtual environment beside the executable
//      (.venv in <exe>/.. or up to three folders above), in <exe>/../share/optiml/python, in
//      $VIRTUAL_ENV;
//   5. the site-packages that `python3` names.
// CUDA headers are optional and searched in the same places.
//
// An opened library stays open for the life of the process (NVRTC does not survive being unloaded).
// Threads: the value is read only after it was opened.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"
#include "build/builder.h"
#include "build/nvrtc_api.h"

namespace optiml {

struct CudaLibraries {
  NvrtcApi nvrtc;
  ToolchainInfo info;
  std::vector<std::filesystem::path> include_directories;  // for -I, in order; may be empty
  ContentHash headers;  // of the files that carry the headers' versions; zero: no headers
  std::vector<int> architectures;  // compute capabilities that NVRTC knows: 75, 80, ... 90
};

// Where to look: the process's surroundings, replaceable for tests.
struct LibrarySearch {
  std::function<std::optional<std::string>(const char* name)> environment;  // getenv
  std::filesystem::path executable;  // empty: no places beside it
  bool use_defaults = true;          // /usr/local/cuda, the loader's path and python3

  static LibrarySearch OfThisProcess();
};

// Folders that may hold the libraries, then those that may hold headers, best first. The loader's
// path is not among them.
struct SearchPlaces {
  std::vector<std::filesystem::path> libraries;
  std::vector<std::filesystem::path> includes;
};
SearchPlaces PlacesOf(const LibrarySearch& search, bool ask_python);

// Files that may be another library of CUDA's ("libcupti"), best first, in the places above and in
// extras/CUPTI/lib64 of a toolkit; then the names for the loader's path. None is opened. `python3`
// is asked only where no place has the library.
std::vector<std::string> LibraryFiles(const LibrarySearch& search, const std::string& name);

// Fails with kUnavailable, naming what is missing, where it was looked for and how to get it.
Result<CudaLibraries> OpenCudaLibraries(const LibrarySearch& search);

}  // namespace optiml

#endif  // OPTIML_BUILD_CUDA_LIBRARIES_H_
