#include "cli/intent.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>

#include "base/file_system.h"
#include "generate/model_task.h"
#include "generate/operator_choice.h"
#include "report/text_format.h"
#include "task/launcher_scan.h"
#include "task/names.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;

std::string Join(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : separator) + word;
  }
  return text;
}

std::string SizesText(const OperatorRequest& request) {
  std::string text;
  for (const std::string& name : request.contract->size_order) {
    const auto said = request.sizes.find(name);
    text += fmt::format(
        "{}{} = {}", text.empty() ? "" : ", ", name,
        said != request.sizes.end() ? said->second : request.contract->default_sizes.at(name));
  }
  return text;
}

std::string DTypesText(const Contract& contract) {
  std::string text;
  for (const DType dtype : contract.dtypes) {
    text += (text.empty() ? "" : " ") + std::string(DTypeName(dtype));
  }
  return text;
}

Json CandidateJson(const Candidate& candidate) {
  return {{"operator", FormatOperator(candidate.request)},
          {"computes", DescribeOperator(candidate.request)},
          {"sizes", candidate.request.sizes},
          {"unexplained", candidate.unexplained},
          {"missing", candidate.missing_choices}};
}

const char* KindName(MatchResult::Kind kind) {
  switch (kind) {
    case MatchResult::Kind::kClear:
      return "clear";
    case MatchResult::Kind::kQuestion:
      return "question";
    case MatchResult::Kind::kNone:
      break;
  }
  return "none";
}

class IntentTalk {
 public:
  IntentTalk(const IntentOptions& options, std::string command, CliEnv& env, std::ostream* talk,
             ChatModel* model, const ReferenceOptions& reference)
      : options_(options),
        command_(std::move(command)),
        env_(env),
        talk_(talk),
        model_(model),
        reference_(reference) {}

  Result<IntentOutcome> Run() {
    OPTIML_ASSIGN(const ContractLibrary library, ContractLibrary::Load());
    outcome_.json["intent"] = options_.text;
    match_ = MatchIntent(library, options_.text);
    outcome_.json["match"] = KindName(match_.kind);
    outcome_.json["candidates"] = Json::array();
    for (const Candidate& candidate : match_.candidates) {
      outcome_.json["candidates"].push_back(CandidateJson(candidate));
    }
    OPTIML_ASSIGN(const std::optional<OperatorRequest> chosen, Choose(library));
    if (chosen) {
      OPTIML_TRY(Take(*chosen));
    }
    return std::move(outcome_);
  }

 private:
  void Say(const std::string& text) const {
    if (talk_ != nullptr) {
      *talk_ << text << "\n";
    }
  }
  bool CanAsk() const { return talk_ != nullptr && env_.in != nullptr && env_.in_is_terminal; }

  Result<std::optional<OperatorRequest>> Choose(const ContractLibrary& library) {
    if (!options_.operator_text.empty()) {
      auto request = ParseOperator(library, options_.operator_text);
      if (!request) {
        return std::move(request).error().WithContext("--operator");
      }
      for (const Candidate& candidate : match_.candidates) {
        if (candidate.request.contract == request->contract) {
          request->sizes = candidate.request.sizes;  // "4 million floats" is still heard
        }
      }
      return std::optional(*std::move(request));
    }
    if (model_ != nullptr && match_.kind != MatchResult::Kind::kClear) {
      return AskModel(library);
    }
    switch (match_.kind) {
      case MatchResult::Kind::kClear:
        return Confirm(match_.candidates[0].request, options_.yes, "--yes");
      case MatchResult::Kind::kQuestion:
        return AskWhich();
      case MatchResult::Kind::kNone:
        break;
    }
    SayNone();
    return std::optional<OperatorRequest>();
  }

  std::string Again(const std::string& flags) const {
    return fmt::format("  {} {} {}", command_, QuoteForShell(options_.text), flags);
  }

