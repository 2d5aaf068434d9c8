#ifndef OPTIML_PTX_PARSER_H_
#define OPTIML_PTX_PARSER_H_

// Parser: PTX text to Module, by recursive descent. parser.cpp reads the module level,
// parse_body.cpp function bodies. Internal to ptx/; others call ParsePtx (module.h).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"
#include "ptx/token_reader.h"

namespace optiml::ptx {

// Sizes and numbers beyond which a text is nonsense; ptxas gives up earlier.
inline constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 38;
inline constexpr size_t kMaxRegisters = size_t{1} << 20;
inline constexpr size_t kMaxNesting = 256;

struct Location {
  int32_t file = 0;
  int32_t line = 0;
  int32_t inlined_file = 0;
  int32_t inlined_line = 0;
};

struct Scope {
  int32_t number = 0;
  size_t first_instruction = 0;
  std::map<std::string, int32_t, std::less<>> registers;
  std::map<std::string, std::string, std::less<>> variables;
  std::map<std::string, int32_t, std::less<>> labels;
};

class Parser : private TokenReader {
 public:
  explicit Parser(std::string_view text) : TokenReader(Tokenise(text)) {}

  // Throws SyntaxError.
  Module Parse();

 private:
  void ParseTopLevel();
  void ParseFile();
  void ParseLoc();
  // Linkage, then a function or variables.
  void ParseDeclaration();
  static Space SpaceOf(std::string_view directive);
  Type TypeDirective(uint32_t& vector);
  uint32_t Alignment();
  // "[4][3]" after a name. -1: an unsized array.
  uint64_t Extents(uint64_t element_bytes, bool& unsized);
  void ParseVariables(bool is_extern, std::vector<Variable>& into, Scope* scope);
  void ParseInitialiser(Variable& variable, uint64_t& position, size_t depth);
  static uint64_t ConvertFloat(const Number& number, uint32_t bytes, bool negative);
  std::vector<Parameter> ParseParameters(uint64_t& total);
  void ParseFunction();
  void ParseBody(Function& function);
  int32_t LabelOf(Function& function, Scope& scope, const std::string& name);
  void ParseLabel(Function& function);
  void ParseBodyDirective(Function& function);
  void ParseRegisters(Function& function);
  void AddRegister(Function& function, const std::string& name, Type type);
  int32_t FindRegister(std::string_view name) const;
  void ParseInstruction(Function& function);
  Operand ParseOperand(size_t depth);
  Operand ParseSimpleOperand(size_t depth);
  // Turns symbols that are labels of the innermost scope into labels.
  void ResolveLabels(Function& function);
  void ResolveSourceLines();

  Module module_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  int32_t scope_count_ = 0;
  Location location_;
  int32_t main_file_ = 0;
  std::map<int32_t, std::string> files_;
  std::vector<std::vector<Location>> locations_;  // of each body's instructions
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_PARSER_H_
