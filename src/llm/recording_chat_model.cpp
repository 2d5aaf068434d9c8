#include "llm/recording_chat_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "llm/exchange.h"
#include "llm/exchange_file.h"

namespace optiml {
namespace {

Error WriteError(const std::filesystem::path& file, const char* what) {
  return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
}

// Writes the line and its newline at the end. A line that does not fit (a full disk) is taken back.
Result<void> AppendLine(int descriptor, const std::filesystem::path& file, std::string line) {
  line += '\n';
  const off_t begin = lseek(descriptor, 0, SEEK_END);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t n = write(descriptor, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      const Error error = WriteError(file, "cannot record the exchange");
      [[maybe_unused]] const int ignored = ftruncate(descriptor, begin);
      return error;
    }
    rest.remove_prefix(static_cast<size_t>(n));
  }
  if (fdatasync(descriptor) != 0 && errno != EINVAL) {  // EINVAL: not a file that can be synced
    return WriteError(file, "cannot record the exchange");
  }
  return {};
}

// Makes the file end with a whole line, and checks or writes its first.
Result<void> Prepare(int descriptor, const std::filesystem::path& file, const std::string& model) {
  OPTIML_ASSIGN(ExchangeFile recorded, ExchangeFile::Open(file));
  if (recorded.is_empty()) {
    if (ftruncate(descriptor, 0) != 0) {
      return WriteError(file, "cannot write");
    }
    return AppendLine(descriptor, file, ExchangeFile::Header(model));
  }
  if (recorded.model() != model) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: holds exchanges with {}, not with {}", file.string(),
                             recorded.model(), model));
  }
  if (ftruncate(descriptor, static_cast<off_t>(recorded.whole_bytes())) != 0) {
    return WriteError(file, "cannot write");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ChatModel>> RecordingChatModel::Open(
    std::unique_ptr<ChatModel> inner, const std::filesystem::path& file,
    std::function<Result<void>(const TokenUse&, double dollars)> on_lost) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return WriteError(file, "cannot write");
  }
  std::unique_ptr<RecordingChatModel> model(
      new RecordingChatModel(std::move(inner), file, descriptor));
  model->on_lost_ = std::move(on_lost);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::kUnavailable,
                 file.string() + ": another process is recording to this file");
  }
  OPTIML_TRY(Prepare(descriptor, file, model->name()));
  return std::unique_ptr<ChatModel>(std::move(model));
}

RecordingChatModel::~RecordingChatModel() {
  close(descriptor_);
}

Result<ChatReply> RecordingChatModel::Complete(const ChatRequest& request) {
  Exchange exchange;
  exchange.request = request;
  exchange.outcome = inner_->Complete(request);
  auto written = AppendLine(descriptor_, file_, FormatExchange(exchange));
  if (!written) {
    if (exchange.outcome && on_lost_) {
      (void)on_lost_(exchange.outcome->tokens, exchange.outcome->dollars).has_value();
    }
    return std::move(written).error();
  }
  return exchange.outcome;
}

}  // namespace optiml
