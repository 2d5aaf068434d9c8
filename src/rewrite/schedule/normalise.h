#ifndef OPTIML_REWRITE_SCHEDULE_NORMALISE_H_
#define OPTIML_REWRITE_SCHEDULE_NORMALISE_H_

// Normalise: the program in the form that schedules work on, computing the same values with the
// same floating point operations:
//   - folds that do not depend on a program dim leave it: a kernel with one thread per element that
//     folds its whole row becomes one row with a par stage (each row is folded once);
//   - a lone par stage gives its dims to the program (S3: points of a thread's loop become points
//   of
//     the grid);
//   - several fold dims over contiguous memory become one (S1);
//   - inner dims of equal extent get one name.

#include <optional>

#include "rewrite/program/program.h"

namespace optiml::rewrite {

Program Normalise(const Program& program);

// The program with nothing changed but the spelling of its indices.
Program Tidy(const Program& program);

// All program dims as one (S1), when every access runs through memory in the order of the dims and
// nothing else mentions them. The new dim is called `name`.
std::optional<Program> Flatten(const Program& program, const std::string& name);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_NORMALISE_H_
