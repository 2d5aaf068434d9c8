#ifndef OPTIML_CLI_CLI_H_
#define OPTIML_CLI_CLI_H_

// The program as a function: arguments in, exit status out. Results go to env.out; one line
// "optiml: file:line: message" for a failure goes to env.err.

#include <string>
#include <vector>

#include "cli/cli_env.h"
#include "cli/toolbox.h"

namespace optiml {

// `arguments` without the program's name.
int RunCli(const std::vector<std::string>& arguments, CliEnv& env, Toolbox& tools);

}  // namespace optiml

#endif  // OPTIML_CLI_CLI_H_
