#include "frontend/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontend/side_effects.h"

namespace optiml::frontend {

namespace {

// Deeper recursion than a launcher needs; each level costs a few kilobytes of our own stack.
constexpr size_t kMaxCallDepth = 200;
// Expressions and statements within each other, over all calls: a level takes a few hundred bytes
// of our own stack.
constexpr int kMaxNesting = 5000;
constexpr size_t kMaxQuotedText = 60;

std::string Quote(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kMaxQuotedText) {
    text = text.substr(0, kMaxQuotedText) + " ...";
  }
  return text;
}

}  // namespace

Interpreter::Interpreter(const ast::SourceUnit& unit, const PlanLimits& limits,
                         Surroundings surroundings)
    : unit_(unit), limits_(limits), surroundings_(surroundings), memory_(surroundings) {}

void Interpreter::Refuse(const std::string& what) const {
  Refusal refusal;
  refusal.line = line_;
  refusal.reason = fmt::format("{}:{}: {}", unit_.path, line_, what);
  throw Refused{std::move(refusal)};
}

void Interpreter::ReadsBack(const std::string& what) const {
  Refusal refusal;
  refusal.line = line_;
  refusal.reason = fmt::format("{}:{}: {}", unit_.path, line_, what);
  refusal.reads_back = true;
  throw Refused{std::move(refusal)};
}

void Interpreter::CannotFollow(const std::string& what) const {
  Refusal refusal;
  refusal.line = line_;
  refusal.reason = fmt::format("{}:{}: {}", unit_.path, line_, what);
  refusal.not_followed = true;
  throw Refused{std::move(refusal)};
}

void Interpreter::Fault(const std::string& what) const {
  Refusal refusal;
  refusal.line = line_;
  refusal.reason = fmt::format("{}:{}: {}", unit_.path, line_, what);
  refusal.is_fault = true;
  throw Refused{std::move(refusal)};
}

void Interpreter::Step() {
  if (++steps_ > limits_.steps) {
    Refuse(fmt::format("launcher did not end within {} steps", limits_.steps));
  }
}

Interpreter::Level::Level(Interpreter& interpreter) : interpreter_(interpreter) {
  interpreter_.Step();
  if (interpreter_.depth_ >= kMaxNesting) {
    interpreter_.CannotFollow(fmt::format("launcher nests more than {} levels deep", kMaxNesting));
  }
  ++interpreter_.depth_;
}

LaunchPlan Interpreter::Run(const ast::Function& launcher,
                            const std::vector<LauncherArgument>& arguments) {
  plan_.steps.clear();
  order_.Restart();
  device_bytes_ = 0;
  steps_ = 0;
  launches_ = 0;
  Frame frame;
  frames_.push_back(&frame);
  line_ = launcher.line;
  InitialiseGlobals();
  line_ = launcher.line;
  BindLauncherArguments(launcher, arguments);
  Execute(*launcher.body);
  CheckFinished();
  CheckUploads(true);
  frames_.pop_back();
  for (const uint64_t object : frame.owned) {
    memory_.Free(object);
  }
  CheckFreed();
  plan_.maker = PlanMaker::kInterpreter;
  return plan_;
}

void Interpreter::InitialiseGlobals() {
  if (has_started_) {
    return;
  }
  has_started_ = true;
  for (const ast::Variable& variable : unit_.variables) {
    if (variable.storage == ast::Storage::kHostGlobal && variable.init != nullptr &&
        ChangesSomething(*variable.init)) {
      line_ = variable.line;
      GlobalAddress(variable);
    }
  }
}

void Interpreter::CheckPassive(const ast::Type& type) const {
  if (type.is_active && !type.is_reference) {
    CannotFollow(
        fmt::format("launcher uses an object of {}, whose destructor, copies or virtual functions "
                    "cannot be traced",
                    type.text));
  }
}

Interpreter::Lasting Interpreter::Remember() const {
  Lasting lasting;
  lasting.buffers = plan_.buffers.size();
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (const HostObject* object = memory_.At(i)) {
      lasting.objects[i] = *object;
    }
  }
  return lasting;
}