  Result<std::optional<OperatorRequest>> AskModel(const ContractLibrary& library) {
    OPTIML_ASSIGN(OperatorChoice choice, ChooseByModel(*model_, library, options_.text));
    if (choice.request) {
      for (const Candidate& candidate : match_.candidates) {
        if (candidate.request.contract == choice.request->contract) {
          choice.request->sizes = candidate.request.sizes;
        }
      }
      outcome_.json["model"] = {{"name", model_->name()},
                                {"operator", FormatOperator(*choice.request)},
                                {"covers_all", choice.covers_all},
                                {"left_out", choice.left_out}};
      Say(fmt::format("{} proposes an operator{}", model_->name(),
                      choice.left_out.empty() ? "" : "; it leaves out: " + choice.left_out));
      return Confirm(*choice.request, false, "--operator " + FormatOperator(*choice.request));
    }
    OPTIML_ASSIGN(ModelTask made, MakeTaskByModel(*model_, options_.text, reference_));
    const std::string from = fmt::format("reference generated by {}: two agreed on {} inputs",
                                         model_->name(), made.agreed_cases);
    outcome_.json["computes"] = made.task.title;
    Say(fmt::format("no operator of the library; {}\ncomputes  {}", from, made.task.title));
    if (options_.yes || Agrees()) {
      outcome_.json["reference"] = from;
      outcome_.task = std::move(made.task);
      outcome_.has_kernel = false;
    } else if (!CanAsk()) {
      Say("to take it, run\n" + Again("--yes"));
    }
    return std::optional<OperatorRequest>();
  }

  bool Agrees() {
    if (!CanAsk()) {
      return false;
    }
    *talk_ << "take it? [y/N] " << std::flush;
    std::string answer;
    std::getline(*env_.in, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
  }

  // `flags`: what takes it without a terminal.
  std::optional<OperatorRequest> Confirm(const OperatorRequest& request, bool is_taken,
                                         const std::string& flags) {
    Say(fmt::format("operator  {}", FormatOperator(request)));
    Say(fmt::format("computes  {}", DescribeOperator(request)));
    Say(fmt::format("dtype     {}", DTypeName(request.dtype)));
    Say(fmt::format("sizes     {}", SizesText(request)));
    if (is_taken) {
      return request;
    }
    if (CanAsk()) {
      if (Agrees()) {
        return request;
      }
      Say("nothing was written; --operator names another one (`optiml generate --list`)");
      return std::nullopt;
    }
    Say("to take it, run\n" + Again(flags));
    return std::nullopt;
  }

  // Why the first candidate is not simply taken.
  std::string Doubt() const {
    const Candidate& first = match_.candidates[0];
    if (!first.unexplained.empty()) {
      return fmt::format("no operator explains all of the sentence; {} does not know: {}",
                         first.request.contract->name, Join(first.unexplained, ", "));
    }
    if (!first.missing_choices.empty()) {
      return fmt::format("the sentence does not say {}", Join(first.missing_choices, "; "));
    }
    return "several operators fit the sentence";
  }

  std::optional<OperatorRequest> AskWhich() {
    Say(Doubt());
    std::vector<const Candidate*> whole;
    for (const Candidate& candidate : match_.candidates) {
      const OperatorRequest& request = candidate.request;
      if (candidate.missing_choices.empty()) {
        whole.push_back(&candidate);
        Say(fmt::format("  {}. {:<32} {}", whole.size(), FormatOperator(request),
                        DescribeOperator(request)));
      } else {
        Say(fmt::format("     {:<32} say {}", request.contract->name,
                        Join(candidate.missing_choices, "; ")));
      }
    }
    if (CanAsk() && !whole.empty()) {
      *talk_ << fmt::format("which one computes what you mean? [1-{}, none] ", whole.size())
             << std::flush;
      std::string answer;
      std::getline(*env_.in, answer);
      const auto number = ParseInteger(answer);
      if (number && *number >= 1 && *number <= static_cast<int64_t>(whole.size())) {
        return whole[static_cast<size_t>(*number - 1)]->request;
      }
      Say("nothing was written");
      return std::nullopt;
    }
    const std::string name = whole.empty()
                                 ? match_.candidates[0].request.contract->name + ":CHOICE=VALUE"
                                 : FormatOperator(whole[0]->request);
    Say("to take one of them, run\n" + Again("--operator " + name) +
        "\nif none computes what you mean, write the kernel and use `optiml init FILE.cu`");
    return std::nullopt;
  }

  void SayNone() {
    std::string closest;
    for (const Candidate& candidate : match_.candidates) {
      closest += (closest.empty() ? "" : ", ") + candidate.request.contract->name;
    }
    std::string shown = options_.text.substr(0, 80);
    shown += options_.text.size() > shown.size() ? "..." : "";
    Say(fmt::format("no operator matches \"{}\"; closest: {}", OneLine(shown),
                    closest.empty() ? "none" : closest));
    if (!match_.unknown.empty()) {
      std::vector<std::string> few = match_.unknown;
      few.resize(std::min<size_t>(few.size(), 8));
      Say(fmt::format("not known: {}", Join(few, ", ")));
    }
    Say("what to do: say it in other words; name an operator (`optiml generate --list` shows them, "
        "--operator takes one);\nor write the kernel, and `optiml init FILE.cu` makes a task of "
        "it");
  }

  Result<void> Take(OperatorRequest request) {
    for (const std::string& row : options_.sizes) {
      auto sizes = ParseSizes(row);
      if (!sizes) {
        return std::move(sizes).error().WithContext("--sizes");
      }
      for (const auto& [name, value] : *sizes) {
        request.sizes[name] = value;
      }
    }
    Provenance provenance;
    provenance.intent = options_.text;
    provenance.reference = "operator library: " + FormatOperator(request);
    OPTIML_ASSIGN(outcome_.task, MakeTask(request, provenance));
    outcome_.json["operator"] = FormatOperator(request);
    outcome_.json["computes"] = DescribeOperator(request);
    outcome_.json["dtype"] = DTypeName(request.dtype);
    SizeBindings sizes = request.contract->default_sizes;
    for (const auto& [name, value] : request.sizes) {
      sizes[name] = value;
    }
    outcome_.json["sizes"] = sizes;
    outcome_.json["reference"] = provenance.reference;
    return {};
  }

  const IntentOptions& options_;
  std::string command_;
  CliEnv& env_;
  std::ostream* talk_;
  ChatModel* model_;
  const ReferenceOptions& reference_;
  MatchResult match_;
  IntentOutcome outcome_;
};

}  // namespace

