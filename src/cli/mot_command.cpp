// optiml mot: mixtures of local language models.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/mot_actions.h"
#include "cli/option_checks.h"

namespace optiml {
namespace {

class MotCommand : public Command {
 public:
  std::string Name() const override { return "mot"; }
  std::string Summary() const override {
    return "mixtures of local language models: make, inspect, check, route, generate";
  }
  std::string Example() const override {
    return "Examples\n"
           "  optiml mot init coder.mot.gguf --expert small=coder-0.5b.gguf --expert "
           "large=coder-1.5b.gguf\n"
           "  optiml mot check coder.mot.gguf\n"
           "  optiml mot generate coder.mot.gguf --prompt ask.txt --part ptx=kernel.ptx "
           "--view large=prompt,ptx -n 4\n"
           "\n"
           "docs/mot.md says what a mixture is.";
  }

  void Declare(CLI::App& app) override {
    app.add_option("action", options_.action, "what to do")
        ->check(CLI::IsMember({"init", "inspect", "check", "route", "generate"}))
        ->required();
    app.add_option("bundle", options_.bundle, "the mixture's file, *.mot.gguf")
        ->type_name("FILE")
        ->required();
    app.add_flag("--json", options_.json, "print the result as JSON")->group("Output");
    DeclareExperts(app);
    DeclareInit(app);
    DeclareRequest(app);
    DeclareAnswers(app);
  }

  Result<int> Run(CliEnv& env, Toolbox&) override {
    OPTIML_TRY(CheckOptionsOfAction());
    return RunMotAction(options_, env);
  }

 private:
  // Remembers for which actions the option is.
  CLI::Option* For(const std::vector<std::string>& actions, CLI::Option* option,
                   const char* group) {
    actions_.emplace_back(option, actions);
    return option->group(group);
  }

  void DeclareExperts(CLI::App& app) {
    constexpr const char* kGroup = "Experts";
    For({"init", "check", "route", "generate"},
        app.add_option("--expert", options_.experts, "an expert's file")
            ->type_name("NAME=FILE")
            ->allow_extra_args(false),
        kGroup);
    For({"check", "route", "generate"},
        app.add_option("--models", options_.models,
                       "where the files are that the bundle names (default: beside it)")
            ->type_name("DIR"),
        kGroup);
    For({"check", "route", "generate"},
        app.add_flag("--other-weights", options_.other_weights,
                     "take another quantisation of the same models"),
        kGroup);
  }

  void DeclareInit(CLI::App& app) {
    constexpr const char* kGroup = "A new bundle (init)";
    For({"init"},
        app.add_option("--peer-only", options_.peers, "an expert that never is the primary")
            ->type_name("NAME")
            ->allow_extra_args(false),
        kGroup);
    For({"init"},
        app.add_option("--format", options_.formats,
                       "an expert's prompt format: own, raw or one of llama.cpp's (default: own, "
                       "where the file has one)")
            ->type_name("NAME=FORMAT")
            ->allow_extra_args(false),
        kGroup);
    For({"init"},
        app.add_option("--stacks", options_.stacks, "parts that each expert's layers are cut into")
            ->type_name("N")
            ->check(WholeNumbers<int>(2, 64))
            ->capture_default_str(),
        kGroup);
    For({"init"},
        app.add_option("--shared-width", options_.shared_width, "width of the space they share")
            ->type_name("N")
            ->check(WholeNumbers<int64_t>(1, 65536))
            ->capture_default_str(),
        kGroup);
    For({"init"},
        app.add_option("--heads", options_.heads, "of the attention; divides the width")
            ->type_name("N")
            ->check(WholeNumbers<int>(1, 65536))
            ->capture_default_str(),
        kGroup);
    For({"init"},
        app.add_option("--router", options_.router, "what the router reads a prompt by")
            ->check(CLI::IsMember({"hidden-mean", "ngrams", "bert"}))
            ->capture_default_str(),
        kGroup);
  }

