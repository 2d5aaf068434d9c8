// Loops of the kernel -> dims, accumulators, or several copies of the body.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "rewrite/lift/cleanup.h"
#include "rewrite/lift/executor.h"
#include "rewrite/lift/fold_match.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

// Loops of at most this many iterations are written out where a nest would not be perfect.
constexpr int64_t kMaxUnrolled = 16;

bool IsIntegerType(Scalar type) {
  return !IsFloatScalar(type) && type != Scalar::kBool;
}

// Conversions that keep every size: widening, or between signs.
ExprPtr StripSizeCasts(ExprPtr expr) {
  while (expr->kind == ExprKind::kCast && IsIntegerType(expr->operands[0]->type) &&
         ScalarBytes(expr->type) >= ScalarBytes(expr->operands[0]->type)) {
    expr = expr->operands[0];
  }
  return expr;
}

// Copies of a body with branches would nest one select for each; such a loop stays a loop.
bool HasBranches(const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case ast::StmtKind::kIf:
    case ast::StmtKind::kFor:
    case ast::StmtKind::kWhile:
    case ast::StmtKind::kDo:
    case ast::StmtKind::kContinue:
      return true;
    default:
      return std::any_of(stmt.children.begin(), stmt.children.end(),
                         [](const ast::StmtPtr& child) { return HasBranches(*child); });
  }
}

std::string Flipped(const std::string& op) {
  if (op[0] == '<') {
    return ">" + op.substr(1);
  }
  return op[0] == '>' ? "<" + op.substr(1) : op;
}

}  // namespace

// The body once, with what `continue` left behind joined to its end, then the step.
Executor::Flow Executor::RunBody(const ast::Stmt& stmt) {
  const size_t path_size = path_.size();
  continues_.emplace_back();
  const ast::Stmt& body = *stmt.children[stmt.kind == ast::StmtKind::kFor ? 1 : 0];
  const Flow flow = Execute(body);
  const std::vector<Exit> exits = std::move(continues_.back());
  continues_.pop_back();
  path_.resize(path_size);
  size_t remaining = exits.size();
  if (flow == Flow::kEnded) {
    if (exits.empty()) {
      Stop(stmt.line, "a loop whose body always leaves");
    }
    environment_ = exits.back().environment;
    --remaining;
  }
  for (size_t i = remaining; i > 0; --i) {
    const Exit& exit = exits[i - 1];
    ExprPtr taken;
    for (size_t k = path_size; k < exit.path.size(); ++k) {
      if (!exit.path[k].is_kill) {
        taken = Conjunction(taken, exit.path[k].expr);
      }
    }
    if (taken == nullptr) {
      Stop(stmt.line, "a continue that is always taken");
    }
    for (auto& [id, value] : environment_) {
      const auto other = exit.environment.find(id);
      if (other != exit.environment.end()) {
        // Only a fold that began after the continue is skipped by it.
        value = MergeValues(taken, other->second, value, id, {-1, exit.next_id});
      }
    }
  }
  if (stmt.step != nullptr) {
    ExecuteEffect(*stmt.step);
  }
  return Flow::kNext;
}

Executor::Iteration Executor::RunIteration(const ast::Stmt& stmt, const Environment& carried) {
  const Environment saved_environment = environment_;
  std::vector<Condition> saved_path = std::move(path_);
  std::vector<Event> saved_events = std::move(events_);
  path_.clear();
  events_.clear();
  for (const auto& [id, value] : carried) {
    environment_[id] = value;
  }
  Iteration iteration;
  if (stmt.kind != ast::StmtKind::kDo && stmt.expr != nullptr) {
    iteration.condition = EvaluateCondition(*stmt.expr);
  }
  ++loop_depth_;
  RunBody(stmt);
  --loop_depth_;
  if (stmt.kind == ast::StmtKind::kDo) {
    iteration.condition = EvaluateCondition(*stmt.expr);
  }
  // Lets of one branch that a value of the next iteration needs are not defined there.
  for (auto& [id, value] : environment_) {
    if (carried.contains(id) && value.expr != nullptr) {
      value.expr = InlineConditionalLets(value.expr, 0);
    }
  }
  iteration.events = std::move(events_);
  iteration.end = std::move(environment_);
  events_ = std::move(saved_events);
  path_ = std::move(saved_path);
  environment_ = saved_environment;
  return iteration;
}

