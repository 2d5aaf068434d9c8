// InferTask: what a lone .cu says about its task, written down as a task.toml.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "task/launcher_scan.h"
#include "task/names.h"
#include "task/task.h"
#include "task/task_file.h"

namespace optiml {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + "\"";
}

std::string RowToml(const SizeBindings& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return "{ " + text + " }";
}

std::string ToFill(std::string_view allowed) {
  return Quoted(kFillIn + std::string(allowed));
}

// A row that offers sizes to be filled in.
std::string OpenRowToml(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name,
                        ToFill("a whole number, the size that must be fast"));
  }
  return names.empty() ? ToFill("{ name = number, ... }") : "{ " + text + " }";
}

std::string RowsToml(const std::vector<SizeBindings>& rows) {
  std::string text;
  for (const SizeBindings& row : rows) {
    text += (text.empty() ? "" : ", ") + RowToml(row);
  }
  return "[ " + text + " ]";
}

std::string BoundToml(const std::optional<SizeExpr>& expression, std::optional<double> number) {
  if (expression) {
    return ParseInteger(expression->text()) ? expression->text() : Quoted(expression->text());
  }
  return fmt::format("{}", *number);
}

// The table of one argument that was given in full.
std::string ArgToml(const ArgSpec& arg) {
  if (arg.is_size) {
    return arg.dtype == DType::kI32 ? "{}"
                                    : fmt::format("{{ dtype = \"{}\" }}", DTypeName(arg.dtype));
  }
  std::string text = fmt::format("{{ dtype = \"{}\"", DTypeName(arg.dtype));
  if (arg.is_buffer) {
    std::string shape;
    for (const SizeExpr& extent : arg.shape) {
      shape += (shape.empty() ? "" : ", ") + Quoted(extent.text());
    }
    text += fmt::format(", shape = [{}], role = \"{}\"", shape, ArgRoleName(arg.role));
  }
  const bool filled = arg.role == ArgRole::kIn || arg.role == ArgRole::kInOut;
  if (arg.value) {
    text += fmt::format(", value = {}", *arg.value);
  } else if (arg.fill.declared && filled) {
    text += fmt::format(", fill = \"{}\"", FillKindName(arg.fill.kind));
    if (arg.fill.min || arg.fill.min_value) {
      text += ", min = " + BoundToml(arg.fill.min, arg.fill.min_value);
    }
    if (arg.fill.max || arg.fill.max_value) {
      text += ", max = " + BoundToml(arg.fill.max, arg.fill.max_value);
    }
    if (arg.fill.kind == FillKind::kConstant) {
      text += fmt::format(", value = {}", arg.fill.value);
    }
    if (arg.fill.total) {
      text += ", total = " + BoundToml(arg.fill.total, std::nullopt);
    }
  }
  return text + " }";
}

struct ArgGuess {
  std::string toml;
  std::string comment;  // what was assumed
};

class Inference {
 public:
  Inference(const std::set<std::string>& size_names,
            const std::map<std::string, std::string>& given,
            const std::map<std::string, std::string>& flags, InferredTask& out)
      : size_names_(size_names), given_(given), flags_(flags), out_(out) {}

  Result<ArgGuess> Infer(const LauncherFact& fact) {
    const auto given = given_.find(fact.name);
    if (given != given_.end()) {
      OPTIML_ASSIGN(const ArgSpec arg,
                    ParseArgText(given->first, given->second,
                                 flags_.contains(fact.name) ? "--arg" : "argument"));
      return ArgGuess{ArgToml(arg), ""};
    }
    return fact.is_pointer ? Buffer(fact) : Scalar(fact);
  }

 private:
  Result<ArgGuess> Buffer(const LauncherFact& fact) {
    ArgGuess guess;
    std::string dtype = fact.dtype ? Quoted(DTypeName(*fact.dtype)) : "";
    if (!fact.dtype) {
      out_.missing.push_back(fmt::format("{}: its element type says no dtype", fact.name));
      dtype = ToFill("a dtype, such as f32");
    }
    const std::string shape = Shape(fact, guess);
    std::string role = Quoted(ArgRoleName(fact.role.value_or(ArgRole::kIn)));
    if (!fact.role) {
      out_.missing.push_back(fmt::format("{}: no role: {}", fact.name, fact.role_reason));
      role = ToFill("in, out, inout or workspace");
    }
    if (!fact.role_reason.empty()) {
      guess.comment += (guess.comment.empty() ? "" : "; ") + fact.role_reason;
    }
    guess.toml = fmt::format("{{ dtype = {}, shape = [{}], role = {} }}", dtype, shape, role);
    return guess;
  }

  // The extents, quoted.
  std::string Shape(const LauncherFact& fact, ArgGuess& guess) {
    const bool known = !fact.shape.empty() &&
                       std::all_of(fact.shape.begin(), fact.shape.end(), [&](const auto& extent) {
                         const Result<SizeExpr> parsed = SizeExpr::Parse(extent);
                         const auto names = parsed ? parsed->Names() : std::vector<std::string>();
                         return parsed.has_value() &&
                                std::all_of(names.begin(), names.end(), [&](const auto& name) {
                                  return size_names_.contains(name);
                                });
                       });
    if (known) {
      std::string text;
      for (const std::string& extent : fact.shape) {
        text += (text.empty() ? "" : ", ") + Quoted(extent);
      }
      guess.comment = "shape from the kernel's indices";
      return text;
    }
    // One size only: then a whole buffer of it is the one guess there is, and the checks find out
    // when it is wrong (unwritten elements, or accesses out of bounds).
    if (size_names_.size() == 1) {
      guess.comment = "shape assumed: the only size";
      return Quoted(*size_names_.begin());
    }
    out_.missing.push_back(fmt::format("{}: no shape: say which sizes it has", fact.name));
    return ToFill("extents, outermost first, such as rows, cols");
  }

