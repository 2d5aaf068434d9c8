#ifndef OPTIML_PROFILE_MODEL_DIAGNOSER_H_
#define OPTIML_PROFILE_MODEL_DIAGNOSER_H_

// The diagnosis by a language model: what it is asked, and how strictly its answer is read. The
// decision table (diagnosis.h) and the model speak one language, prompts/diagnosis.schema.json; the
// model is shown the table's answer in it and may find more: the lines of the source.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"
#include "core/judgement.h"
#include "device/device.h"
#include "llm/chat_model.h"

namespace optiml {

// "H200 (emulated), sm_90: 132 multiprocessors, ...": what is not known is left out.
std::string DeviceText(const DeviceInfo& info);

// A diagnosis as JSON by prompts/diagnosis.schema.json. Evidence that names no metric has the
// metric "".
std::string DiagnosisJson(const PlacedDiagnosis& placed);

// `evaluation` is of the variant with this source; accepted.
std::vector<ChatMessage> DiagnoserPrompt(const std::string& source, const Evaluation& evaluation,
                                         const DeviceInfo& device);

// The answer as a diagnosis by `model`. Refused (kParse) when it does not follow the schema, names
// a metric that the evaluation's profile lacks, or a line that the source lacks. The shares of the
// machine's limits are those of the evaluation's own diagnosis.
Result<PlacedDiagnosis> ReadModelDiagnosis(const std::string& reply, const std::string& source,
                                           const Evaluation& evaluation, const std::string& model);

}  // namespace optiml

#endif  // OPTIML_PROFILE_MODEL_DIAGNOSER_H_
