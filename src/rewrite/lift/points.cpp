#include "rewrite/lift/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rewrite/lift/cleanup.h"
#include "rewrite/lift/fold_match.h"
#include "rewrite/lift/thread_bounds.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

constexpr const char* kAxes = "xyz";

std::string Axis(const char* builtin, int axis) {
  return fmt::format("{}{}", builtin, kAxes[axis]);
}

bool AnyMentions(const std::vector<Event>& events, const std::string& symbol) {
  bool mentions = false;
  VisitEvents(events, [&](const ExprPtr& expr) { mentions |= Mentions(expr, symbol); });
  return mentions;
}

// Whether the accumulator starts from the value that changes nothing.
bool StartsFromIdentity(const Accumulator& accumulator) {
  const ExprPtr identity = Identity(accumulator.op, accumulator.type);
  const Expr& init = *accumulator.init;
  if (init.kind == ExprKind::kFloat && identity->kind == ExprKind::kFloat) {
    return init.float_value == identity->float_value;
  }
  return init.kind == ExprKind::kInt && identity->kind == ExprKind::kInt &&
         init.int_value == identity->int_value;
}

class PointFinder {
 public:
  PointFinder(std::vector<Event> events, const std::vector<NameHint>& hints, int line)
      : hints_(hints), line_(line) {
    points_.events = std::move(events);
  }

  Points Find() {
    CleanUp(&points_.events);
    if (!HasStores(points_.events)) {
      Stop(line_, "the kernel stores nothing");
    }
    while (OpenGridStrideLoop()) {
    }
    CleanUp(&points_.events);
    FindBlockStrides();
    FindAxes();
    BoundAxes();
    CleanUp(&points_.events);
    SplitAxes();
    while (OpenImperfectLoop()) {
    }
    CleanUp(&points_.events);
    return std::move(points_);
  }

 private:
  std::vector<Event>& events() { return points_.events; }

  // One level of a grid-stride loop becomes a dim; its local sums that end in atomics become
  // atomics of the single values.
  bool OpenGridStrideLoop() {
    for (size_t at = 0; at < events().size(); ++at) {
      if (events()[at].kind != Event::Kind::kLoop ||
          events()[at].loop->kind != LoopKind::kGridStride) {
        continue;
      }
      const Event event = events()[at];
      Loop& loop = *event.loop;
      for (size_t i = 0; i < at; ++i) {
        if (HasStores(events()[i])) {
          Stop(events()[i].line, "a store before a grid-stride loop: every thread would repeat it");
        }
      }
      for (LoopAccumulator& entry : loop.accumulators) {
        MoveAtomicInto(entry, event, at, &loop);
      }
      for (size_t i = at + 1; i < events().size(); ++i) {
        if (HasStores(events()[i])) {
          Stop(events()[i].line, "a store after a grid-stride loop: every thread would repeat it");
        }
      }
      CheckOwnFolds(loop.body, event.line);
      loop.dim.thread_axis = loop.axis;
      dims_[loop.axis] = loop.dim;
      std::vector<Event> opened(events().begin(),
                                events().begin() + static_cast<std::ptrdiff_t>(at));
      for (Event inner : loop.body) {
        inner.conditions.insert(inner.conditions.begin(), event.conditions.begin(),
                                event.conditions.end());
        opened.push_back(std::move(inner));
      }
      events() = std::move(opened);
      CleanUp(&events());
      return true;
    }
    return false;
  }

  // A fold within whose sum goes on from one iteration to the next cannot end in an atomic here.
  static void CheckOwnFolds(const std::vector<Event>& body, int line) {
    for (const Event& event : body) {
      if (event.kind != Event::Kind::kLoop) {
        continue;
      }
      for (const LoopAccumulator& entry : event.loop->accumulators) {
        if (!AnyMentions(body, entry.accumulator.name)) {
          Stop(line, fmt::format("{} is accumulated over a grid-stride loop and a loop within",
                                 BaseName(entry.accumulator.name)));
        }
      }
    }
  }

