#ifndef OPTIML_CLI_RUN_FOLDER_H_
#define OPTIML_CLI_RUN_FOLDER_H_

// The folder of a run: its name, its store, and the files that are made from the store when it
// ends.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/cli_env.h"
#include "report/report_model.h"
#include "store/run_store.h"

namespace optiml {

inline constexpr char kStoreName[] = "run.sqlite";
inline constexpr char kLockName[] = "run.sqlite.lock";  // store/run_store.cpp
inline constexpr char kRunsFolder[] = "optiml-runs";

// "./optiml-runs/softmax-20261129-192407", with "-2" ... behind it when that is there already; an
// explicit folder is taken as it is. Fails with kInvalidArgument when an explicit one holds a run
// or other files.
Result<std::filesystem::path> ChooseRunFolder(const std::string& explicit_folder,
                                              const std::string& task_name, const CliEnv& env);

// What a user may call a run: its folder, its run.sqlite, its name under ./optiml-runs, or "last".
Result<std::filesystem::path> FindRunFolder(const std::string& name, const CliEnv& env);

// Every folder with a store below `folder`, itself included, oldest first by name.
std::vector<std::filesystem::path> ListRunFolders(const std::filesystem::path& folder);

// Whether a process works on the run at this moment; one that was killed holds no lock.
bool IsRunLocked(const std::filesystem::path& folder);

// Reads a run without locking it.
Result<RunRecord> LoadRun(const std::filesystem::path& folder);

// Writes report.html, report.json, report.md and, when the run ended and kept something, best.cu
// and best.patch. Each file is whole or not there; the first failure ends it. Returns the names
// written.
Result<std::vector<std::string>> WriteRunFiles(const std::filesystem::path& folder,
                                               const ReportModel& model);

// A path as the user would type it: relative to the working folder when it is below it.
std::string ShownPath(const std::filesystem::path& path, const CliEnv& env);

}  // namespace optiml

#endif  // OPTIML_CLI_RUN_FOLDER_H_