std::string Interpreter::Changed(const Lasting& before) const {
  // A pointer to a buffer that the launcher allocated, at this number or later.
  const auto own_buffer = [&](const HostObject& object, size_t at, size_t first) {
    uint64_t address = 0;
    std::memcpy(&address, object.bytes.data() + at, sizeof(address));
    const auto pointer = memory_.AsDevice(address);
    return pointer && pointer->buffer >= 0 && pointer->offset_bytes == 0 &&
           static_cast<size_t>(pointer->buffer) >= first &&
           static_cast<size_t>(pointer->buffer) < plan_.buffers.size() &&
           plan_.buffers[static_cast<size_t>(pointer->buffer)].argument < 0;
  };
  const auto same = [&](const HostObject& a, const HostObject& b) {
    if (a.states != b.states) {
      return false;
    }
    for (size_t i = 0; i < a.bytes.size(); ++i) {
      if (a.bytes[i] == b.bytes[i]) {
        continue;
      }
      // Pointers are aligned. One that this call moved to a buffer of an earlier call is a count.
      const size_t start = i / 8 * 8;
      if (a.states[i] != ByteState::kPointer || start + 8 > a.bytes.size() ||
          !own_buffer(a, start, 0) || !own_buffer(b, start, before.buffers)) {
        return false;
      }
      i = start + 7;
    }
    return true;
  };
  for (const auto& [index, object] : before.objects) {
    const HostObject* now = memory_.At(index);
    if (now != nullptr && same(object, *now)) {
      continue;
    }
    for (const auto& [id, address] : globals_) {
      if (HostMemory::IsHost(address) && HostMemory::IndexOf(address) == index) {
        return fmt::format("\"{}\"", unit_.variables[static_cast<size_t>(id)].name);
      }
    }
    return "host memory that outlives the call";
  }
  return "";
}

void Interpreter::BindLauncherArguments(const ast::Function& launcher,
                                        const std::vector<LauncherArgument>& arguments) {
  if (arguments.size() > launcher.parameters.size()) {
    Refuse(fmt::format("launcher {} has {} parameters, but the task has {} arguments",
                       launcher.name, launcher.parameters.size(), arguments.size()));
  }
  for (size_t i = 0; i < launcher.parameters.size(); ++i) {
    const ast::Variable& parameter = unit_.variables[static_cast<size_t>(launcher.parameters[i])];
    line_ = parameter.line > 0 ? parameter.line : launcher.line;
    if (i >= arguments.size()) {
      if (parameter.init == nullptr) {
        Refuse(fmt::format("launcher {} has {} parameters, but the task has {} arguments",
                           launcher.name, launcher.parameters.size(), arguments.size()));
      }
      BindParameter(parameter, nullptr, *frames_.back());
      continue;
    }
    const LauncherArgument& argument = arguments[i];
    const bool is_pointer = parameter.type->kind == ast::TypeKind::kPointer;
    if (argument.is_buffer != is_pointer) {
      Refuse(fmt::format("argument \"{}\" is a {}, but parameter \"{}\" is {}", argument.name,
                         argument.is_buffer ? "buffer" : "scalar", parameter.name,
                         parameter.type->text));
    }
    HostValue value;
    if (argument.is_buffer) {
      if (argument.size_bytes >= static_cast<uint64_t>(HostMemory::kDeviceReach)) {
        Refuse(fmt::format("argument \"{}\" has {} bytes, more than a launcher can address here",
                           argument.name, argument.size_bytes));
      }
      const auto known = std::find_if(
          plan_.buffers.begin(), plan_.buffers.end(),
          [&](const PlanBuffer& buffer) { return buffer.argument == static_cast<int>(i); });
      const auto index = static_cast<int>(known - plan_.buffers.begin());
      if (known == plan_.buffers.end()) {
        plan_.buffers.push_back(
            {argument.name, static_cast<int>(i), argument.size_bytes, parameter.line});
        buffers_.emplace_back();
      } else {
        known->size_bytes = argument.size_bytes;
      }
      value = IntegerValue(static_cast<int64_t>(memory_.DeviceAddress(index)), parameter.type);
    } else if (const auto* integer = std::get_if<int64_t>(&argument.value)) {
      auto wide = std::make_shared<ast::Type>();
      wide->kind = ast::TypeKind::kInt;
      wide->bits = 64;
      // The value of an unsigned 64-bit argument is its two's complement.
      wide->is_signed = !(parameter.type->kind == ast::TypeKind::kInt &&
                          !parameter.type->is_signed && parameter.type->bits == 64);
      wide->size_bytes = 8;
      value = Convert(IntegerValue(*integer, wide), parameter.type);
      if (KindOf(*parameter.type) == ValueKind::kInteger &&
          parameter.type->kind != ast::TypeKind::kBool && value.integer != *integer) {
        Refuse(fmt::format("argument \"{}\" = {} does not fit parameter \"{}\" ({})", argument.name,
                           *integer, parameter.name, parameter.type->text));
      }
    } else {
      HostValue real;
      real.type = DoubleType();
      real.real = std::get<double>(argument.value);
      value = Convert(real, parameter.type);
    }
    const uint64_t address = Allocate(StorageBytes(*parameter.type));
    Store(address, value);
    frames_.back()->owned.push_back(address);
    frames_.back()->variables[parameter.id] = address;
  }
}

