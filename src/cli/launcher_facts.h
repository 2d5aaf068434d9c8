#ifndef OPTIML_CLI_LAUNCHER_FACTS_H_
#define OPTIML_CLI_LAUNCHER_FACTS_H_

// From the front end's view of a launcher to the task's: the two folders do not know each other.

#include <vector>

#include "frontend/frontend.h"
#include "task/task.h"

namespace optiml {

std::vector<LauncherFact> ToLauncherFacts(const std::vector<LauncherParameter>& parameters);

// The element type that a C++ scalar type stands for; absent for void, vectors and structs.
std::optional<DType> DTypeOf(const ast::Type& type);

}  // namespace optiml

#endif  // OPTIML_CLI_LAUNCHER_FACTS_H_
