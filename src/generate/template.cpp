#include "generate/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/check.h"
#include "generate/dtype_holes.h"
#include "task/toml_document.h"

namespace optiml {
namespace {

// Holes within holes end after this depth: a contract that fills a hole with itself is left as it
// is.
constexpr int kMostDepth = 8;

// Where the "}}" that closes a hole at `begin` is, past those of holes in its argument.
size_t HoleEnd(std::string_view text, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i + 1 < text.size(); ++i) {
    if (text[i] == '{' && text[i + 1] == '{') {
      ++depth;
      ++i;
    } else if (text[i] == '}' && text[i + 1] == '}') {
      if (depth == 0) {
        return i;
      }
      --depth;
      ++i;
    }
  }
  return std::string_view::npos;
}

std::string Fill(std::string_view text, const Holes& holes, int depth) {
  std::string filled;
  while (true) {
    const size_t begin = text.find("{{");
    const size_t end = begin == std::string_view::npos ? begin : HoleEnd(text, begin + 2);
    if (end == std::string_view::npos || depth >= kMostDepth) {
      filled += text;
      return filled;
    }
    filled += text.substr(0, begin);
    const std::string_view hole = text.substr(begin + 2, end - begin - 2);
    const size_t colon = hole.find(':');
    const auto found = holes.find(std::string(hole.substr(0, colon)));
    if (found == holes.end()) {
      filled += text.substr(begin, end + 2 - begin);
    } else if (colon == std::string_view::npos) {
      filled += Fill(found->second, holes, depth + 1);
    } else {
      const std::string argument = Fill(hole.substr(colon + 1), holes, depth + 1);
      for (const char c : found->second) {
        filled += c == '$' ? argument : std::string(1, c);
      }
    }
    text.remove_prefix(end + 2);
  }
}

// Keeps or drops what stands between "#: if CHOICE VALUE ..." and "#: end"; the dtype counts as a
// choice.
std::string KeepChosen(const std::string& text, const std::map<std::string, std::string>& choices) {
  std::istringstream lines(text);
  std::string kept;
  bool keeps = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#: if ")) {
      std::istringstream words(line.substr(6));
      std::string choice;
      words >> choice;
      const auto chosen = choices.find(choice);
      keeps = false;
      for (std::string value; words >> value;) {
        keeps = keeps || (chosen != choices.end() && chosen->second == value);
      }
    } else if (line.starts_with("#: end")) {
      keeps = true;
    } else if (keeps) {
      kept += line + "\n";
    }
  }
  return kept;
}

std::string RowText(const std::vector<std::string>& order, const SizeBindings& sizes) {
  std::string text;
  for (const std::string& name : order) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, sizes.at(name));
  }
  return "{ " + text + " }";
}

Result<std::string> TaskToml(const OperatorRequest& request, const Provenance& provenance,
                             const std::string& name, const std::string& title,
                             const Holes& holes) {
  const Contract& contract = *request.contract;
  SizeBindings timed = contract.default_sizes;
  for (const auto& [size, value] : request.sizes) {
    if (!timed.contains(size)) {
      std::string known;
      for (const std::string& one : contract.size_order) {
        known += (known.empty() ? "" : ", ") + one;
      }
      return Error(ErrorCode::kInvalidArgument, fmt::format("{} has no size \"{}\" (its sizes: {})",
                                                            contract.name, size, known));
    }
    timed[size] = value;
  }
  std::string text = fmt::format(
      "[task]\nname   = {}\nsource = \"kernel.cu\"\nentry  = {}\nintent = {}\n\n"
      "[sizes]\ntimed   = [ {} ]\nchecked = [\n",
      TomlString(name), TomlString(name), TomlString(title), RowText(contract.size_order, timed));
  for (const SizeBindings& row : contract.checked) {
    text += "  " + RowText(contract.size_order, row) + ",\n";
  }
  std::map<std::string, std::string> choices = request.choices;
  choices["dtype"] = DTypeName(request.dtype);
  text += "]\n\n" + FillHoles(KeepChosen(contract.task_text, choices), holes);
  text += "\n[reference]\nkind   = \"host\"\nsource = \"reference.cpp\"\n";
  text += fmt::format("\n[origin]\nintent    = {}\nreference = {}\n", TomlString(provenance.intent),
                      TomlString(provenance.reference));
  return text;
}

}  // namespace

Holes HolesOf(const OperatorRequest& request) {
  Holes holes = DTypeHoles(request.dtype);
  for (const auto& [name, value] : request.choices) {
    holes[name] = value;
    const Choice* choice = request.contract->FindChoice(name);
    const ChoiceValue* chosen = choice == nullptr ? nullptr : choice->Find(value);
    if (chosen != nullptr) {
      for (const auto& [hole, text] : chosen->holes) {
        holes[name + "." + hole] = text;
      }
    }
  }
  holes["name"] = request.contract->task_name;
  return holes;
}

std::string FillHoles(std::string_view text, const Holes& holes) {
  return Fill(text, holes, 0);
}

std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

Result<GeneratedTask> MakeTask(const OperatorRequest& request, const Provenance& provenance) {
  OPTIML_CHECK(request.contract != nullptr, "a request has its contract");
  const Holes holes = HolesOf(request);
  GeneratedTask task;
  task.name = FillHoles(request.contract->task_name, holes);
  task.title = FillHoles(request.contract->title, holes);
  OPTIML_ASSIGN(task.files["task.toml"],
                TaskToml(request, provenance, task.name, task.title, holes));
  task.files["kernel.cu"] = FillHoles(request.contract->kernel, holes);
  task.files["reference.cpp"] = FillHoles(request.contract->reference, holes);
  for (const auto& [file, text] : task.files) {
    const size_t hole = text.find("{{");
    if (hole != std::string::npos && file != "task.toml") {
      return Error(ErrorCode::kInternal,
                   fmt::format("operator {}: {} keeps a hole: {}", request.contract->name, file,
                               text.substr(hole, 30)));
    }
  }
  return task;
}

}  // namespace optiml
