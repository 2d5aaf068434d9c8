#include "cli/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

#include "base/file_system.h"
#include "report/report.h"

namespace optiml {
namespace {

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// "2026-11-29T19:24:07Z" -> "20261129-192407"
std::string Stamp(const std::string& wall_time) {
  std::string stamp;
  for (const char c : wall_time) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      stamp += c;
    } else if (c == 'T') {
      stamp += '-';
    }
  }
  return stamp;
}

// A task's name as a file name: anything but letters, digits, '.', '_' and '-' becomes '-'.
std::string FileName(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                       (c == '.' && !out.empty());
    out += plain ? c : '-';
  }
  return out.empty() ? "run" : out;
}

}  // namespace

Result<fs::path> ChooseRunFolder(const std::string& explicit_folder, const std::string& task_name,
                                 const CliEnv& env) {
  if (!explicit_folder.empty()) {
    const fs::path folder = env.Resolve(explicit_folder);
    if (Exists(folder / kStoreName)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: already holds a run (continue it with `optiml resume {}`, or "
                               "choose another --out)",
                               explicit_folder, explicit_folder));
    }
    std::error_code error;
    if (Exists(folder) && (!IsFolder(folder) || !fs::is_empty(folder, error) || error)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{}: {} (choose a folder that is empty or not there)", explicit_folder,
                      IsFolder(folder) ? "the folder is not empty" : "is no folder"));
    }
    return folder;
  }
  const fs::path base = env.Resolve(kRunsFolder) /
                        fmt::format("{}-{}", FileName(task_name), Stamp(env.clock->WallTime()));
  fs::path folder = base;
  for (int number = 2; Exists(folder); ++number) {
    folder = fmt::format("{}-{}", base.string(), number);
  }
  return folder;
}

Result<fs::path> FindRunFolder(const std::string& name, const CliEnv& env) {
  const fs::path runs = env.Resolve(kRunsFolder);
  if (name == "last") {
    const std::vector<fs::path> folders = ListRunFolders(runs);
    fs::path newest;
    fs::file_time_type newest_time = fs::file_time_type::min();
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      const fs::file_time_type time = fs::last_write_time(folder / kStoreName, ignored);
      if (newest.empty() || time >= newest_time) {
        newest = folder;
        newest_time = time;
      }
    }
    if (newest.empty()) {
      return Error(ErrorCode::kNotFound, fmt::format("{}: no run is here", kRunsFolder));
    }
    return newest;
  }
  const fs::path path = env.Resolve(name);
  if (path.filename() == kStoreName && Exists(path)) {
    return path.parent_path();
  }
  for (const fs::path& folder : {path, runs / name}) {
    if (Exists(folder / kStoreName)) {
      return folder;
    }
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("{}: no run is here (neither a folder with {} nor a name under {})",
                           name, kStoreName, kRunsFolder));
}

std::vector<fs::path> ListRunFolders(const fs::path& folder) {
  std::vector<fs::path> folders;
  if (Exists(folder / kStoreName)) {
    folders.push_back(folder);
  }
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (Exists(it->path() / kStoreName)) {
      folders.push_back(it->path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool IsRunLocked(const fs::path& folder) {
  const int fd = open((folder / kLockName).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

Result<RunRecord> LoadRun(const fs::path& folder) {
  OPTIML_ASSIGN(const auto store, RunStore::Open(folder / kStoreName, true));
  return store->Load();
}

Result<std::vector<std::string>> WriteRunFiles(const fs::path& folder, const ReportModel& model) {
  std::vector<std::pair<std::string, std::string>> files;
  if (model.finished && !model.best_source.empty()) {
    files.emplace_back("best.cu", model.best_source);
    files.emplace_back("best.patch", BestPatch(model));
  }
  files.emplace_back("report.html", HtmlReport(model));
  files.emplace_back("report.json", JsonReport(model));
  files.emplace_back("report.md", MarkdownReport(model));
  std::vector<std::string> names;
  for (const auto& [name, text] : files) {
    OPTIML_TRY(WriteFileAtomically(folder / name, text));
    // What is handed over must be what was verified.
    OPTIML_ASSIGN(const std::string written, ReadFile(folder / name));
    if (written != text) {
      return Error(ErrorCode::kIo, fmt::format("{}: holds other bytes than were written",
                                               (folder / name).string()));
    }
    names.push_back(name);
  }
  return names;
}

std::string ShownPath(const fs::path& path, const CliEnv& env) {
  const fs::path relative = path.lexically_normal().lexically_relative(env.working_directory);
  return relative.empty() || relative.begin()->string() == ".." ? path.string() : relative.string();
}

}  // namespace optiml
