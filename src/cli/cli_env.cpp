#include "cli/cli_env.h"

#include <fmt/format.h>

namespace optiml {

namespace fs = std::filesystem;

fs::path CliEnv::Resolve(const fs::path& path) const {
  const fs::path whole = (working_directory / path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();  // without a slash at the end
}

std::optional<std::string> CliEnv::Variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() || found->second.empty()
             ? std::nullopt
             : std::optional<std::string>(found->second);
}

std::optional<fs::path> CliEnv::CacheDirectory() const {
  if (const auto folder = Variable("OPTIML_CACHE_DIR")) {
    return Resolve(*folder);
  }
  // A relative XDG folder is to be ignored (XDG Base Directory Specification).
  if (const auto folder = Variable("XDG_CACHE_HOME"); folder && fs::path(*folder).is_absolute()) {
    return fs::path(*folder) / "optiml";
  }
  if (const auto home = Variable("HOME")) {
    return fs::path(*home) / ".cache" / "optiml";
  }
  return std::nullopt;
}

int ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kParse:
    case ErrorCode::kNotFound:
      return kExitBadUse;
    case ErrorCode::kInterrupted:
      return kExitInterrupted;
    case ErrorCode::kTimeout:
    case ErrorCode::kUnavailable:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return kExitEnvironment;
  }
  return kExitEnvironment;
}

Error OutOfMemory(const CliEnv& env) {
  return Error(
      ErrorCode::kUnavailable,
      fmt::format("out of memory{}: make the checked and timed sizes smaller",
                  env.memory_bytes ? fmt::format(" ({:.3g} GiB were free at the start)",
                                                 static_cast<double>(*env.memory_bytes) / (1 << 30))
                                   : ""));
}

std::string OneLine(std::string message) {
  while (!message.empty() && message.back() == '\n') {
    message.pop_back();
  }
  std::string line;
  for (const char c : message) {
    line += c == '\n' ? "; " : std::string(1, c);
  }
  return line;
}

}  // namespace optiml
