// optiml generate: a task from a sentence.
#include <fmt/format.h>

#include "base/file_system.h"
#include "cli/command.h"
#include "cli/generate_model.h"
#include "cli/intent.h"
#include "cli/model_choice.h"
#include "cli/run_folder.h"
#include "cli/task_options.h"
#include "optimize/interruptible_device.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

class GenerateCommand : public Command {
 public:
  std::string Name() const override { return "generate"; }
  std::string Summary() const override {
    return "write a task for what a sentence asks for: kernel, reference in double, sizes, checks";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml generate \"row-wise softmax of an 8192 x 8192 matrix\" -o softmax\n"
           "  optiml generate \"sum of 16 million floats\" -o sum --yes\n"
           "  optiml generate --list\n"
           "\n"
           "Exit status 2 means that nothing was written: the sentence fits no operator, or more "
           "than\none, or what was found was not confirmed. docs/intents.md lists the operators.";
  }
  void Declare(CLI::App& app) override {
    app.add_option("text", intent_.text, "what to compute, in a sentence")->type_name("TEXT");
    app.add_option("-o,--out", out_, "folder of the task (default: the task's name)")
        ->type_name("DIR")
        ->group("Output");
    AddIntentOptions(app, intent_, "Intent");
    app.add_option("--model", models_.spec,
                   "a language model: asked where no operator is clear, and for --samples")
        ->type_name("SPEC")
        ->group("Language models");
    app.add_option("--model-budget", models_.budget,
                   "what it may cost: tokens=N, dollars=X, or both with a comma")
        ->type_name("BUDGET")
        ->group("Language models");
    app.add_flag("--list", list_, "print the operators that are known")->group("Output");
    app.add_flag("--json", json_, "print the result as JSON; nothing is asked")->group("Output");
    app.add_flag("--skip-battery", skip_battery_,
                 "do not put wrong kernels through the new task's checks")
        ->group("Checks");
    app.add_flag("--unconfined", task_.unconfined, "run the reference without the sandbox")
        ->group("Checks");
  }
  Result<int> Run(CliEnv& env, Toolbox& tools) override {
    if (list_) {
      return List(env);
    }
    if (intent_.text.empty() && intent_.operator_text.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   "TEXT is required, a sentence that says what to compute (or --list)");
    }
    OPTIML_ASSIGN(const OpenedModels models, OpenModels(models_, false, env, tools));
    ChatModel* model = models.roles[ModelRole::kProposer];
    OPTIML_ASSIGN(IntentOutcome outcome,
                  ResolveIntent(intent_, Again(), env, json_ ? nullptr : env.out, model,
                                ReferenceFor(task_, env)));
    if (!outcome.task) {
      Print(outcome.json, env);
      return kExitBadUse;
    }
    const fs::path folder = env.Resolve(out_.empty() ? outcome.task->name : out_);
    std::error_code ignored;
    const bool was_there = fs::exists(folder, ignored);
    task_.path = folder.string();
    task_.device = "emulator";
    outcome.json["task"] = folder.string();
    OPTIML_TRY(WriteTask(*outcome.task, folder));
    auto checked = AddSamples(outcome, intent_, model, task_, env, tools);
    if (checked && !skip_battery_) {
      checked = Check(outcome.json, env, tools);
    }
    if (!checked) {
      // The folder was empty: all that is in it is this command's.
      for (const auto& entry : fs::directory_iterator(folder, ignored)) {
        fs::remove_all(entry.path(), ignored);
      }
      if (!was_there) {
        fs::remove(folder, ignored);
      }
      Error error = checked.error();
      return std::move(error).WithContext("the task was not written");
    }
    if (json_) {
      Print(outcome.json, env);
    } else {
      const std::string shown = ShownPath(folder, env);
      *env.out << fmt::format("wrote {}: task.toml, kernel.cu, reference.cpp{}\n", shown,
                              skip_battery_ ? "" : "; its checks reject wrong kernels")
               << fmt::format("reference: {}\n", std::string(outcome.json["reference"]))
               << fmt::format("next\n  optiml optimize {}\n", QuoteForShell(shown));
    }
    return kExitDone;
  }

 private:
  std::string Again() const {
    return out_.empty() ? "optiml generate" : "optiml generate -o " + QuoteForShell(out_);
  }

  void Print(const Json& json, const CliEnv& env) const {
    if (json_) {
      *env.out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    }
  }

  Result<int> List(CliEnv& env) const {
    if (json_) {
      OPTIML_ASSIGN(const Json json, OperatorJson());
      Print(json, env);
      return kExitDone;
    }
    OPTIML_ASSIGN(const std::string table, OperatorTable());
    *env.out << table;
    return kExitDone;
  }

  // The task battery: what is written can tell right from wrong, and its kernel is right.
  Result<void> Check(Json& json, CliEnv& env, Toolbox& tools) {
    VerifierOptions options;
    OPTIML_ASSIGN(const Workbench bench, MakeWorkbench(task_, env, tools, options));
    InterruptibleDevice device(*bench.device, env.stop);
    OPTIML_ASSIGN(const auto verifier,
                  tools.MakeVerifier(*bench.task, *bench.builder, device, bench.reference.get(),
                                     bench.Recording(options)));
    OPTIML_ASSIGN(const std::vector<BatteryVerdict> rows, verifier->Battery());
    json["battery"] = Json::array();
    for (const BatteryVerdict& row : rows) {
      json["battery"].push_back({{"mutant", row.mutant}, {"verdict", row.verdict}});
    }
    return {};
  }

  IntentOptions intent_;
  ModelChoice models_;
  TaskOptions task_;
  std::string out_;
  bool list_ = false;
  bool json_ = false;
  bool skip_battery_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand() {
  return std::make_unique<GenerateCommand>();
}

}  // namespace optiml