// end - in, when that is an invariant amount other than 0.
std::optional<ExprPtr> Executor::StepOf(const Value& in, const Value& end, int first_new_id) const {
  if (in.kind != end.kind || in.expr == nullptr || end.expr == nullptr ||
      in.expr->kind != ExprKind::kSymbol || !IsIntegerType(end.expr->type) ||
      (in.kind == Value::Kind::kPointer && in.buffer != end.buffer)) {
    return std::nullopt;
  }
  const std::string& name = in.expr->name;
  const std::optional<Affine> affine = ToAffine(end.expr, {name});
  if (!affine || affine->Coefficient(name).Constant() != 1 || affine->constant.IsZero()) {
    return std::nullopt;
  }
  const ExprPtr step = affine->constant.ToExpr();
  bool invariant = true;
  Visit(step, [&](const Expr& node) {
    invariant &= node.kind != ExprKind::kSymbol ||
                 (!IsNewSymbol(node.name, first_new_id) && !node.name.starts_with("in#"));
  });
  return invariant ? std::optional(step) : std::nullopt;
}

ExprPtr Executor::ExpandLets(const ExprPtr& expr) const {
  ExprPtr result = expr;
  constexpr int kRounds = 16;  // lets of lets; deeper chains stay
  for (int round = 0; round < kRounds; ++round) {
    const ExprPtr next = Substitute(result, let_values_);
    if (next == result) {
      break;
    }
    result = next;
  }
  return result;
}

void Executor::RequireInvariantCount(const ExprPtr& count, int line) const {
  Visit(count, [&](const Expr& node) {
    if (node.kind == ExprKind::kLoad || node.kind == ExprKind::kFloat) {
      Stop(line, "the loop's trip count depends on data");
    }
    if (node.kind != ExprKind::kSymbol) {
      return;
    }
    if (node.name.starts_with("in#") || accumulator_inits_.contains(node.name)) {
      Stop(line, "the loop's trip count depends on data");
    }
    if (node.name.starts_with("@") || node.name.find('#') != std::string::npos ||
        node.name.find('.') != std::string::npos) {
      Stop(line, "the loop's trip count differs between points");
    }
  });
}

void Executor::SolveStride(const ExprPtr& begin, const ExprPtr& step, Trip* trip, int line) const {
  const std::optional<Polynomial> start = ToPolynomial(begin);
  const std::optional<Polynomial> by = ToPolynomial(step);
  for (int axis = 0; axis < 3 && start && by; ++axis) {
    const char letter = "xyz"[axis];
    const Polynomial width = Polynomial::Of(fmt::format("blockDim.{}", letter));
    const Polynomial blocks = Polynomial::Of(fmt::format("gridDim.{}", letter));
    if (*by == width * blocks && *start == Polynomial::Of(fmt::format("@{}", letter))) {
      trip->kind = LoopKind::kGridStride;
      trip->axis = axis;
      return;
    }
    if (*by == width && *start == Polynomial::Of(fmt::format("threadIdx.{}", letter))) {
      trip->kind = LoopKind::kBlockStride;
      trip->axis = axis;
      return;
    }
  }
  Stop(line, fmt::format("a loop that steps by {}", Print(step)));
}

