#include "llm/exchange_file.h"

#include <cerrno>
#include <cstring>

#include "llm/json_text.h"

namespace optiml {
namespace {

constexpr char kFormat[] = "optiml-exchanges";
constexpr int kVersion = 1;

// Bytes up to and with the last newline.
uint64_t WholeBytes(std::ifstream& stream) {
  stream.seekg(0, std::ios::end);
  auto end = static_cast<int64_t>(stream.tellg());
  char chunk[1 << 12];
  while (end > 0) {
    const int64_t begin = std::max<int64_t>(0, end - static_cast<int64_t>(sizeof(chunk)));
    stream.seekg(begin);
    stream.read(chunk, end - begin);
    for (int64_t i = end - begin; i > 0; --i) {
      if (chunk[i - 1] == '\n') {
        return static_cast<uint64_t>(begin + i);
      }
    }
    end = begin;
  }
  return 0;
}

// Whether a file without a newline is a recording whose first line was cut off, and not some other
// file.
bool IsBegun(std::ifstream& stream) {
  const std::string begin =
      ExchangeFile::Header("").substr(0, 2 + sizeof("format") + sizeof(kFormat));
  std::string text(begin.size(), '\0');
  stream.clear();
  stream.seekg(0);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return begin.starts_with(text);
}

}  // namespace

std::string ExchangeFile::Header(const std::string& model) {
  return JsonLine({{"format", kFormat}, {"version", kVersion}, {"model", model}});
}

Result<ExchangeFile> ExchangeFile::Open(const std::filesystem::path& file) {
  ExchangeFile opened;
  opened.stream_.open(file, std::ios::binary);
  if (!opened.stream_) {
    return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                 file.string() + ": cannot open the recording: " + std::strerror(errno));
  }
  opened.whole_bytes_ = WholeBytes(opened.stream_);
  if (opened.is_empty() && !IsBegun(opened.stream_)) {
    return Error(ErrorCode::kParse, file.string() + ": not a recording of exchanges");
  }
  opened.stream_.clear();
  opened.stream_.seekg(0);
  const std::optional<std::string> line = opened.NextLine();
  if (!line) {
    return opened;
  }
  const Json header = ParseJson(*line);
  if (StringMember(header, "format") != kFormat) {
    return Error(ErrorCode::kParse, file.string() + ": not a recording of exchanges");
  }
  if (IntegerMember(header, "version", 0) != kVersion) {
    return Error(ErrorCode::kParse, file.string() + ": a recording of another version");
  }
  opened.model_ = StringMember(header, "model");
  return opened;
}

std::optional<std::string> ExchangeFile::NextLine() {
  std::string line;
  if (read_bytes_ >= whole_bytes_ || !std::getline(stream_, line)) {
    return std::nullopt;
  }
  read_bytes_ += line.size() + 1;
  return line;
}

}  // namespace optiml
