#include "frontend/ast.h"

namespace optiml::ast {

const Function* SourceUnit::FindFunction(const std::string& name_expression) const {
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name_expression == name_expression && !function.is_template) {
      if (function.body != nullptr) {
        return &function;
      }
      declaration = &function;
    }
  }
  return declaration;
}

}  // namespace optiml::ast