  void MoveAtomicInto(const LoopAccumulator& entry, const Event& loop_event, size_t at,
                      Loop* loop) {
    const Accumulator& accumulator = entry.accumulator;
    const std::string name = BaseName(accumulator.name);
    std::optional<size_t> found;
    for (size_t i = at + 1; i < events().size(); ++i) {
      const Event& event = events()[i];
      std::vector<Event> alone = {event};
      if (!AnyMentions(alone, accumulator.name)) {
        continue;
      }
      const bool is_atomic =
          event.kind == Event::Kind::kStore && event.store.kind == StoreKind::kAtomic &&
          IsMultipleOf(event.store.value, accumulator.name) &&
          (event.store.value->kind == ExprKind::kSymbol || accumulator.op == FoldOp::kSum) &&
          event.store.atomic_op == accumulator.op &&
          !Mentions(event.store.index, accumulator.name) &&
          event.conditions.size() == loop_event.conditions.size();
      if (!is_atomic || found) {
        Stop(event.line,
             fmt::format("{}, a thread's share of a grid-stride fold, is used other than "
                         "in one atomic of the same kind",
                         name));
      }
      for (size_t c = 0; c < event.conditions.size(); ++c) {
        if (!Equal(event.conditions[c], loop_event.conditions[c])) {
          Stop(event.line, fmt::format("{} is added under a condition of its own", name));
        }
      }
      found = i;
    }
    if (!found) {
      return;
    }
    if (!StartsFromIdentity(accumulator)) {
      Stop(loop_event.line,
           fmt::format("{} does not start from the value that changes nothing", name));
    }
    Event atomic = events()[*found];
    atomic.conditions.clear();
    if (entry.guard != nullptr) {
      SplitConjunction(entry.guard, &atomic.conditions);
    }
    atomic.store.value = Substitute(atomic.store.value, {{accumulator.name, accumulator.update}});
    if (!OnlyParameters(atomic.store.index)) {
      Stop(atomic.line, "the atomic's place differs between threads");
    }
    points_.regroups_floats |=
        IsFloatScalar(accumulator.type) &&
        (accumulator.op == FoldOp::kSum || accumulator.op == FoldOp::kProduct);
    loop->body.push_back(std::move(atomic));
    events().erase(events().begin() + static_cast<std::ptrdiff_t>(*found));
  }

  // Loops whose iterations a block's threads share are loops over all of them; whatever else is
  // stored must be stored by one thread.
  void FindBlockStrides() {
    const std::function<bool(std::vector<Event>&, int)> visit = [&](std::vector<Event>& list,
                                                                    int axis) {
      bool any = false;
      for (Event& event : list) {
        if (event.kind != Event::Kind::kLoop) {
          continue;
        }
        Loop& loop = *event.loop;
        if (loop.kind == LoopKind::kGridStride) {
          Stop(event.line, "a grid-stride loop within other work");
        }
        if (loop.kind == LoopKind::kBlockStride) {
          if (!loop.accumulators.empty() || axis >= 0) {
            Stop(event.line, "a block's threads fold their shares of a loop");
          }
          CheckOwnFolds(loop.body, event.line);
          block_axes_.insert(loop.axis);
          block_loops_.insert(&loop);
          loop.kind = LoopKind::kSerial;
          any = true;
          visit(loop.body, loop.axis);
        } else {
          any |= visit(loop.body, axis);
        }
      }
      return any;
    };
    visit(events(), -1);
    if (block_axes_.size() > 1) {
      Stop(line_, "loops shared by a block's threads along two axes");
    }
    if (!block_axes_.empty()) {
      RequireSharedStores(events(), false);
    }
  }

  void RequireSharedStores(const std::vector<Event>& list, bool is_shared) {
    for (const Event& event : list) {
      if (event.kind == Event::Kind::kStore && !is_shared) {
        Stop(event.line, "every thread of a block makes this store, beside a loop that they share");
      }
      if (event.kind == Event::Kind::kLoop) {
        RequireSharedStores(event.loop->body, is_shared || block_loops_.contains(event.loop.get()));
      }
    }
  }