Executor::Trip Executor::SolveTrip(const ast::Stmt& stmt, const ExprPtr& condition,
                                   const std::map<int, ExprPtr>& steps, const Environment& fresh,
                                   const Environment& before) const {
  const int line = stmt.line;
  if (condition == nullptr || condition->kind == ExprKind::kInt) {
    Stop(line, "a loop without a condition");
  }
  std::vector<std::string> in_names;
  for (const auto& [id, value] : fresh) {
    if (value.expr != nullptr) {
      in_names.push_back(value.expr->name);
    }
  }
  if (condition->kind != ExprKind::kBinary ||
      (condition->op[0] != '<' && condition->op[0] != '>' && condition->op != "!=")) {
    Stop(line, fmt::format("a loop that runs while {}: its trip count depends on data",
                           condition->kind == ExprKind::kBinary ? "of several conditions all hold"
                                                                : "something is true"));
  }
  if (MayWrapBelowZero(condition, in_names)) {
    Stop(line, "a loop whose unsigned condition may wrap");
  }
  const std::optional<Affine> left = ToAffine(condition->operands[0], in_names);
  const std::optional<Affine> right = ToAffine(condition->operands[1], in_names);
  if (!left || !right) {
    Stop(line, "the loop's trip count depends on data");
  }
  const Affine difference = *left - *right;
  Trip trip;
  int64_t coefficient = 0;
  for (const auto& [id, value] : fresh) {
    if (value.expr == nullptr || difference.Coefficient(value.expr->name).IsZero()) {
      continue;
    }
    const std::optional<int64_t> number = difference.Coefficient(value.expr->name).Constant();
    if (!steps.contains(id) || trip.variable >= 0 || !number || std::abs(*number) != 1) {
      Stop(line, "the loop's trip count depends on data");
    }
    trip.variable = id;
    coefficient = *number;
  }
  if (trip.variable < 0) {
    Stop(line, "a loop whose condition does not change by a constant step");
  }
  const std::string op = coefficient == 1 ? condition->op : Flipped(condition->op);
  const ExprPtr begin = before.at(trip.variable).expr;
  if (begin == nullptr) {
    Stop(line, "a loop whose counter has no start");
  }
  const ExprPtr step = steps.at(trip.variable);
  // The counter runs while it is `op` bound.
  const Polynomial bound =
      coefficient == 1 ? Polynomial() - difference.constant : difference.constant;
  const ExprPtr plain = StripSizeCasts(condition->operands[coefficient == 1 ? 1 : 0]);
  const bool bare =
      StripSizeCasts(condition->operands[coefficient == 1 ? 0 : 1])->kind == ExprKind::kSymbol;
  ExprPtr limit =
      bare && fresh.at(trip.variable).kind == Value::Kind::kScalar ? plain : bound.ToExpr();
  if (step->kind != ExprKind::kInt) {
    if (op != "<" && op != "<=" && op != "!=") {
      Stop(line, fmt::format("a loop that steps by {}", Print(step)));
    }
    SolveStride(begin, step, &trip, line);
    if (stmt.kind == ast::StmtKind::kDo || op == "!=") {
      Stop(line, "a stride loop of this form");
    }
    trip.count = ExpandLets(op == "<=" ? Arithmetic("+", limit, Int(1)) : limit);
    RequireInvariantCount(trip.count, line);
    return trip;
  }
  const int64_t by = step->int_value;
  const bool is_unsigned = begin->type == Scalar::kU32 || begin->type == Scalar::kU64;
  const bool upward = by > 0;
  const bool fits =
      upward ? op[0] == '<' || (op == "!=" && by == 1) : op[0] == '>' || (op == "!=" && by == -1);
  if (!fits || (!upward && is_unsigned && op == ">=" && limit->kind == ExprKind::kInt &&
                limit->int_value == 0)) {
    Stop(line, "a loop that may never end");
  }
  const bool inclusive = op == "<=" || op == ">=";
  const std::optional<Polynomial> start = ToPolynomial(begin);
  const bool from_zero = begin->kind == ExprKind::kInt && begin->int_value == 0 && upward;
  ExprPtr span;
  if (from_zero) {
    span = limit;
  } else if (start) {
    span = (upward ? bound - *start : *start - bound).ToExpr();
  } else {
    span = upward ? Arithmetic("-", limit, begin) : Arithmetic("-", begin, limit);
  }
  if (inclusive) {
    span = Arithmetic("+", span, Int(1));
  }
  if (std::abs(by) != 1) {
    const int64_t width = std::abs(by);
    span = Arithmetic("/", Arithmetic("+", span, Int(width - 1)), Int(width));
  }
  if (stmt.kind == ast::StmtKind::kDo) {
    if (span->kind == ExprKind::kInt) {
      span = Int(std::max<int64_t>(span->int_value, 0) + 1);
    } else {
      trip.assumption = Binary(">=", span, Int(0, span->type), Scalar::kBool);
      span = Arithmetic("+", span, Int(1));
    }
  }
  span = ExpandLets(StripSizeCasts(Simplify(span)));
  if (trip.assumption != nullptr) {
    trip.assumption = ExpandLets(trip.assumption);
  }
  RequireInvariantCount(span, line);
  if (span->kind == ExprKind::kInt) {
    if (op == "!=" && span->int_value < 0) {
      Stop(line, "a loop that may never end");
    }
    span = Int(std::max<int64_t>(span->int_value, 0));
  }
  trip.count = span;
  return trip;
}