  void DeclareRequest(CLI::App& app) {
    constexpr const char* kGroup = "The request (route, generate)";
    const std::vector<std::string> request = {"route", "generate"};
    For(request,
        app.add_option("--prompt", options_.prompt, "file with what is asked")->type_name("FILE"),
        kGroup);
    For(request,
        app.add_option("--part", options_.parts,
                       "more to read: source, ptx, profile, retrieved or attempts")
            ->type_name("NAME=FILE")
            ->allow_extra_args(false),
        kGroup);
    For({"init", "route", "generate"},
        app.add_option(
               "--view", options_.views,
               "the parts that an expert reads, \"prompt\" among them (init: in the bundle)")
            ->type_name("NAME=PART,..")
            ->allow_extra_args(false),
        kGroup);
    For({"init", "route", "generate"},
        app.add_option("-k,--top-k", options_.top_k,
                       "experts that take part (default: the bundle's; init: 2)")
            ->type_name("N")
            ->check(WholeNumbers<int>(1, 64)),
        kGroup);
    For(request,
        app.add_option("--primary", options_.primary, "who writes (default: the router's choice)")
            ->type_name("NAME"),
        kGroup);
    For({"generate"},
        app.add_option("--depths", options_.depths, "boundaries that interact (default: all)")
            ->type_name("N,..")
            ->delimiter(',')
            ->allow_extra_args(false),
        kGroup);
    For({"generate"},
        app.add_option("--peers", options_.peer_mode, "what peers read of the answer")
            ->check(CLI::IsMember({"static", "aligned", "attention"})),
        kGroup);
    For({"generate"},
        app.add_flag("--no-mot", options_.no_mot, "the primary alone, for a comparison"), kGroup);
    For({"init", "route", "generate"},
        app.add_option("--encoder", options_.encoder, "the model of a \"bert\" router")
            ->type_name("FILE"),
        kGroup);
  }

  void DeclareAnswers(CLI::App& app) {
    constexpr const char* kGroup = "The answers (generate)";
    const std::vector<std::string> generate = {"generate"};
    For(generate,
        app.add_option("-n,--candidates", options_.candidates, "how many")
            ->type_name("N")
            ->check(WholeNumbers<int>(1, 64))
            ->capture_default_str(),
        kGroup);
    For(generate,
        app.add_option("--max-tokens", options_.max_tokens, "of each")
            ->type_name("N")
            ->check(WholeNumbers<int>(1))
            ->capture_default_str(),
        kGroup);
    For(generate,
        app.add_option("--temperature", options_.temperature, "0 takes the likeliest token")
            ->type_name("T")
            ->check(NumbersFrom(0))
            ->capture_default_str(),
        kGroup);
    For({"init", "generate"},
        app.add_option("--seed", options_.seed, "of the first candidate (init: of the numbers)")
            ->type_name("N")
            ->check(WholeNumbers<uint64_t>(0))
            ->capture_default_str(),
        kGroup);
    For(generate,
        app.add_option("--grammar", options_.grammar, "GBNF file that binds the text")
            ->type_name("FILE"),
        kGroup);
    For({"check", "route", "generate"},
        app.add_option("--threads", options_.threads, "of the processor (default: all)")
            ->type_name("N")
            ->check(WholeNumbers<int>(1, 1024)),
        kGroup);
    For({"route", "generate"},
        app.add_option("--context", options_.context, "tokens of prompt and answer")
            ->type_name("N")
            ->check(WholeNumbers<int64_t>(16))
            ->capture_default_str(),
        kGroup);
  }

  Result<void> CheckOptionsOfAction() const {
    for (const auto& [option, actions] : actions_) {
      const bool belongs =
          std::find(actions.begin(), actions.end(), options_.action) != actions.end();
      if (option->count() > 0 && !belongs) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("{} is for `mot {}`, not for `mot {}`", option->get_name(),
                                 fmt::join(actions, "` and `mot "), options_.action));
      }
    }
    const bool asks = options_.action == "route" || options_.action == "generate";
    if (asks && options_.prompt.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("mot {} needs --prompt FILE", options_.action));
    }
    if (options_.action == "init" && options_.experts.empty()) {
      return Error(ErrorCode::kInvalidArgument, "mot init needs an --expert NAME=FILE");
    }
    return {};
  }

  std::vector<std::pair<const CLI::Option*, std::vector<std::string>>> actions_;
  MotCommandOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeMotCommand() {
  return std::make_unique<MotCommand>();
}

}  // namespace optiml
