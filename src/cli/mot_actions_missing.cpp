// `optiml mot` in a program without llama.cpp.
#include "cli/mot_actions.h"

namespace optiml {

namespace {

Error Missing() {
  return Error(ErrorCode::kUnavailable,
               "this program was built without llama.cpp, which a mixture of experts needs "
               "(./setup --with-llama builds it with it)");
}

}  // namespace

Result<int> RunMotAction(const MotCommandOptions&, CliEnv&) {
  return Missing();
}

Result<std::unique_ptr<ChatModel>> OpenMotModel(const std::string&, const CliEnv&) {
  return Missing();
}

}  // namespace optiml
