#include "llm/api_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace optiml {
namespace {

constexpr size_t kLongestKey = 4096;  // longer is some other file

Result<ApiKey> LoadFromFile(const std::filesystem::path& file) {
  const std::string name = file.string();
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("{}: cannot open the key: {}", name, std::strerror(errno)));
  }
  struct stat facts{};
  std::string text(kLongestKey + 1, '\0');
  const bool known = fstat(fd, &facts) == 0;
  const bool regular = known && S_ISREG(facts.st_mode);
  const ssize_t size = regular ? read(fd, text.data(), text.size()) : -1;
  close(fd);
  if (!regular || size < 0) {
    return Error(ErrorCode::kIo, fmt::format("{}: cannot read the key: not a regular file", name));
  }
  if (facts.st_uid != geteuid()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: this key belongs to another user", name));
  }
  if ((facts.st_mode & 077) != 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: others may read this key (mode {:o}): chmod 600 {}", name,
                             facts.st_mode & 0777, name));
  }
  text.resize(static_cast<size_t>(size));
  return ApiKey::Parse(std::move(text), name);
}

}  // namespace

Result<ApiKey> ApiKey::Parse(std::string text, const std::string& where) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  const size_t end = text.find_last_not_of(" \t\r\n");
  text = begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (text.empty() || !printable || text.size() > kLongestKey) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: {}", where,
                             text.empty() ? "the key is empty"
                                          : "a key is one word of printable ASCII characters"));
  }
  return ApiKey(std::move(text));
}

std::string ApiKey::Redact(std::string text) const {
  static constexpr std::string_view kInstead = "[key]";
  if (is_empty()) {
    return text;
  }
  for (size_t at = text.find(secret_); at != std::string::npos;
       at = text.find(secret_, at + kInstead.size())) {
    text.replace(at, secret_.size(), kInstead);
  }
  return text;
}

Result<ApiKey> LoadApiKey(const std::map<std::string, std::string>& variables,
                          const std::filesystem::path& file) {
  const auto variable = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  const std::filesystem::path path =
      file.empty() ? std::filesystem::path(variable("OPTIML_API_KEY_FILE")) : file;
  if (!path.empty()) {
    return LoadFromFile(path);
  }
  for (const char* name : {"OPTIML_API_KEY", "OPENAI_API_KEY"}) {
    if (const std::string text = variable(name); !text.empty()) {
      return ApiKey::Parse(text, name);
    }
  }
  return ApiKey();
}

}  // namespace optiml
