#ifndef OPTIML_STORE_SERIALISE_H_
#define OPTIML_STORE_SERIALISE_H_

// The nouns as JSON text and back, without loss: doubles come back bit for bit (NaN payloads and
// infinities included), absent optionals stay absent, empty containers stay empty. The store keeps
// its nested columns in this form; docs/store_schema.md shows it.
//
// Text that is not valid UTF-8 is repaired with U+FFFD; sources are never kept here but as blobs.
// Parse fails with kParse and the first key that is missing or has the wrong type.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "store/run_record.h"

namespace optiml {

std::string FormatEdit(const Edit& edit);
Result<Edit> ParseEdit(std::string_view json);

std::string FormatEdits(const std::vector<Edit>& edits);
Result<std::vector<Edit>> ParseEdits(std::string_view json);

std::string FormatEvaluation(const Evaluation& evaluation);
Result<Evaluation> ParseEvaluation(std::string_view json);

std::string FormatReward(const Reward& reward);
Result<Reward> ParseReward(std::string_view json);

std::string FormatDiagnosis(const PlacedDiagnosis& diagnosis);
Result<PlacedDiagnosis> ParseDiagnosis(std::string_view json);

std::string FormatNotes(const std::vector<EditNote>& notes);
Result<std::vector<EditNote>> ParseNotes(std::string_view json);

std::string FormatJudgement(const Judgement& judgement);
Result<Judgement> ParseJudgement(std::string_view json);

std::string FormatProfile(const Profile& profile);
Result<Profile> ParseProfile(std::string_view json);

// Without source and task_toml, which the store keeps as blobs.
std::string FormatTaskSnapshot(const TaskSnapshot& task);
Result<TaskSnapshot> ParseTaskSnapshot(std::string_view json);

std::string FormatEnvironment(const EnvironmentSnapshot& environment);
Result<EnvironmentSnapshot> ParseEnvironment(std::string_view json);

std::string FormatOptionMap(const std::map<std::string, std::string>& options);
Result<std::map<std::string, std::string>> ParseOptionMap(std::string_view json);

// Without chain and best_source, which have tables of their own.
std::string FormatResult(const RunResult& result);
Result<RunResult> ParseResult(std::string_view json);

Result<EditMark> ParseEditMark(std::string_view name);
Result<RunState> ParseRunState(std::string_view name);

}  // namespace optiml

#endif  // OPTIML_STORE_SERIALISE_H_