void Executor::FinishCarried(const ast::Stmt& stmt, const Environment& fresh,
                             const Environment& before, const std::map<int, ExprPtr>& steps,
                             Iteration* iteration, Loop* loop, Environment* after) {
  const auto read_in_events = [&](const std::string& name) {
    bool read = false;
    VisitEvents(iteration->events, [&](const ExprPtr& expr) { read |= Mentions(expr, name); });
    return read;
  };
  for (const auto& [id, in] : fresh) {
    const std::string& name = unit_.variables[static_cast<size_t>(id)].name;
    const Value& start = before.at(id);
    if (steps.contains(id) || in.expr == nullptr) {
      if (in.expr == nullptr) {
        (*after)[id] = Value::Unknown(fmt::format("the last {} of a loop", name));
      }
      continue;
    }
    const Value& end = iteration->end.at(id);
    const std::string& in_name = in.expr->name;
    if (end.kind == Value::Kind::kScalar && in.kind == Value::Kind::kScalar) {
      // The fold of a loop within goes on where the last iteration ended: one fold over both.
      LoopAccumulator* inner = nullptr;
      if (end.expr->kind == ExprKind::kSymbol) {
        const std::function<void(std::vector<Event>&)> find = [&](std::vector<Event>& events) {
          for (Event& event : events) {
            if (event.kind != Event::Kind::kLoop) {
              continue;
            }
            for (LoopAccumulator& entry : event.loop->accumulators) {
              if (entry.accumulator.name == end.expr->name &&
                  Equal(entry.accumulator.init, in.expr)) {
                inner = &entry;
              }
            }
            find(event.loop->body);
          }
        };
        find(iteration->events);
      }
      std::optional<FoldStep> fold;
      if (inner == nullptr && Mentions(end.expr, in_name)) {
        fold = MatchFold(end.expr, in_name);
      }
      if (inner != nullptr || fold) {
        if (start.kind != Value::Kind::kScalar) {
          Stop(stmt.line, fmt::format("{} is accumulated and was never set", name));
        }
        if (start.assumption != nullptr) {
          assumptions_.push_back(start.assumption);
        }
      }
      if (inner != nullptr) {
        inner->accumulator.init = start.expr;
        accumulator_inits_[inner->accumulator.name] = start.expr;
        (*after)[id] = Value::Of(end.expr);
        continue;
      }
      if (fold) {
        LoopAccumulator entry;
        entry.accumulator = {FreshName(name), end.expr->type, fold->op,
                             start.expr,      fold->update,   fold->spelling};
        entry.guard = fold->guard;
        accumulator_inits_[entry.accumulator.name] = start.expr;
        (*after)[id] = Value::Of(Symbol(entry.accumulator.name, end.expr->type));
        loop->accumulators.push_back(std::move(entry));
        continue;
      }
      if (Mentions(end.expr, in_name)) {
        Stop(stmt.line, fmt::format("{} is changed in the loop in a way that is neither a counter "
                                    "nor a fold",
                                    name));
      }
    }
    (*after)[id] = Value::Unknown(fmt::format("the last {} of a loop", name));
  }
  std::vector<ExprPtr> roots;
  for (const LoopAccumulator& entry : loop->accumulators) {
    roots.push_back(entry.accumulator.update);
    roots.push_back(entry.guard);
  }
  DropUnusedLets(&iteration->events, roots);
  for (const auto& [id, in] : fresh) {
    if (in.expr == nullptr || steps.contains(id)) {
      continue;
    }
    bool read = read_in_events(in.expr->name);
    for (const LoopAccumulator& entry : loop->accumulators) {
      read |= Mentions(entry.accumulator.update, in.expr->name) ||
              (entry.guard != nullptr && Mentions(entry.guard, in.expr->name));
    }
    if (read) {
      Stop(stmt.line, fmt::format("an iteration uses the {} of the one before",
                                  unit_.variables[static_cast<size_t>(id)].name));
    }
  }
}

