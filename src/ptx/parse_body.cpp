// Bodies of functions: registers, labels, instructions, operands, source lines.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/parser.h"

namespace optiml::ptx {

void Parser::ParseFile() {
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

void Parser::ParseLoc() {
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

void Parser::ParseBody(Function& function) {
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
      if (instruction.operands.size() != 1 || instruction.operands[0].kind != OperandKind::kLabel) {
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

int32_t Parser::LabelOf(Function& function, Scope& scope, const std::string& name) {
  const auto [it, fresh] =
      scope.labels.try_emplace(name, static_cast<int32_t>(function.labels.size()));
  if (fresh) {
    function.labels.push_back(name);
    function.label_targets.push_back(-1);
  }
  return it->second;
}

void Parser::ParseLabel(Function& function) {
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

void Parser::ParseBodyDirective(Function& function) {
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

void Parser::ParseRegisters(Function& function) {
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

void Parser::AddRegister(Function& function, const std::string& name, Type type) {
  Scope& scope = scopes_.back();
  if (function.registers.size() >= kMaxRegisters) {
    throw SyntaxError{Peek().line, "too many registers"};
  }
  scope.registers[name] = static_cast<int32_t>(function.registers.size());
  function.registers.push_back(
      {scope.number > 0 ? fmt::format("{}@{}", name, scope.number) : name, type});
}

int32_t Parser::FindRegister(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto it = scope->registers.find(name); it != scope->registers.end()) {
      return it->second;
    }
  }
  return -1;
}

void Parser::ParseInstruction(Function& function) {
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

Operand Parser::ParseOperand(size_t depth) {
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

Operand Parser::ParseSimpleOperand(size_t depth) {
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

void Parser::ResolveLabels(Function& function) {
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

void Parser::ResolveSourceLines() {
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

}  // namespace optiml::ptx
