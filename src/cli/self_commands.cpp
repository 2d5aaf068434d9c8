// optiml completion, and the hidden optiml docs: what the program's own declaration says.
#include "cli/command.h"
#include "cli/help.h"
#include "profile/ncu_import.h"
#include "report/metric_table.h"

namespace optiml {
namespace {

class CompletionCommand : public Command {
 public:
  explicit CompletionCommand(const CLI::App& root) : root_(root) {}
  std::string Name() const override { return "completion"; }
  std::string Summary() const override { return "print a completion script for a shell"; }
  std::string Example() const override {
    return "Examples\n"
           "  optiml completion zsh > ~/.zfunc/_optiml\n"
           "  eval \"$(optiml completion bash)\"";
  }
  void Declare(CLI::App& app) override {
    app.add_option("shell", shell_, "which shell")
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->required();
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    *env.out << CompletionScript(root_, shell_);
    return kExitDone;
  }

 private:
  const CLI::App& root_;
  std::string shell_;
};

class DocsCommand : public Command {
 public:
  explicit DocsCommand(const CLI::App& root) : root_(root) {}
  std::string Name() const override { return "docs"; }
  std::string Summary() const override { return "print a file of docs/ that is generated"; }
  std::string Example() const override { return "Example\n  optiml docs cli > docs/cli.md"; }
  bool hidden() const override { return true; }
  void Declare(CLI::App& app) override {
    app.add_option("document", document_, "which document")
        ->check(CLI::IsMember({"cli", "metrics", "ncu-metrics"}))
        ->required();
  }
  Result<int> Run(CliEnv& env, Toolbox&) override {
    *env.out << (document_ == "cli"       ? CliDocument(root_)
                 : document_ == "metrics" ? MetricsDocument()
                                          : NcuMetricList() + "\n");
    return kExitDone;
  }

 private:
  const CLI::App& root_;
  std::string document_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletionCommand(const CLI::App& root) {
  return std::make_unique<CompletionCommand>(root);
}

std::unique_ptr<Command> MakeDocsCommand(const CLI::App& root) {
  return std::make_unique<DocsCommand>(root);
}

}  // namespace optiml