Executor::Flow Executor::ExecuteLoop(const ast::Stmt& stmt) {
  const int first_new_id = next_id_;
  if (stmt.kind == ast::StmtKind::kDo && !HasSideEffects(*stmt.expr)) {
    const ast::Expr* condition = stmt.expr.get();
    while (condition->kind == ast::ExprKind::kCast) {
      condition = condition->operands[0].get();
    }
    if ((condition->kind == ast::ExprKind::kBoolLiteral ||
         condition->kind == ast::ExprKind::kIntLiteral) &&
        condition->int_value == 0) {
      return RunBody(stmt);  // the body of a macro
    }
  }
  if (stmt.kind == ast::StmtKind::kFor) {
    Execute(*stmt.children[0]);
  }
  const Environment before = environment_;
  Environment fresh;
  for (const int id : AssignedIn(stmt)) {
    const auto found = before.find(id);
    if (found == before.end()) {
      continue;
    }
    const ast::Variable& variable = unit_.variables[static_cast<size_t>(id)];
    const std::string in = FreshName("in");
    if (found->second.kind == Value::Kind::kPointer) {
      fresh[id] =
          Value::Pointer(found->second.buffer, found->second.element, Symbol(in, Scalar::kI64));
    } else if (const std::optional<Scalar> type = ScalarOf(variable.type)) {
      fresh[id] = Value::Of(Symbol(in, *type));
    } else {
      fresh[id] = Value();
    }
  }

  // What one iteration does to unknown values says which variables count.
  const size_t hints = hints_.size();
  const size_t assumptions = assumptions_.size();
  ++serial_depth_;
  const Iteration trial = RunIteration(stmt, fresh);
  --serial_depth_;
  hints_.resize(hints);
  assumptions_.resize(assumptions);
  std::map<int, ExprPtr> steps;
  std::vector<int> accumulated;
  for (const auto& [id, in] : fresh) {
    const Value& end = trial.end.at(id);
    if (const std::optional<ExprPtr> step = StepOf(in, end, first_new_id)) {
      steps[id] = *step;
    } else if (in.expr != nullptr && end.expr != nullptr && !Equal(in.expr, end.expr)) {
      accumulated.push_back(id);
    }
  }
  std::erase_if(fresh, [&](const auto& entry) {
    const Value& end = trial.end.at(entry.first);
    return entry.second.expr != nullptr && end.kind == entry.second.kind && end.expr != nullptr &&
           Equal(end.expr, entry.second.expr) && end.buffer == entry.second.buffer;
  });  // assigned, and unchanged after all
  const Trip trip = SolveTrip(stmt, trial.condition, steps, fresh, before);
  if (trip.assumption != nullptr) {
    assumptions_.push_back(trip.assumption);
  }

  // A short fold of its own within another loop is written out: the nest would not be perfect.
  const bool is_short = trip.count->kind == ExprKind::kInt && trip.count->int_value <= kMaxUnrolled;
  const bool starts_here = std::any_of(accumulated.begin(), accumulated.end(), [&](int id) {
    const Value& start = before.at(id);
    return start.kind == Value::Kind::kScalar &&
           !(start.expr->kind == ExprKind::kSymbol && start.expr->name.starts_with("in#"));
  });
  if (trip.kind == LoopKind::kSerial && is_short && serial_depth_ > 0 && starts_here &&
      !HasBranches(*stmt.children.back())) {
    ++loop_depth_;
    for (int64_t i = 0; i < trip.count->int_value; ++i) {
      if (stmt.kind != ast::StmtKind::kDo && HasSideEffects(*stmt.expr)) {
        ExecuteEffect(*stmt.expr);
      }
      RunBody(stmt);
      if (stmt.kind == ast::StmtKind::kDo && HasSideEffects(*stmt.expr)) {
        ExecuteEffect(*stmt.expr);
      }
    }
    --loop_depth_;
    return Flow::kNext;
  }

  // Again, with every counter as begin + step * dim.
  auto loop = std::make_shared<Loop>();
  loop->kind = trip.kind;
  loop->axis = trip.axis;
  loop->line_begin = stmt.line;
  loop->line_end = stmt.line;
  const bool counts_with_pointer = fresh.at(trip.variable).kind == Value::Kind::kPointer;
  const std::string dim_name = FreshName(
      counts_with_pointer ? "k" : unit_.variables[static_cast<size_t>(trip.variable)].name);
  const Scalar dim_type = ScalarBytes(trip.count->type) < 4 ? Scalar::kI32 : trip.count->type;
  loop->dim = {dim_name, DimKind::kPar, Convert(dim_type, trip.count), -1};
  const ExprPtr dim = Symbol(dim_name, dim_type);
  Environment carried = fresh;
  Environment after = before;
  for (const auto& [id, step] : steps) {
    const Value& start = before.at(id);
    if (start.expr == nullptr) {
      Stop(stmt.line, "a counter that was never set");
    }
    Value value = start;
    Value last = start;
    const bool shared_counter = trip.kind != LoopKind::kSerial;
    if (shared_counter && id != trip.variable) {
      Stop(stmt.line, "a second counter in a stride loop");
    }
    const Scalar type = start.kind == Value::Kind::kScalar
                            ? start.expr->type
                            : ArithmeticType(start.expr->type, dim_type);
    const auto advanced = [&](const ExprPtr& times) {
      return Convert(type, Arithmetic("+", start.expr, Arithmetic("*", times, step)));
    };
    if (shared_counter) {
      value.expr = Convert(type, dim);
      last = Value::Unknown("a counter after its stride loop");
    } else {
      value.expr = advanced(dim);
      last.expr = advanced(trip.count);
      if (trip.count->kind != ExprKind::kInt) {
        last.assumption = Conjunction(
            start.assumption, Binary(">=", trip.count, Int(0, trip.count->type), Scalar::kBool));
      }
      if (stmt.kind != ast::StmtKind::kDo && HasSideEffects(*stmt.expr)) {
        last = Value::Unknown(fmt::format("the counter {} after its loop",
                                          unit_.variables[static_cast<size_t>(id)].name));
      }
    }
    carried[id] = value;
    after[id] = last;
    if (start.assumption != nullptr) {
      assumptions_.push_back(start.assumption);
    }
  }
  serial_depth_ += trip.kind == LoopKind::kSerial ? 1 : 0;
  Iteration iteration = RunIteration(stmt, carried);
  serial_depth_ -= trip.kind == LoopKind::kSerial ? 1 : 0;
  FinishCarried(stmt, fresh, before, steps, &iteration, loop.get(), &after);
  loop->body = std::move(iteration.events);
  environment_ = std::move(after);
  for (const Event& event : loop->body) {
    loop->line_end = std::max(loop->line_end, event.line);
  }

  Event event;
  event.kind = Event::Kind::kLoop;
  event.line = stmt.line;
  event.conditions = PathConditions();
  event.loop = std::move(loop);
  events_.push_back(std::move(event));
  return Flow::kNext;
}

}  // namespace optiml::rewrite::lifting
