#ifndef OPTIML_CLI_CORPUS_H_
#define OPTIML_CLI_CORPUS_H_

// Corpus: every kernel of a folder through the checks, each in a process of its own with limits, so
// that one that hangs, crashes or takes all memory costs its row only.

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/result.h"
#include "cli/cli_env.h"
#include "cli/toolbox.h"

namespace optiml {

enum class CorpusVerdict {
  kAccepted,
  kRejected,     // found wrong, at a stage and for a reason
  kUnsupported,  // nothing was found wrong: the front end or the device cannot follow it
  kNoTask,       // there is no task, or it is incomplete or wrong itself
  kFailed,       // the check itself hung, crashed or ran out of memory
};
std::string CorpusVerdictName(CorpusVerdict verdict);

struct CorpusRow {
  std::string kernel;  // relative to the corpus
  CorpusVerdict verdict = CorpusVerdict::kFailed;
  std::string stage;   // of a rejection or refusal; else empty
  std::string reason;  // empty when accepted
  double seconds = 0;
};

// Folders with a task.toml, and lone .cu files elsewhere, in order; hidden folders are left out.
// Fails when the folder cannot be read or has none.
Result<std::vector<std::filesystem::path>> KernelsIn(const std::filesystem::path& corpus);

// `arguments` follow "check PATH --json". Fails only when the environment is broken, so that no
// kernel could be checked; once one was judged (`works`), a tool that fails costs its row only.
Result<CorpusRow> CheckOfCorpus(const std::filesystem::path& corpus,
                                const std::filesystem::path& kernel,
                                const std::vector<std::string>& arguments,
                                const ProcessLimits& limits, bool works, const CliEnv& env,
                                Toolbox& tools);
// Whether the check came to a verdict on the kernel.
bool IsJudged(const CorpusRow& row);

// One line each: a row of the table, its head, and the counts below it.
std::string CorpusHead();
std::string FormatCorpusRow(const CorpusRow& row, int width);
std::string CorpusSummary(const std::vector<CorpusRow>& rows);
std::string CorpusJson(const std::vector<CorpusRow>& rows);

}  // namespace optiml

#endif  // OPTIML_CLI_CORPUS_H_
