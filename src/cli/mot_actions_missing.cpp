// `optiml mot` in a program without llama.cpp.
#include "cli/mot_actions.h"

namespace optiml {

Result<int> RunMotAction(const MotCommandOptions&, CliEnv&) {
  return Error(ErrorCode::kUnavailable,
               "this program was built without llama.cpp, which a mixture of experts needs "
               "(./setup --with-llama builds it with it)");
}

}  // namespace optiml
