#ifndef OPTIML_CLI_CHECK_VIEW_H_
#define OPTIML_CLI_CHECK_VIEW_H_

// What a check found out about one kernel, for people and for scripts: the failing stage, the
// reason, the first wrong element with both values, the worst error, and where the output is wrong
// as a picture in characters.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/evaluation.h"

namespace optiml {

// "mine.cu: accepted: 42 cases passed ..." or "mine.cu: rejected at L1: ..." and the lines that say
// more; each ends with a line feed.
std::string CheckText(const std::string& kernel, const Evaluation& evaluation);

nlohmann::ordered_json CheckJson(const Evaluation& evaluation);

}  // namespace optiml

#endif  // OPTIML_CLI_CHECK_VIEW_H_