Interpreter::Flow Interpreter::Execute(const ast::Stmt& stmt) {
  const Level level(*this);
  if (stmt.line > 0) {
    line_ = stmt.line;
  }
  switch (stmt.kind) {
    case ast::StmtKind::kBlock:
    case ast::StmtKind::kCase:
      for (const ast::StmtPtr& child : stmt.children) {
        const Flow flow = Execute(*child);
        if (flow != Flow::kNext) {
          return flow;
        }
      }
      return Flow::kNext;
    case ast::StmtKind::kDeclare:
      for (const int variable : stmt.variables) {
        Declare(variable);
      }
      return Flow::kNext;
    case ast::StmtKind::kExpression:
      Evaluate(*stmt.expr);
      return Flow::kNext;
    case ast::StmtKind::kIf: {
      for (const int variable : stmt.variables) {
        Declare(variable);
      }
      if (IsTrue(Evaluate(*stmt.expr))) {
        return Execute(*stmt.children[0]);
      }
      return stmt.children.size() > 1 ? Execute(*stmt.children[1]) : Flow::kNext;
    }
    case ast::StmtKind::kFor:
      return ExecuteFor(stmt);
    case ast::StmtKind::kWhile:
      while (IsTrue(Evaluate(*stmt.expr))) {
        const Flow flow = Execute(*stmt.children[0]);
        if (flow == Flow::kBreak) {
          break;
        }
        if (flow == Flow::kReturn) {
          return flow;
        }
      }
      return Flow::kNext;
    case ast::StmtKind::kDo:
      do {
        const Flow flow = Execute(*stmt.children[0]);
        if (flow == Flow::kBreak) {
          break;
        }
        if (flow == Flow::kReturn) {
          return flow;
        }
      } while (IsTrue(Evaluate(*stmt.expr)));
      return Flow::kNext;
    case ast::StmtKind::kSwitch:
      return ExecuteSwitch(stmt);
    case ast::StmtKind::kReturn:
      if (stmt.expr != nullptr) {
        frames_.back()->result = Evaluate(*stmt.expr);
      }
      return Flow::kReturn;
    case ast::StmtKind::kBreak:
      return Flow::kBreak;
    case ast::StmtKind::kContinue:
      return Flow::kContinue;
    case ast::StmtKind::kAsm:
      Refuse("launcher uses inline assembly, which cannot be traced");
    case ast::StmtKind::kUnsupported:
      CannotFollow(
          fmt::format("launcher uses {}, which cannot be traced: {}", stmt.name, Quote(stmt.text)));
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::ExecuteFor(const ast::Stmt& stmt) {
  Execute(*stmt.children[0]);
  while (stmt.expr == nullptr || IsTrue(Evaluate(*stmt.expr))) {
    const Flow flow = Execute(*stmt.children[1]);
    if (flow == Flow::kBreak) {
      break;
    }
    if (flow == Flow::kReturn) {
      return flow;
    }
    if (stmt.step != nullptr) {
      Evaluate(*stmt.step);
    }
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::ExecuteSwitch(const ast::Stmt& stmt) {
  const int64_t value = EvaluateInteger(*stmt.expr);
  size_t start = stmt.children.size();
  for (size_t i = 0; i < stmt.children.size(); ++i) {
    const std::vector<int64_t>& labels = stmt.children[i]->int_values;
    if (std::find(labels.begin(), labels.end(), value) != labels.end()) {
      start = i;
      break;
    }
    if (stmt.children[i]->is_default && start == stmt.children.size()) {
      start = i;
      for (size_t k = i + 1; k < stmt.children.size(); ++k) {
        const std::vector<int64_t>& later = stmt.children[k]->int_values;
        if (std::find(later.begin(), later.end(), value) != later.end()) {
          start = k;
        }
      }
      break;
    }
  }
  for (size_t i = start; i < stmt.children.size(); ++i) {
    const Flow flow = Execute(*stmt.children[i]);
    if (flow == Flow::kBreak) {
      return Flow::kNext;
    }
    if (flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

void Interpreter::Declare(int id) {
  const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
  if (variable.line > 0) {
    line_ = variable.line;
  }
  if (variable.storage == ast::Storage::kStatic) {
    GlobalAddress(variable);
    return;
  }
  Frame& frame = *frames_.back();
  if (variable.type->is_reference) {
    frame.variables[id] = Address(*variable.init);
    return;
  }
  CheckPassive(*variable.type);
  const uint64_t size = StorageBytes(*variable.type);
  if (size == 0) {
    CannotFollow(fmt::format("variable \"{}\" has type {}, which cannot be traced", variable.name,
                             variable.type->text));
  }
  HostValue value;
  const bool is_trivial_construction =
      variable.init != nullptr && variable.init->kind == ast::ExprKind::kConstruct &&
      variable.init->function < 0 && variable.init->operands.empty() &&
      variable.type->kind != ast::TypeKind::kDim3;
  const bool is_opaque = variable.type->kind == ast::TypeKind::kOther && is_trivial_construction;
  if (is_opaque || (variable.type->kind == ast::TypeKind::kOther && variable.init != nullptr &&
                    variable.init->kind == ast::ExprKind::kConstruct)) {
    CannotFollow(fmt::format("launcher uses {}, which cannot be traced", variable.type->text));
  }
  const bool has_value = variable.init != nullptr && !is_trivial_construction;
  if (has_value) {
    value = variable.init->kind == ast::ExprKind::kStringLiteral
                ? Initialise(variable.type, {variable.init})
                : Convert(Evaluate(*variable.init), variable.type);
  }
  uint64_t address = 0;
  const auto found = frame.variables.find(id);
  if (found != frame.variables.end()) {
    address = found->second;  // a loop's body declares it anew
    memory_.Reset(address);
  } else {
    address = Allocate(size);
    frame.owned.push_back(address);
    frame.variables[id] = address;
  }
  if (has_value) {
    Store(address, value);
  }
}

uint64_t Interpreter::GlobalAddress(const ast::Variable& variable) {
  const auto found = globals_.find(variable.id);
  if (found != globals_.end()) {
    return found->second;
  }
  if (variable.storage == ast::Storage::kDeviceGlobal ||
      variable.storage == ast::Storage::kConstant || variable.storage == ast::Storage::kShared ||
      variable.storage == ast::Storage::kExternShared) {
    Refuse(fmt::format("launcher uses the device variable \"{}\", which cannot be traced",
                       variable.name));
  }
  if (variable.type->is_reference) {
    const uint64_t meant = Address(*variable.init);
    globals_[variable.id] = meant;
    return meant;
  }
  CheckPassive(*variable.type);
  const uint64_t size = StorageBytes(*variable.type);
  if (size == 0 || (variable.type->kind == ast::TypeKind::kOther && variable.type->bits == 0 &&
                    variable.init != nullptr && variable.init->kind == ast::ExprKind::kConstruct)) {
    CannotFollow(fmt::format("launcher uses {} \"{}\", which cannot be traced", variable.type->text,
                             variable.name));
  }
  const uint64_t address = Allocate(size);
  globals_[variable.id] = address;
  if (variable.init != nullptr) {
    Store(address, variable.init->kind == ast::ExprKind::kStringLiteral
                       ? Initialise(variable.type, {variable.init})
                       : Convert(Evaluate(*variable.init), variable.type));
  } else {
    Store(address, Initialise(variable.type, {}));  // static storage starts as zero
  }
  return address;
}

uint64_t Interpreter::VariableAddress(const ast::Expr& expr) {
  const auto& locals = frames_.back()->variables;
  const auto found = locals.find(expr.variable);
  if (found != locals.end()) {
    return found->second;
  }
  const ast::Variable& variable = unit_.variables[static_cast<size_t>(expr.variable)];
  if (variable.storage == ast::Storage::kLocal || variable.storage == ast::Storage::kParameter) {
    if (variable.constant.has_value()) {
      // A constant may be used in a lambda that does not capture it.
      return Temporary(IntegerValue(*variable.constant, variable.type));
    }
    CannotFollow(fmt::format("variable \"{}\" is used outside of its scope", variable.name));
  }
  return GlobalAddress(variable);
}

void Interpreter::BindParameter(const ast::Variable& parameter, const ast::ExprPtr& operand,
                                Frame& callee) {
  // Evaluated in the caller's frame, which is still the last one.
  const ast::ExprPtr& expr = operand != nullptr ? operand : parameter.init;
  if (parameter.type->is_reference) {
    callee.variables[parameter.id] = Address(*expr);
    return;
  }
  CheckPassive(*parameter.type);
  const HostValue value = Convert(Evaluate(*expr), parameter.type);
  const uint64_t address = Allocate(std::max<uint64_t>(StorageBytes(*parameter.type), 1));
  Store(address, value);
  callee.owned.push_back(address);
  callee.variables[parameter.id] = address;
}

HostValue Interpreter::CallUser(const ast::Function& function,
                                const std::vector<ast::ExprPtr>& operands, size_t first,
                                uint64_t this_address, const Closure* closure) {
  if (function.body == nullptr) {
    Refuse(fmt::format("launcher calls {}, which has no body", function.name_expression));
  }
  if (function.is_kernel || (function.is_device && !function.is_host)) {
    Refuse(fmt::format("launcher calls the device function {}", function.name_expression));
  }
  if (frames_.size() >= kMaxCallDepth) {
    CannotFollow(fmt::format("launcher calls functions more than {} levels deep", kMaxCallDepth));
  }
  Frame callee;
  if (closure != nullptr) {
    callee.variables = closure->captures;
  }
  size_t parameter = 0;
  if (this_address != 0) {
    const ast::Variable& self =
        unit_.variables[static_cast<size_t>(function.parameters[parameter++])];
    const uint64_t slot = Allocate(8);
    Store(slot, IntegerValue(static_cast<int64_t>(this_address), self.type));
    callee.owned.push_back(slot);
    callee.variables[self.id] = slot;
  }
  for (size_t i = first; parameter < function.parameters.size(); ++i, ++parameter) {
    BindParameter(unit_.variables[static_cast<size_t>(function.parameters[parameter])],
                  i < operands.size() ? operands[i] : nullptr, callee);
  }
  const int line = line_;
  frames_.push_back(&callee);
  // A returned reference would need the object itself; its value is what launchers use.
  Execute(*function.body);
  frames_.pop_back();
  line_ = line;
  for (const uint64_t object : callee.owned) {
    memory_.Free(object);
  }
  HostValue result = std::move(callee.result);
  if (result.type == nullptr || KindOf(*function.return_type) == ValueKind::kNone) {
    result = HostValue{};
    result.type = VoidType();
    return result;
  }
  return Convert(result, function.return_type);
}

}  // namespace optiml::frontend