void AddIntentOptions(CLI::App& app, IntentOptions& options, const std::string& group) {
  app.add_option("--operator", options.operator_text,
                 "take this operator, whatever the sentence says (`optiml generate --list`)")
      ->type_name("NAME[:CHOICE=VALUE,...]")
      ->group(group);
  app.add_option("--sizes", options.sizes, "timed sizes, instead of those of the sentence")
      ->type_name("NAME=N,...")
      ->group(group);
  app.add_option(
         "--samples", options.samples,
         "kernels to ask the language model for; the best that passes all checks becomes the "
         "task's own")
      ->check(CLI::Range(0, 64))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--yes", options.yes,
               "take what was found without asking, where one operator explains the whole sentence")
      ->group(group);
}

Result<IntentOutcome> ResolveIntent(const IntentOptions& options, const std::string& command,
                                    CliEnv& env, std::ostream* talk, ChatModel* model,
                                    const ReferenceOptions& reference) {
  return IntentTalk(options, command, env, talk, model, reference).Run();
}

Result<void> WriteTask(const GeneratedTask& task, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) &&
      (!fs::is_directory(folder, ignored) || !fs::is_empty(folder, ignored))) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: is there already and not empty", folder.string()));
  }
  OPTIML_TRY(CreateDirectories(folder));
  for (const auto& [name, text] : task.files) {
    OPTIML_TRY(WriteFileAtomically(folder / name, text));
  }
  return {};
}

Result<std::string> OperatorTable() {
  OPTIML_ASSIGN(const ContractLibrary library, ContractLibrary::Load());
  std::string text;
  for (const Contract& contract : library.contracts()) {
    OperatorRequest request;
    request.contract = &contract;
    for (const Choice& choice : contract.choices) {
      request.choices[choice.name] = choice.values.front().name;
    }
    std::string choices;
    for (const Choice& choice : contract.choices) {
      std::string values;
      for (const ChoiceValue& value : choice.values) {
        values += (values.empty() ? "" : " ") + value.name;
      }
      choices += fmt::format("{}: {}", choice.name, values);
    }
    text += fmt::format("| {} | {} | {} | {} | {} |\n", contract.name, contract.family, choices,
                        DTypesText(contract), Join(contract.size_order, ", "));
  }
  return "| operator | family | choices | dtypes | sizes |\n|---|---|---|---|---|\n" + text;
}

Result<Json> OperatorJson() {
  OPTIML_ASSIGN(const ContractLibrary library, ContractLibrary::Load());
  Json all = Json::array();
  for (const Contract& contract : library.contracts()) {
    Json choices = Json::object();
    for (const Choice& choice : contract.choices) {
      for (const ChoiceValue& value : choice.values) {
        choices[choice.name].push_back(value.name);
      }
    }
    all.push_back({{"operator", contract.name},
                   {"family", contract.family},
                   {"choices", choices},
                   {"dtypes", SplitTrimmed(DTypesText(contract), ' ')},
                   {"sizes", contract.size_order}});
  }
  return all;
}

}  // namespace optiml