  void FindAxes() {
    for (int axis = 2; axis >= 0; --axis) {
      const bool global = AnyMentions(events(), Axis("@", axis));
      const bool thread = AnyMentions(events(), Axis("threadIdx.", axis));
      const bool block = AnyMentions(events(), Axis("blockIdx.", axis));
      const bool size = AnyMentions(events(), Axis("blockDim.", axis)) ||
                        AnyMentions(events(), Axis("gridDim.", axis));
      const bool is_shared = block_axes_.contains(axis);
      const bool is_dim = dims_.contains(axis);
      if (size) {
        Stop(line_, fmt::format("the size of the launch along {} is used other than in the thread "
                                "index",
                                kAxes[axis]));
      }
      if ((global || is_dim) && (thread || block || is_shared || (global && is_dim))) {
        Stop(line_, fmt::format("threadIdx.{0} or blockIdx.{0} is used apart from the thread index",
                                kAxes[axis]));
      }
      if (thread && (block || is_shared)) {
        Stop(line_, fmt::format("threadIdx.{0} is used apart from blockIdx.{0}", kAxes[axis]));
      }
      if (global) {
        unbound_[axis] = Axis("@", axis);
      } else if (block) {
        unbound_[axis] = Axis("blockIdx.", axis);
        if (!is_shared) {
          Assume(Axis("blockDim.", axis));
        }
      } else if (thread) {
        unbound_[axis] = Axis("threadIdx.", axis);
        Assume(Axis("gridDim.", axis));
      } else if (is_shared) {
        Assume(Axis("gridDim.", axis));
      }
    }
  }

  void Assume(const std::string& builtin) {
    points_.assumptions.push_back(
        Binary("==", Symbol(builtin, Scalar::kU32), Int(1, Scalar::kU32), Scalar::kBool));
  }

  // Conditions under which every store happens.
  std::vector<ExprPtr> CommonConditions() {
    std::vector<std::vector<ExprPtr>> all;
    const std::function<void(const std::vector<Event>&, const std::vector<ExprPtr>&)> visit =
        [&](const std::vector<Event>& list, const std::vector<ExprPtr>& outer) {
          for (const Event& event : list) {
            std::vector<ExprPtr> conditions = outer;
            conditions.insert(conditions.end(), event.conditions.begin(), event.conditions.end());
            if (event.kind == Event::Kind::kStore) {
              all.push_back(conditions);
            } else if (event.kind == Event::Kind::kLoop) {
              visit(event.loop->body, conditions);
            }
          }
        };
    visit(events(), {});
    std::vector<ExprPtr> common;
    for (const ExprPtr& condition : all.front()) {
      const bool everywhere = std::all_of(all.begin(), all.end(), [&](const auto& conditions) {
        return std::any_of(conditions.begin(), conditions.end(),
                           [&](const ExprPtr& other) { return Equal(other, condition); });
      });
      if (everywhere) {
        common.push_back(condition);
      }
    }
    return common;
  }