  Result<ArgGuess> Scalar(const LauncherFact& fact) {
    if (size_names_.contains(fact.name)) {
      return ArgGuess{!fact.dtype || *fact.dtype == DType::kI32
                          ? "{}"
                          : fmt::format("{{ dtype = \"{}\" }}", DTypeName(*fact.dtype)),
                      ""};
    }
    if (fact.dtype && IsFloat(*fact.dtype)) {
      return ArgGuess{
          fmt::format("{{ dtype = \"{}\", fill = \"uniform\" }}", DTypeName(*fact.dtype)),
          "assumed to vary in [0, 1); a fixed one is value = NUMBER"};
    }
    out_.missing.push_back(
        fmt::format("{}: neither a size with a value nor a fixed value", fact.name));
    return ArgGuess{ToFill("{}, if it is a size of [sizes], or a table with dtype and value"), ""};
  }

  const std::set<std::string>& size_names_;
  const std::map<std::string, std::string>& given_;
  const std::map<std::string, std::string>& flags_;  // those of them that flags gave
  InferredTask& out_;
};

}  // namespace

Result<InferredTask> InferTask(const std::filesystem::path& source, const std::string& source_text,
                               const std::string& entry, const std::vector<LauncherFact>& launcher,
                               const TaskOverrides& overrides) {
  const std::string file_name = source.filename().string();
  OPTIML_ASSIGN(const SourceComments comments, ReadComments(source_text, file_name));
  std::vector<SizeBindings> timed = overrides.timed;
  std::vector<SizeBindings> checked = overrides.checked;
  const auto fill_from = [](const std::vector<SizeRow>& rows, std::vector<SizeBindings>& out) {
    for (size_t i = 0; out.size() < rows.size() && i < rows.size(); ++i) {
      out.push_back(rows[i].sizes);
    }
  };
  if (timed.empty()) {
    fill_from(comments.timed, timed);
  }
  if (checked.empty()) {
    fill_from(comments.checked, checked);
  }
  std::map<std::string, std::string> given = comments.args;
  for (const auto& [name, text] : overrides.shapes) {
    given[name] = text;
  }
  for (const auto& [name, text] : given) {
    const bool known = std::any_of(launcher.begin(), launcher.end(),
                                   [&](const LauncherFact& fact) { return fact.name == name; });
    if (!known) {
      return Error(
          ErrorCode::kInvalidArgument,
          overrides.shapes.contains(name)
              ? fmt::format("--arg {}: {} has no such parameter ({})", name, entry, file_name)
              : fmt::format("{}: argument \"{}\" is described, but {} has no such parameter",
                            file_name, name, entry));
    }
  }
  InferredTask inferred;
  std::set<std::string> size_names;
  std::vector<std::string> open_sizes;  // in the launcher's order
  if (timed.empty()) {
    inferred.missing.push_back(
        "no timed sizes: give --timed name=number,... or a comment \"// optiml: name=number ...\"");
    // Integer parameters are the likely sizes: the file offers them to be filled in.
    for (const LauncherFact& fact : launcher) {
      if (!fact.is_pointer && fact.dtype && !IsFloat(*fact.dtype) && !given.contains(fact.name)) {
        size_names.insert(fact.name);
        open_sizes.push_back(fact.name);
      }
    }
  } else {
    for (const auto& [name, value] : timed.front()) {
      size_names.insert(name);
    }
  }

  std::string& toml = inferred.toml;
  toml = fmt::format("# Inferred from {}; docs/task_format.md describes every key.\n[task]\n",
                     file_name);
  toml += fmt::format("name   = {}\nsource = {}\nentry  = {}\n", Quoted(source.stem().string()),
                      Quoted(file_name), Quoted(entry));
  toml += fmt::format("intent = {}\n", Quoted(comments.intent));
  toml += "\n[sizes]\n";
  toml += fmt::format("timed   = {}\n",
                      timed.empty() ? "[ " + OpenRowToml(open_sizes) + " ]" : RowsToml(timed));
  if (!checked.empty()) {
    toml += fmt::format("checked = {}\n", RowsToml(checked));
  }
  toml += "\n[args]   # in the launcher's order\n";
  Inference inference(size_names, given, overrides.shapes, inferred);
  for (const LauncherFact& fact : launcher) {
    if (fact.name.empty()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: a parameter of {} has no name", file_name, entry));
    }
    OPTIML_ASSIGN(const ArgGuess guess, inference.Infer(fact));
    toml += fmt::format("{} = {}{}\n", fact.name, guess.toml,
                        guess.comment.empty() ? "" : "   # " + guess.comment);
  }
  toml += "\n[reference]\n";
  if (comments.reference.empty()) {
    toml += "kind = \"original\"   # candidates are compared with this very kernel\n";
  } else {
    toml += fmt::format("kind   = \"host\"\nsource = {}\n", Quoted(comments.reference));
  }
  return inferred;
}

}  // namespace optiml
