#ifndef OPTIML_BASE_LOG_H_
#define OPTIML_BASE_LOG_H_

// Diagnostics for people who debug OptiML itself: off unless OPTIML_LOG=debug|info is set, written
// to standard error. What a user must see goes through the command line's own streams
// (cli/cli_env.h), never through here.

#include <string_view>

namespace optiml {

enum class LogLevel { kDebug, kInfo };

bool LogEnabled(LogLevel level);
void Log(LogLevel level, std::string_view message);

}  // namespace optiml

#endif  // OPTIML_BASE_LOG_H_
