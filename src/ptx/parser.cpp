#include "ptx/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace optiml::ptx {

Module Parser::Parse() {
  while (Peek().kind != TokenKind::kEnd) {
    ParseTopLevel();
  }
  if (module_.version.empty()) {
    throw SyntaxError{Peek().line, "no .version directive"};
  }
  if (module_.target.empty()) {
    throw SyntaxError{Peek().line, "no .target directive"};
  }
  ResolveSourceLines();
  return std::move(module_);
}

void Parser::ParseTopLevel() {
  const Token& token = Peek();
  if (token.Is(".version")) {
    Next();
    if (Peek().kind != TokenKind::kNumber) {
      Fail(Peek(), "a version");
    }
    module_.version = std::string(Next().text);
  } else if (token.Is(".target")) {
    Next();
    module_.target = Word("a target");
    while (Accept(',')) {
      Word("a target option");
    }
  } else if (token.Is(".address_size")) {
    Next();
    const Token& size = Peek();
    if (Integer("an address size") != 64) {
      Fail(size, "address size 64");
    }
  } else if (token.Is(".file")) {
    ParseFile();
  } else if (token.Is(".loc")) {
    ParseLoc();
  } else if (token.Is(".section")) {
    Next();
    Word("a section name");
    SkipBraces();
  } else if (token.Is(".pragma") || token.Is(".alias")) {
    SkipStatement();
  } else if (token.Is(';')) {
    Next();
  } else {
    ParseDeclaration();
  }
}

void Parser::ParseDeclaration() {
  bool is_extern = false;
  for (;;) {
    const Token& token = Peek();
    if (token.Is(".extern")) {
      is_extern = true;
      Next();
    } else if (token.Is(".visible") || token.Is(".weak") || token.Is(".common")) {
      Next();
    } else if (token.Is(".entry") || token.Is(".func")) {
      ParseFunction();
      return;
    } else {
      break;
    }
  }
  const Token& token = Peek();
  if (token.Is(".global") || token.Is(".const") || token.Is(".shared") || token.Is(".local")) {
    ParseVariables(is_extern, module_.variables, nullptr);
    return;
  }
  Fail(token, "a directive");
}

Space Parser::SpaceOf(std::string_view directive) {
  return directive == ".global"   ? Space::kGlobal
         : directive == ".const"  ? Space::kConst
         : directive == ".shared" ? Space::kShared
         : directive == ".local"  ? Space::kLocal
                                  : Space::kParam;
}

Type Parser::TypeDirective(uint32_t& vector) {
  vector = 1;
  for (;;) {
    const Token& token = Peek();
    const std::string word = Word("a type");
    if (word == ".v2" || word == ".v4" || word == ".v8") {
      vector = static_cast<uint32_t>(word[2] - '0');
      continue;
    }
    if (word == ".texref" || word == ".samplerref" || word == ".surfref") {
      return Type::kB64;
    }
    const Type type = ParseType(std::string_view(word).substr(1));
    if (word[0] != '.' || type == Type::kNone) {
      Fail(token, "a type");
    }
    return type;
  }
}

uint32_t Parser::Alignment() {
  const Token& token = Peek();
  const uint64_t value = Integer("an alignment");
  if (value == 0 || value > 4096 || (value & (value - 1)) != 0) {
    Fail(token, "an alignment that is a power of two");
  }
  return static_cast<uint32_t>(value);
}

uint64_t Parser::Extents(uint64_t element_bytes, bool& unsized) {
  uint64_t bytes = element_bytes;
  unsized = false;
  while (Peek().Is('[')) {
    const Token& token = Next();
    if (Accept(']')) {
      unsized = true;
      bytes = 0;
      continue;
    }
    const uint64_t extent = Integer("an extent");
    if (extent > kMaxVariableBytes || bytes * extent > kMaxVariableBytes) {
      throw SyntaxError{token.line, "array is too large"};
    }
    bytes *= extent;
    Expect(']');
  }
  return bytes;
}

void Parser::ParseVariables(bool is_extern, std::vector<Variable>& into, Scope* scope) {
  const Space space = SpaceOf(Next().text);
  uint32_t alignment = 0;
  for (;;) {
    if (Accept(".align")) {
      alignment = Alignment();
    } else if (Accept(".attribute")) {
      Expect('(');
      while (!Accept(')')) {
        if (Next().kind == TokenKind::kEnd) {
          Fail(Peek(), "')'");
        }
      }
    } else {
      break;
    }
  }
  uint32_t vector = 1;
  const Type type = TypeDirective(vector);
  do {
    Variable variable;
    variable.space = space;
    variable.type = type;
    variable.is_extern = is_extern;
    const std::string name = Word("a variable name");
    variable.name = name;
    if (scope != nullptr) {
      if (scope->number > 0) {
        variable.name += fmt::format("@{}", scope->number);
      }
      scope->variables[name] = variable.name;
    }
    const uint64_t element = uint64_t{TypeBytes(type)} * vector;
    variable.alignment = alignment != 0 ? alignment : static_cast<uint32_t>(element);
    bool unsized = false;
    variable.bytes = Extents(element, unsized);
    if (Accept('=')) {
      variable.initial.resize(variable.bytes);
      if (unsized) {
        Fail(Peek(), "a sized array before an initialiser");
      }
      uint64_t position = 0;
      ParseInitialiser(variable, position, 0);
    }
    into.push_back(std::move(variable));
  } while (Accept(','));
  Expect(';');
}

