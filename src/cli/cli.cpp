#include "cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "cli/command.h"
#include "cli/help.h"

namespace optiml {
namespace {

// CLI11 asks it for every help text.
class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(int width) : width_(width) {}
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return HelpText(*app, width_);
  }

 private:
  int width_;
};

constexpr char kRootFooter[] =
    "Examples\n"
    "  optiml optimize examples/softmax\n"
    "  optiml report last\n"
    "\n"
    "Exit status\n"
    "  0    done\n"
    "  1    the run ended without an improvement that could be kept; the kernel is rejected\n"
    "  2    wrong use or a bad task\n"
    "  3    the environment is broken\n"
    "  130  interrupted\n"
    "\n"
    "Environment\n"
    "  OPTIML_CACHE_DIR   compiled kernels and references (default: $XDG_CACHE_HOME/optiml, then\n"
    "                     ~/.cache/optiml)\n"
    "  OPTIML_API_KEY     the key of language models' endpoints; or OPENAI_API_KEY, or the file "
    "that\n"
    "                     OPTIML_API_KEY_FILE names (mode 600)\n"
    "  OPTIML_PRICES      a file of models' prices beside the built-in ones\n"
    "  OPTIML_PYTHON      the python3 that fetches models\n"
    "  OPTIML_CUDA_HOME   where NVRTC is, when it is not found by itself\n"
    "  OPTIML_LOG         debug or info: diagnostics of OptiML itself on standard error";

std::vector<std::string> LongNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

// The first of the arguments that is among `words`, which CLI11 lists in an order of its own.
std::string FirstOf(const std::vector<std::string>& arguments, const std::string& words) {
  const std::string padded = " " + words + " ";
  for (const std::string& argument : arguments) {
    if (padded.find(" " + argument + " ") != std::string::npos) {
      return argument;
    }
  }
  return words.substr(0, words.find(' '));
}

// The message of a parse error in our own words and on one line, with the nearest name when a word
// was not understood.
std::string ParseMessage(const CLI::App& root, const CLI::ParseError& error,
                         const std::vector<std::string>& arguments) {
  const CLI::App* app = &root;
  if (!root.get_subcommands().empty()) {
    app = root.get_subcommands().front();
  }
  std::string message = error.what();
  static constexpr std::string_view kUnexpectedOne = "The following argument was not expected: ";
  static constexpr std::string_view kUnexpectedMany = "The following arguments were not expected: ";
  if (message == "A subcommand is required") {
    const bool given = !arguments.empty() && arguments.front().substr(0, 1) != "-";
    message = given ? fmt::format("no command \"{}\"", arguments.front()) : "no command is given";
  } else if (message.rfind(kUnexpectedOne, 0) == 0 || message.rfind(kUnexpectedMany, 0) == 0) {
    const std::string word = FirstOf(arguments, message.substr(message.find(": ") + 2));
    const bool is_flag = word.substr(0, 1) == "-";
    std::vector<std::string> names = is_flag ? LongNames(*app) : std::vector<std::string>();
    if (app == &root && !is_flag) {
      for (const CLI::App* sub : root.get_subcommands({})) {
        names.push_back(sub->get_name());
      }
    }
    message = app == &root && !is_flag ? fmt::format("no command \"{}\"", word)
              : is_flag                ? fmt::format("no option {}", word)
                                       : fmt::format("one argument too many: \"{}\"", word);
    if (const std::string nearest = NearestName(word, names); !nearest.empty()) {
      message += fmt::format(" (did you mean {}?)", nearest);
    }
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (!message.empty() && message[0] >= 'A' && message[0] <= 'Z' &&
      (message.size() < 2 || message[1] < 'A' || message[1] > 'Z')) {
    message[0] = static_cast<char>(message[0] - 'A' + 'a');
  }
  return fmt::format("{}; see `optiml{} --help`", message,
                     app == &root ? "" : " " + app->get_name());
}

void PrintError(CliEnv& env, std::string message) {
  *env.err << "optiml: " << OneLine(std::move(message)) << "\n";
}

Result<int> RunCommand(Command& command, CliEnv& env, Toolbox& tools) {
  try {
    return command.Run(env, tools);
  } catch (const std::bad_alloc&) {
    // Whatever was written was written whole (WriteFileAtomically, the store's transactions).
    return OutOfMemory(env);
  }
}

int Dispatch(Command& command, CliEnv& env, Toolbox& tools) {
  auto result = RunCommand(command, env, tools);
  env.out->flush();
  if (!result) {
    PrintError(env, result.error().message());
    return ExitCodeOf(result.error().code());
  }
  if (!env.out->good()) {
    PrintError(env, "standard output: cannot write");
    return kExitEnvironment;
  }
  return *result;
}

}  // namespace

int RunCli(const std::vector<std::string>& arguments, CliEnv& env, Toolbox& tools) {
  CLI::App root("optimise CUDA kernels: search under verification", "optiml");
  root.formatter(std::make_shared<HelpFormatter>(env.width));
  root.footer(kRootFooter);
  root.set_help_flag("-h,--help", "print this help")->group("Options");
  bool version = false;
  root.add_flag("--version", version, "print the version")->group("Options");

  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(MakeOptimizeCommand());
  commands.push_back(MakeGenerateCommand());
  commands.push_back(MakeInitCommand());
  commands.push_back(MakeCheckCommand());
  commands.push_back(MakeProfileCommand());
  commands.push_back(MakeEmulateCommand());
  commands.push_back(MakeReportCommand());
  commands.push_back(MakeRunsCommand());
  commands.push_back(MakeBenchCommand());
  commands.push_back(MakeResumeCommand());
  commands.push_back(MakeReplayCommand());
  commands.push_back(MakeExportCommand());
  commands.push_back(MakeModelsCommand());
  commands.push_back(MakeMotCommand());
  commands.push_back(MakeDoctorCommand());
  commands.push_back(MakeCompletionCommand(root));
  commands.push_back(MakeDocsCommand(root));
  std::vector<CLI::App*> apps;
  for (const auto& command : commands) {
    CLI::App* app = root.add_subcommand(command->Name(), command->Summary());
    app->set_help_flag("-h,--help", "print this help")->group("Options");
    app->footer(command->Example());
    if (command->hidden()) {
      app->group("");
    }
    command->Declare(*app);
    apps.push_back(app);
  }
  root.require_subcommand(0, 1);

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    root.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    *env.out << root.help();
    env.out->flush();
    return kExitDone;
  } catch (const CLI::ParseError& error) {
    PrintError(env, ParseMessage(root, error, arguments));
    return kExitBadUse;
  }
  if (version) {
    *env.out << "optiml " << OPTIML_VERSION << "\n";
    return kExitDone;
  }
  for (size_t i = 0; i < commands.size(); ++i) {
    if (apps[i]->parsed()) {
      return Dispatch(*commands[i], env, tools);
    }
  }
  PrintError(env, "no command is given; see `optiml --help`");
  return kExitBadUse;
}

}  // namespace optiml