  void BoundAxes() {
    std::vector<std::string> symbols;
    for (const auto& [axis, symbol] : unbound_) {
      symbols.push_back(symbol);
    }
    std::map<std::string, ExprPtr> upper;
    std::map<std::string, ExprPtr> lower;
    std::vector<ExprPtr> consumed;
    for (const ExprPtr& condition : CommonConditions()) {
      const std::optional<Bound> bound = BoundOf(condition, symbols);
      if (!bound) {
        continue;
      }
      std::map<std::string, ExprPtr>& side = bound->is_upper ? upper : lower;
      const auto known = side.find(bound->symbol);
      if (!bound->is_upper && bound->value->kind == ExprKind::kInt &&
          bound->value->int_value <= 0) {
        consumed.push_back(condition);  // thread indices start at 0
        continue;
      }
      if (known == side.end()) {
        side[bound->symbol] = bound->value;
        consumed.push_back(condition);
        continue;
      }
      const std::optional<Polynomial> old = ToPolynomial(known->second);
      const std::optional<Polynomial> next = ToPolynomial(bound->value);
      if (old && next && (bound->is_upper ? *next - *old : *old - *next).IsNonNegative()) {
        consumed.push_back(condition);  // implied by the one that is known
      }
    }
    for (const ExprPtr& condition : CommonConditions()) {
      const auto exclusion = ExclusionOf(condition, symbols);
      const std::optional<Polynomial> value =
          exclusion ? ToPolynomial(exclusion->value) : std::nullopt;
      if (!value) {
        continue;
      }
      const std::string& symbol = exclusion->symbol;
      const std::optional<Polynomial> end =
          upper.contains(symbol) ? ToPolynomial(upper.at(symbol)) : std::nullopt;
      if (value->Constant() == 0 && !lower.contains(symbol)) {
        lower[symbol] = Int(1);
        consumed.push_back(condition);
      } else if (end && (*end - *value).Constant() == 1) {
        upper[symbol] = exclusion->value;
        consumed.push_back(condition);
      }
    }
    std::map<std::string, ExprPtr> replacements;
    for (const auto& [axis, symbol] : unbound_) {
      const auto end = upper.find(symbol);
      if (end == upper.end()) {
        Stop(line_, fmt::format("launch-extent: no condition bounds the thread index along {}, so "
                                "its extent is the launch's own",
                                kAxes[axis]));
      }
      const auto begin = lower.find(symbol);
      Dim dim;
      dim.thread_axis = axis;
      dim.extent = end->second;
      if (begin != lower.end()) {
        const std::optional<Polynomial> to = ToPolynomial(end->second);
        const std::optional<Polynomial> from = ToPolynomial(begin->second);
        dim.extent =
            to && from ? (*to - *from).ToExpr() : Arithmetic("-", end->second, begin->second);
      }
      if (ScalarBytes(dim.extent->type) < 4) {
        dim.extent = Convert(Scalar::kI32, dim.extent);
      }
      static constexpr const char* kDefaultNames[] = {"i", "j", "k"};
      const ExprPtr thread = Symbol(symbol, symbol[0] == '@' ? Scalar::kI32 : Scalar::kU32);
      dim.name = fmt::format("{}#{}", HintFor(thread, hints_, kDefaultNames[axis]), next_id_++);
      const ExprPtr point = Symbol(dim.name, dim.extent->type);
      replacements[symbol] = begin == lower.end() ? point : Arithmetic("+", point, begin->second);
      dims_[axis] = dim;
    }
    RemoveConditions(&events(), consumed);
    RewriteEvents(&events(), [&](const ExprPtr& expr) {
      return Simplify(ReplaceThreads(AssumeTrue(expr, consumed), replacements));
    });
    thread_values_ = std::move(replacements);
  }

  // Thread indices by dims. The dim has the type of its extent, and no value of it leaves the type
  // that the source chose for the index.
  static ExprPtr ReplaceThreads(const ExprPtr& expr,
                                const std::map<std::string, ExprPtr>& replacements) {
    const bool is_cast = expr->kind == ExprKind::kCast;
    const Expr& inner = is_cast ? *expr->operands[0] : *expr;
    if (inner.kind == ExprKind::kSymbol) {
      const auto found = replacements.find(inner.name);
      return found == replacements.end() ? expr : Convert(expr->type, found->second);
    }
    std::vector<ExprPtr> operands;
    bool changed = false;
    for (const ExprPtr& operand : expr->operands) {
      operands.push_back(ReplaceThreads(operand, replacements));
      changed |= operands.back() != operand;
    }
    if (!changed) {
      return expr;
    }
    Expr copy = *expr;
    copy.operands = std::move(operands);
    return std::make_shared<const Expr>(std::move(copy));
  }