void Parser::ParseInitialiser(Variable& variable, uint64_t& position, size_t depth) {
  if (depth > kMaxNesting) {
    Fail(Peek(), "a shallower initialiser");
  }
  if (Accept('{')) {
    if (Accept('}')) {
      return;
    }
    do {
      ParseInitialiser(variable, position, depth + 1);
    } while (Accept(','));
    Expect('}');
    return;
  }
  const uint32_t bytes = TypeBytes(variable.type);
  const Token& token = Peek();
  if (position + bytes > variable.bytes) {
    Fail(token, "no more initialisers than elements");
  }
  uint64_t bits = 0;
  if (token.kind == TokenKind::kWord) {
    Variable::Relocation relocation;
    relocation.position = position;
    relocation.symbol = Word("a symbol");
    if (relocation.symbol == "generic" && Accept('(')) {
      relocation.generic = true;
      relocation.symbol = Word("a symbol");
      Expect(')');
    }
    if (Peek().Is('(') || bytes != 8) {
      Fail(token, "an address in an 8-byte element");
    }
    if (Accept('+')) {
      const bool negative = Accept('-');
      const auto offset = static_cast<int64_t>(Integer("an offset"));
      relocation.offset = negative ? -offset : offset;
    }
    variable.relocations.push_back(std::move(relocation));
  } else {
    const bool negative = Accept('-');
    const Number number = ParseNumber(Next());
    bits = number.bits;
    if (number.is_float) {
      bits = ConvertFloat(number, bytes, negative);
    } else if (negative) {
      bits = ~bits + 1;
    }
  }
  std::memcpy(variable.initial.data() + position, &bits, bytes);
  position += bytes;
}

uint64_t Parser::ConvertFloat(const Number& number, uint32_t bytes, bool negative) {
  if (number.float_bits == bytes * 8) {
    return number.bits ^ (negative ? uint64_t{1} << (number.float_bits - 1) : 0);
  }
  double value = 0;
  if (number.float_bits == 32) {
    const auto narrow = static_cast<uint32_t>(number.bits);
    float single = 0;
    std::memcpy(&single, &narrow, 4);
    value = single;
  } else {
    std::memcpy(&value, &number.bits, 8);
  }
  value = negative ? -value : value;
  uint64_t bits = 0;
  if (bytes == 4) {
    const auto single = static_cast<float>(value);
    std::memcpy(&bits, &single, 4);
  } else {
    std::memcpy(&bits, &value, 8);
  }
  return bits;
}

std::vector<Parameter> Parser::ParseParameters(uint64_t& total) {
  std::vector<Parameter> parameters;
  total = 0;
  Expect('(');
  if (Accept(')')) {
    return parameters;
  }
  do {
    if (!Accept(".param")) {
      Fail(Peek(), "'.param' (register parameters are not supported)");
    }
    Parameter parameter;
    parameter.alignment = 0;
    while (Accept(".align")) {
      parameter.alignment = Alignment();
    }
    uint32_t vector = 1;
    parameter.type = TypeDirective(vector);
    while (Peek().kind == TokenKind::kWord && Peek().text[0] == '.') {  // .ptr .global .align 4
      if (Accept(".align")) {
        Alignment();
      } else {
        Next();
      }
    }
    parameter.name = Word("a parameter name");
    const uint64_t element = uint64_t{TypeBytes(parameter.type)} * vector;
    if (parameter.alignment == 0) {
      parameter.alignment = static_cast<uint32_t>(element);
    }
    bool unsized = false;
    parameter.bytes = Extents(element, unsized);
    total = (total + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    parameter.offset = total;
    total += parameter.bytes;
    parameters.push_back(std::move(parameter));
  } while (Accept(','));
  Expect(')');
  return parameters;
}

void Parser::ParseFunction() {
  module_.functions.emplace_back();
  Function& function = module_.functions.back();
  function_ = &function;
  location_ = {};
  function.is_entry = Next().text == ".entry";
  while (Peek().Is(".noreturn") || Peek().Is(".attribute")) {
    if (Next().text == ".attribute") {
      Expect('(');
      while (!Accept(')')) {
        if (Next().kind == TokenKind::kEnd) {
          Fail(Peek(), "')'");
        }
      }
    }
  }
  uint64_t ignored = 0;
  if (Peek().Is('(')) {
    function.results = ParseParameters(ignored);
  }
  function.name = Word("a function name");
  if (Peek().Is('(')) {
    function.parameters = ParseParameters(function.parameter_bytes);
  }
  while (Peek().kind == TokenKind::kWord) {
    const std::string directive = Word("a directive");
    if (directive[0] != '.') {
      Fail(Peek(), "a performance directive, ';' or '{'");
    }
    uint32_t* threads = directive == ".maxntid"             ? function.maximum_threads
                        : directive == ".reqntid"           ? function.required_threads
                        : directive == ".reqnctapercluster" ? function.required_cluster
                                                            : nullptr;
    uint32_t values[3] = {1, 1, 1};
    size_t count = 0;
    while (Peek().kind == TokenKind::kNumber && count < 3) {
      values[count++] = static_cast<uint32_t>(SmallInteger("a number"));
      if (!Accept(',')) {
        break;
      }
    }
    if (Peek().kind == TokenKind::kString) {
      Next();
    }
    if (directive == ".pragma") {
      Accept(';');
    }
    if (threads != nullptr && count > 0) {
      std::copy_n(values, 3, threads);
    }
    if (directive == ".maxclusterrank" && count > 0) {
      function.maximum_cluster = values[0];
    }
  }
  if (Accept(';')) {
    function.is_declaration = true;
    function_ = nullptr;
    return;
  }
  ParseBody(function);
  function_ = nullptr;
}

Result<Module> ParsePtx(std::string_view text, std::string_view name) {
  try {
    Module module = Parser(text).Parse();
    module.name = std::string(name);
    return module;
  } catch (const SyntaxError& error) {
    return Error(ErrorCode::kParse, fmt::format("{}:{}: {}", name, error.line, error.message));
  }
}

}  // namespace optiml::ptx
