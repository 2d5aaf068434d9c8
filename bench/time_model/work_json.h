#ifndef OPTIML_BENCH_TIME_MODEL_WORK_JSON_H_
#define OPTIML_BENCH_TIME_MODEL_WORK_JSON_H_

// What the emulator counted of a plan, as JSON: so that the time model can be fitted later, without
// the kernels.

#include <nlohmann/json.hpp>

#include "device/time_model.h"

namespace optiml {

nlohmann::json ToJson(const PlanWork& work);
// Throws nlohmann::json::exception on anything else than ToJson's output.
PlanWork WorkFromJson(const nlohmann::json& json);

}  // namespace optiml

#endif  // OPTIML_BENCH_TIME_MODEL_WORK_JSON_H_
