#ifndef OPTIML_CLI_SUMMARY_H_
#define OPTIML_CLI_SUMMARY_H_

// What a user reads when a run has ended.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/cli_env.h"
#include "report/report_model.h"

namespace optiml {

// The block of text at the end of optimize and resume.
std::string RunSummary(const ReportModel& model, const std::filesystem::path& folder,
                       const std::vector<std::string>& files, const CliEnv& env);

// The same for scripts: one JSON object.
std::string RunSummaryJson(const ReportModel& model, const std::filesystem::path& folder,
                           const std::vector<std::string>& files, int exit_code);

// Whether the run did what was asked: kExitDone, kExitNothingKept or kExitInterrupted.
int ExitCodeOfRun(const RunRecord& run);

}  // namespace optiml

#endif  // OPTIML_CLI_SUMMARY_H_
