#ifndef OPTIML_REWRITE_EMIT_LAUNCH_SITES_H_
#define OPTIML_REWRITE_EMIT_LAUNCH_SITES_H_

// Launch sites: where the host code launches a kernel.

#include <string>
#include <vector>

#include "frontend/ast.h"

namespace optiml::rewrite {

struct LaunchSite {
  ast::TextRange range;                       // the expression k<<<...>>>(...)
  std::vector<std::string> arguments;         // their text
  std::string stream;                         // its text; empty: none
  std::vector<ast::TextRange> configuration;  // grid and block
  int line = 0;
};

std::vector<LaunchSite> LaunchSitesOf(const ast::SourceUnit& unit, const ast::Function& kernel);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_LAUNCH_SITES_H_
