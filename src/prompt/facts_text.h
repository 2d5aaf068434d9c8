#ifndef OPTIML_PROMPT_FACTS_TEXT_H_
#define OPTIML_PROMPT_FACTS_TEXT_H_

// What the roles tell a model of a kernel, one fact a line. Absent facts are said to be absent.

#include <optional>
#include <string>
#include <vector>

#include "core/artifact.h"
#include "core/edit.h"
#include "core/evaluation.h"
#include "core/judgement.h"

namespace optiml {

// "- dram__bytes_read.sum = 1.074e+09 byte"
std::string CountersText(const std::optional<Profile>& profile);
// "- dram__bytes_read.sum: 1.074e+09 -> 5.37e+08 byte", those that both have.
std::string CounterChangesText(const Profile& before, const Profile& after);
std::string ResourcesText(const std::vector<KernelResources>& resources);
std::string LimitsText(const Diagnosis& diagnosis);
// "memory (confidence 0.75): device memory is near its limit; lines 3, 5" and the evidence.
std::string DiagnosisText(const std::optional<PlacedDiagnosis>& placed);
// "dram__bytes_read.sum down, launch__grid_size up"
std::string ClaimText(const std::vector<MetricClaim>& claim);
// "19.02 us predicted at rows=8192 cols=8192; ..."
std::string TimesText(const Evaluation& evaluation);

}  // namespace optiml

#endif  // OPTIML_PROMPT_FACTS_TEXT_H_