  static ExprPtr AssumeTrue(const ExprPtr& expr, const std::vector<ExprPtr>& known) {
    for (const ExprPtr& condition : known) {
      if (Equal(condition, expr)) {
        return Int(1, Scalar::kBool);
      }
      if (expr->type == Scalar::kBool && Equal(Negate(condition), expr)) {
        return Int(0, Scalar::kBool);
      }
    }
    std::vector<ExprPtr> operands;
    bool changed = false;
    for (const ExprPtr& operand : expr->operands) {
      operands.push_back(AssumeTrue(operand, known));
      changed |= operands.back() != operand;
    }
    if (!changed) {
      return expr;
    }
    Expr copy = *expr;
    copy.operands = std::move(operands);
    return std::make_shared<const Expr>(std::move(copy));
  }

  static void RemoveConditions(std::vector<Event>* list, const std::vector<ExprPtr>& known) {
    for (Event& event : *list) {
      std::erase_if(event.conditions, [&](const ExprPtr& condition) {
        return std::any_of(known.begin(), known.end(),
                           [&](const ExprPtr& other) { return Equal(other, condition); });
      });
      if (event.kind == Event::Kind::kLoop) {
        RemoveConditions(&event.loop->body, known);
      }
    }
  }

  void SplitAxes() {
    std::vector<NameHint> hints = hints_;
    for (NameHint& hint : hints) {
      hint.value = Simplify(ReplaceThreads(hint.value, thread_values_));
    }
    for (int axis = 2; axis >= 0; --axis) {
      const auto dim = dims_.find(axis);
      if (dim == dims_.end()) {
        continue;
      }
      for (const Dim& part : SplitDim(dim->second, &events(), hints, &next_id_)) {
        points_.dims.push_back(part);
      }
    }
  }

  // A loop whose work uses a fold of its own body becomes a dim of the program.
  bool OpenImperfectLoop() {
    for (size_t at = 0; at < events().size(); ++at) {
      const Event event = events()[at];
      if (event.kind != Event::Kind::kLoop || !HasOwnFold(*event.loop)) {
        continue;
      }
      const Loop& loop = *event.loop;
      if (!loop.accumulators.empty()) {
        Stop(event.line, "a fold over values that are folds themselves");
      }
      for (size_t i = 0; i < events().size(); ++i) {
        if (i != at && HasStores(events()[i])) {
          Stop(event.line, "a loop that folds and stores, beside other stores");
        }
      }
      if (!HasStores(event)) {
        Stop(event.line, "a fold over values that are folds themselves");
      }
      points_.dims.push_back(loop.dim);
      std::vector<Event> opened(events().begin(),
                                events().begin() + static_cast<std::ptrdiff_t>(at));
      for (Event inner : loop.body) {
        inner.conditions.insert(inner.conditions.begin(), event.conditions.begin(),
                                event.conditions.end());
        opened.push_back(std::move(inner));
      }
      events() = std::move(opened);
      CleanUp(&events());
      return true;
    }
    return false;
  }

  static bool HasOwnFold(const Loop& loop) {
    for (const Event& event : loop.body) {
      if (event.kind != Event::Kind::kLoop) {
        continue;
      }
      for (const LoopAccumulator& entry : event.loop->accumulators) {
        bool used = AnyMentions(loop.body, entry.accumulator.name);
        for (const LoopAccumulator& own : loop.accumulators) {
          used |= Mentions(own.accumulator.update, entry.accumulator.name) ||
                  Mentions(own.guard, entry.accumulator.name);
        }
        if (used) {
          return true;
        }
      }
      if (HasOwnFold(*event.loop)) {
        return true;
      }
    }
    return false;
  }

  const std::vector<NameHint>& hints_;
  int line_;
  Points points_;
  std::map<int, Dim> dims_;             // by axis
  std::map<int, std::string> unbound_;  // the symbol of each axis that a guard must bound
  std::set<int> block_axes_;
  std::set<const Loop*> block_loops_;
  std::map<std::string, ExprPtr> thread_values_;
  int next_id_ = 1'000'000;  // beyond the executor's
};

}  // namespace

Points FindPoints(std::vector<Event> events, const std::vector<NameHint>& hints, int line) {
  return PointFinder(std::move(events), hints, line).Find();
}

}  // namespace optiml::rewrite::lifting
