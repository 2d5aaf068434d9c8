#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "ptx/lexer.h"
#include "ptx/module.h"

namespace optiml::ptx {
namespace {

// Sizes beyond this are nonsense in a module (the GPU's memory is smaller).
constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 38;
// Registers of one function; ptxas itself gives up earlier.
constexpr size_t kMaxRegisters = size_t{1} << 20;
constexpr size_t kMaxNesting = 256;

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

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(Tokenise(text)) {}

  Module Parse() {
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

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() {
    const Token& token = Peek();
    at_ += at_ + 1 < tokens_.size() ? 1 : 0;
    return token;
  }
  [[noreturn]] void Fail(const Token& token, std::string_view expected) const {
    if (token.kind == TokenKind::kEnd) {
      throw SyntaxError{token.line, fmt::format("the text ends where {} is expected", expected)};
    }
    throw SyntaxError{token.line,
                      fmt::format("expected {}, not '{}'", expected, token.text.substr(0, 60))};
  }
  void Expect(char c) {
    if (!Peek().Is(c)) {
      Fail(Peek(), fmt::format("'{}'", c));
    }
    Next();
  }
  bool Accept(char c) {
    const bool is = Peek().Is(c);
    if (is) {
      Next();
    }
    return is;
  }
  bool Accept(std::string_view word) {
    const bool is = Peek().Is(word);
    if (is) {
      Next();
    }
    return is;
  }
  std::string Word(std::string_view expected) {
    if (Peek().kind != TokenKind::kWord) {
      Fail(Peek(), expected);
    }
    return std::string(Next().text);
  }
  uint64_t Integer(std::string_view expected) {
    if (Peek().kind != TokenKind::kNumber) {
      Fail(Peek(), expected);
    }
    const Token& token = Next();
    const Number number = ParseNumber(token);
    if (number.is_float) {
      Fail(token, expected);
    }
    return number.bits;
  }
  int32_t SmallInteger(std::string_view expected) {
    const Token& token = Peek();
    const uint64_t value = Integer(expected);
    if (value > 0x7fffffff) {
      Fail(token, expected);
    }
    return static_cast<int32_t>(value);
  }
  void SkipLine() {
    const int32_t line = Peek().line;
    while (Peek().kind != TokenKind::kEnd && Peek().line == line) {
      Next();
    }
  }
  void SkipStatement() {
    while (!Peek().Is(';')) {
      if (Peek().kind == TokenKind::kEnd) {
        Fail(Peek(), "';'");
      }
      Next();
    }
    Next();
  }
  void SkipBraces() {
    Expect('{');
    for (size_t depth = 1; depth > 0;) {
      const Token& token = Next();
      if (token.kind == TokenKind::kEnd) {
        Fail(token, "'}'");
      }
      depth += token.Is('{') ? 1 : 0;
      depth -= token.Is('}') ? 1 : 0;
    }
  }

  void ParseTopLevel() {
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

  void ParseFile() {
    const int32_t line = Next().line;
    const int32_t index = SmallInteger("a file index");
    if (Peek().kind != TokenKind::kString) {
      Fail(Peek(), "a file name");
    }
    files_[index] = std::string(Next().text);
    while (Peek().line == line && Accept(',')) {
      Integer("a number");
    }
  }

  void ParseLoc() {
    const int32_t line = Next().line;
    Location location;
    location.file = SmallInteger("a file index");
    location.line = SmallInteger("a line");
    SmallInteger("a column");
    while (Peek().line == line && Accept(',')) {
      const std::string word = Word("function_name or inlined_at");
      if (word == "function_name") {
        Word("a label");
        if (Accept('+')) {
          Integer("an offset");
        }
      } else if (word == "inlined_at") {
        location.inlined_file = SmallInteger("a file index");
        location.inlined_line = SmallInteger("a line");
        SmallInteger("a column");
      } else {
        SkipLine();
      }
    }
    location_ = location;
    if (main_file_ == 0 && function_ != nullptr && function_->is_entry) {
      main_file_ = location.file;
    }
    if (function_ != nullptr && function_->source_line == 0) {
      function_->source_line = location.line;
    }
  }

  // Linkage, then a function or variables.
  void ParseDeclaration() {
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

  static Space SpaceOf(std::string_view directive) {
    return directive == ".global"   ? Space::kGlobal
           : directive == ".const"  ? Space::kConst
           : directive == ".shared" ? Space::kShared
           : directive == ".local"  ? Space::kLocal
                                    : Space::kParam;
  }

  Type TypeDirective(uint32_t& vector) {
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

  uint32_t Alignment() {
    const Token& token = Peek();
    const uint64_t value = Integer("an alignment");
    if (value == 0 || value > 4096 || (value & (value - 1)) != 0) {
      Fail(token, "an alignment that is a power of two");
    }
    return static_cast<uint32_t>(value);
  }

  // "[4][3]" after a name. -1: an unsized array.
  uint64_t Extents(uint64_t element_bytes, bool& unsized) {
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

  void ParseVariables(bool is_extern, std::vector<Variable>& into, Scope* scope) {
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

  void ParseInitialiser(Variable& variable, uint64_t& position, size_t depth) {
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

  static uint64_t ConvertFloat(const Number& number, uint32_t bytes, bool negative) {
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

  std::vector<Parameter> ParseParameters(uint64_t& total) {
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

  void ParseFunction() {
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
      uint32_t* threads = directive == ".maxntid"   ? function.maximum_threads
                          : directive == ".reqntid" ? function.required_threads
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
    }
    if (Accept(';')) {
      function.is_declaration = true;
      function_ = nullptr;
      return;
    }
    ParseBody(function);
    function_ = nullptr;
  }

  void ParseBody(Function& function) {
    Expect('{');
    scopes_.clear();
    scope_count_ = 0;
    scopes_.emplace_back();
    locations_.emplace_back();
    while (!scopes_.empty()) {
      const Token& token = Peek();
      if (token.kind == TokenKind::kEnd) {
        Fail(token, "'}'");
      } else if (token.Is('{')) {
        Next();
        if (scopes_.size() > kMaxNesting) {
          Fail(token, "fewer nested scopes");
        }
        scopes_.emplace_back();
        scopes_.back().number = ++scope_count_;
        scopes_.back().first_instruction = function.instructions.size();
      } else if (token.Is('}')) {
        Next();
        ResolveLabels(function);
        scopes_.pop_back();
      } else if (token.Is(';')) {
        Next();
      } else if (token.kind == TokenKind::kWord && Peek(1).Is(':')) {
        ParseLabel(function);
      } else if (token.kind == TokenKind::kWord && token.text[0] == '.') {
        ParseBodyDirective(function);
      } else {
        ParseInstruction(function);
      }
    }
    for (const Instruction& instruction : function.instructions) {
      if (instruction.opcode == "bra" || instruction.opcode.starts_with("bra.")) {
        if (instruction.operands.size() != 1 ||
            instruction.operands[0].kind != OperandKind::kLabel) {
          throw SyntaxError{instruction.ptx_line, "branch to an undefined label"};
        }
      }
    }
    for (size_t i = 0; i < function.label_targets.size(); ++i) {
      if (function.label_targets[i] < 0) {
        throw SyntaxError{Peek().line, fmt::format("label '{}' is not defined in '{}'",
                                                   function.labels[i], function.name)};
      }
    }
  }

  int32_t LabelOf(Function& function, Scope& scope, const std::string& name) {
    const auto [it, fresh] =
        scope.labels.try_emplace(name, static_cast<int32_t>(function.labels.size()));
    if (fresh) {
      function.labels.push_back(name);
      function.label_targets.push_back(-1);
    }
    return it->second;
  }

  void ParseLabel(Function& function) {
    const Token& token = Peek();
    const std::string name = Word("a label");
    Expect(':');
    if (Accept(".branchtargets")) {
      std::vector<int32_t> table;
      do {
        // Tables name labels of the function's own scope, placed before or after.
        table.push_back(LabelOf(function, scopes_.front(), Word("a label")));
      } while (Accept(','));
      Expect(';');
      function.branch_tables.emplace_back(name, std::move(table));
      return;
    }
    if (Peek().Is(".callprototype") || Peek().Is(".calltargets")) {
      SkipStatement();
      return;
    }
    const int32_t label = LabelOf(function, scopes_.back(), name);
    if (function.label_targets[static_cast<size_t>(label)] >= 0) {
      throw SyntaxError{token.line, fmt::format("label '{}' is defined twice", name)};
    }
    function.label_targets[static_cast<size_t>(label)] =
        static_cast<int32_t>(function.instructions.size());
  }

  void ParseBodyDirective(Function& function) {
    const Token& token = Peek();
    if (token.Is(".reg")) {
      ParseRegisters(function);
    } else if (token.Is(".local") || token.Is(".shared") || token.Is(".param")) {
      ParseVariables(false, function.variables, &scopes_.back());
    } else if (token.Is(".global") || token.Is(".const")) {
      ParseVariables(false, module_.variables, nullptr);
    } else if (token.Is(".loc")) {
      ParseLoc();
    } else if (token.Is(".file")) {
      ParseFile();
    } else if (token.Is(".extern")) {
      Next();
      ParseVariables(true, module_.variables, nullptr);
    } else if (token.Is(".pragma") || token.Is(".minnctapersm") || token.Is(".callprototype")) {
      SkipStatement();
    } else {
      Fail(token, "a directive");
    }
  }

  void ParseRegisters(Function& function) {
    Next();
    uint32_t vector = 1;
    const Token& token = Peek();
    const Type type = TypeDirective(vector);
    if (vector != 1) {
      throw SyntaxError{token.line, "vector registers are not supported"};
    }
    do {
      const std::string name = Word("a register name");
      if (Accept('<')) {
        const uint64_t count = Integer("a register count");
        Expect('>');
        if (count + function.registers.size() > kMaxRegisters) {
          throw SyntaxError{token.line, "too many registers"};
        }
        for (uint64_t i = 0; i < count; ++i) {
          AddRegister(function, fmt::format("{}{}", name, i), type);
        }
      } else {
        AddRegister(function, name, type);
      }
    } while (Accept(','));
    Expect(';');
  }

  void AddRegister(Function& function, const std::string& name, Type type) {
    Scope& scope = scopes_.back();
    if (function.registers.size() >= kMaxRegisters) {
      throw SyntaxError{Peek().line, "too many registers"};
    }
    scope.registers[name] = static_cast<int32_t>(function.registers.size());
    function.registers.push_back(
        {scope.number > 0 ? fmt::format("{}@{}", name, scope.number) : name, type});
  }

  int32_t FindRegister(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto it = scope->registers.find(name); it != scope->registers.end()) {
        return it->second;
      }
    }
    return -1;
  }

  void ParseInstruction(Function& function) {
    Instruction instruction;
    instruction.ptx_line = Peek().line;
    if (Accept('@')) {
      instruction.predicate_negated = Accept('!');
      const Token& token = Peek();
      instruction.predicate = FindRegister(Word("a predicate"));
      if (instruction.predicate < 0) {
        throw SyntaxError{token.line, fmt::format("unknown predicate '{}'", token.text)};
      }
      if (function.registers[static_cast<size_t>(instruction.predicate)].type != Type::kPred) {
        throw SyntaxError{token.line, fmt::format("'{}' is not a predicate", token.text)};
      }
    }
    instruction.ptx_line = Peek().line;
    instruction.opcode = Word("an instruction");
    if (!(instruction.opcode[0] >= 'a' && instruction.opcode[0] <= 'z')) {
      throw SyntaxError{instruction.ptx_line,
                        fmt::format("'{}' is not an instruction", instruction.opcode)};
    }
    if (!Peek().Is(';')) {
      do {
        instruction.operands.push_back(ParseOperand(0));
      } while (Accept(','));
    }
    Expect(';');
    locations_.back().push_back(location_);
    function.instructions.push_back(std::move(instruction));
  }

  Operand ParseOperand(size_t depth) {
    if (depth > 8) {
      Fail(Peek(), "a shallower operand");
    }
    Operand operand = ParseSimpleOperand(depth);
    if (Peek().Is('|')) {
      Next();
      Operand pair;
      pair.kind = OperandKind::kPair;
      pair.elements.push_back(std::move(operand));
      pair.elements.push_back(ParseSimpleOperand(depth));
      return pair;
    }
    return operand;
  }

  Operand ParseSimpleOperand(size_t depth) {
    Operand operand;
    const Token& token = Peek();
    if (token.Is('{') || token.Is('(') || token.Is('[')) {
      const char close = token.Is('{') ? '}' : token.Is('(') ? ')' : ']';
      operand.kind = token.Is('{')   ? OperandKind::kVector
                     : token.Is('(') ? OperandKind::kList
                                     : OperandKind::kAddress;
      Next();
      if (Accept(close)) {
        return operand;
      }
      do {
        operand.elements.push_back(ParseOperand(depth + 1));
      } while (Accept(','));
      if (operand.kind == OperandKind::kAddress) {
        operand.offset = operand.elements[0].offset;
        operand.elements[0].offset = 0;
      }
      Expect(close);
      return operand;
    }
    if (token.Is('!')) {
      Next();
      operand = ParseSimpleOperand(depth + 1);
      operand.negated = true;
      return operand;
    }
    if (token.Is('-')) {
      Next();
      if (Peek().kind == TokenKind::kNumber) {
        const Number number = ParseNumber(Next());
        operand.kind = OperandKind::kImmediate;
        operand.is_float = number.is_float;
        operand.float_bits = number.float_bits;
        operand.bits = number.is_float ? number.bits ^ (uint64_t{1} << (number.float_bits - 1))
                                       : ~number.bits + 1;
        return operand;
      }
      operand = ParseSimpleOperand(depth + 1);
      operand.negated = true;
      return operand;
    }
    if (token.kind == TokenKind::kNumber) {
      const Number number = ParseNumber(Next());
      operand.kind = OperandKind::kImmediate;
      operand.is_float = number.is_float;
      operand.float_bits = number.float_bits;
      operand.bits = number.bits;
    } else if (token.Is("_")) {
      Next();
      operand.kind = OperandKind::kSink;
      return operand;
    } else {
      operand.text = Word("an operand");
      operand.index = FindRegister(operand.text);
      if (operand.index >= 0) {
        operand.kind = OperandKind::kRegister;
      } else if (operand.text[0] == '%') {
        operand.kind = OperandKind::kSpecial;
      } else {
        operand.kind = OperandKind::kSymbol;
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
          if (const auto it = scope->variables.find(operand.text); it != scope->variables.end()) {
            operand.text = it->second;
            break;
          }
        }
      }
    }
    if (Peek().Is('+') || (Peek().Is('-') && Peek(1).kind == TokenKind::kNumber)) {
      bool negative = Next().Is('-');
      negative = Accept('-') ? !negative : negative;
      const auto offset = static_cast<int64_t>(Integer("an offset"));
      operand.offset = negative ? -offset : offset;
      if (operand.kind == OperandKind::kImmediate) {
        operand.bits += static_cast<uint64_t>(operand.offset);
        operand.offset = 0;
      }
    }
    return operand;
  }

  // Turns symbols that are labels of the innermost scope into labels.
  void ResolveLabels(Function& function) {
    const Scope& scope = scopes_.back();
    if (scope.labels.empty()) {
      return;
    }
    for (size_t i = scope.first_instruction; i < function.instructions.size(); ++i) {
      for (Operand& operand : function.instructions[i].operands) {
        if (operand.kind == OperandKind::kSymbol) {
          if (const auto it = scope.labels.find(operand.text); it != scope.labels.end()) {
            operand.kind = OperandKind::kLabel;
            operand.index = it->second;
          }
        }
      }
    }
  }

  void ResolveSourceLines() {
    if (const auto it = files_.find(main_file_); it != files_.end()) {
      module_.source_file = it->second;
    }
    size_t body = 0;
    for (Function& function : module_.functions) {
      if (function.is_declaration) {
        continue;
      }
      int32_t line = 0;
      const std::vector<Location>& locations = locations_[body++];
      for (size_t i = 0; i < function.instructions.size(); ++i) {
        const Location& location = locations[i];
        if (location.line > 0 && location.file == main_file_) {
          line = location.line;
        } else if (location.inlined_line > 0 && location.inlined_file == main_file_) {
          line = location.inlined_line;
        }
        function.instructions[i].source_line = line;
      }
    }
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Module module_;
  Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  int32_t scope_count_ = 0;
  Location location_;
  int32_t main_file_ = 0;
  std::map<int32_t, std::string> files_;
  std::vector<std::vector<Location>> locations_;  // of each body's instructions
};

}  // namespace

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
