#include "rewrite/lift/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rewrite/lift/cleanup.h"
#include "rewrite/program/access.h"
#include "rewrite/program/affine.h"
#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

struct ScopedLet {
  Let let;
  std::vector<ExprPtr> conditions;
};

struct Group {
  std::vector<ExprPtr> conditions;
  std::vector<Accumulator> accumulators;
  std::vector<Store> stores;
  int line = 0;
};

bool SameConditions(const std::vector<ExprPtr>& a, const std::vector<ExprPtr>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const ExprPtr& x, const ExprPtr& y) { return Equal(x, y); });
}

bool MentionsAny(const ExprPtr& expr, const std::vector<ScopedLet>& lets) {
  return expr != nullptr && std::any_of(lets.begin(), lets.end(), [&](const ScopedLet& scoped) {
           return Mentions(expr, scoped.let.name);
         });
}

class StageBuilder {
 public:
  explicit StageBuilder(std::vector<Event> events) : events_(std::move(events)) {}

  std::vector<Stage> Build() {
    for (size_t i = 0; i < events_.size(); ++i) {
      const Event& event = events_[i];
      switch (event.kind) {
        case Event::Kind::kLet:
          OpenStraight(event, i);
          straight_.lets.push_back(event.let);
          break;
        case Event::Kind::kStore:
          OpenStraight(event, i);
          straight_.stores.push_back(event.store);
          straight_.line_end = std::max(straight_.line_end, event.line);
          break;
        case Event::Kind::kLoop:
          CloseStraight(i);
          EmitNest(event);
          break;
      }
    }
    CloseStraight(events_.size());
    for (Stage& stage : stages_) {
      TakeInFirstElement(&stage);
    }
    return std::move(stages_);
  }

 private:
  // Lets happen before stores in a stage: a let that loads what the stage has stored opens another.
  void OpenStraight(const Event& event, size_t index) {
    bool must_close = is_open_ && !SameConditions(event.conditions, straight_conditions_);
    if (event.kind == Event::Kind::kLet) {
      for (const ExprPtr& load : Loads(event.let.value)) {
        for (const Store& store : straight_.stores) {
          must_close |= store.buffer == load->name;
        }
      }
    }
    if (must_close) {
      CloseStraight(index);
    }
    if (!is_open_) {
      is_open_ = true;
      straight_conditions_ = event.conditions;
      straight_.line_begin = event.line;
      straight_.line_end = event.line;
    }
  }

  // A guarded stage's lets are not seen outside it: their values go where later events use them.
  void CloseStraight(size_t next) {
    if (!is_open_) {
      return;
    }
    is_open_ = false;
    straight_.guard = JoinConditions(straight_conditions_);
    if (straight_.guard != nullptr) {
      std::map<std::string, ExprPtr> values;
      for (const Let& let : straight_.lets) {
        values[let.name] = Substitute(let.value, values);
      }
      for (size_t i = next; i < events_.size(); ++i) {
        std::vector<Event> one = {events_[i]};
        for (const auto& [name, value] : values) {
          bool used = false;
          VisitEvents(one, [&](const ExprPtr& expr) { used |= Mentions(expr, name); });
          for (const ExprPtr& load : used ? Loads(value) : std::vector<ExprPtr>()) {
            RequireNoStore(load->name, next, i, events_[i].line);
          }
        }
        RewriteEvents(&one, [&](const ExprPtr& expr) { return Substitute(expr, values); });
        events_[i] = one[0];
      }
      // The guard decides whether they are evaluated: it must not need them.
      straight_.guard = Substitute(straight_.guard, values);
      std::erase_if(straight_.lets, [&](const Let& let) {
        bool used = false;
        for (const Store& store : straight_.stores) {
          used |= Mentions(store.value, let.name) || Mentions(store.index, let.name);
        }
        for (const Let& other : straight_.lets) {
          used |= Mentions(other.value, let.name);
        }
        return !used;
      });
    }
    if (!straight_.lets.empty() || !straight_.stores.empty()) {
      stages_.push_back(straight_);
    }
    straight_ = Stage();
  }

  void RequireNoStore(const std::string& buffer, size_t begin, size_t end, int line) const {
    for (const Store& store : straight_.stores) {
      if (store.buffer == buffer) {
        Stop(line, fmt::format("a value of {} is used after {} was written", buffer, buffer));
      }
    }
    for (size_t i = begin; i < end; ++i) {
      if (StoredBuffersOf(events_[i]).contains(buffer)) {
        Stop(line, fmt::format("a value of {} is used after {} was written", buffer, buffer));
      }
    }
  }

  void EmitNest(const Event& event) {
    const size_t first = stages_.size();
    EmitLoop(event, {}, {}, {});
    // One loop that becomes several stages: none may store what another of them touches.
    for (size_t a = first; a < stages_.size(); ++a) {
      for (size_t b = first; b < stages_.size(); ++b) {
        if (a == b) {
          continue;
        }
        for (const std::string& buffer : StoredBuffers(stages_[a])) {
          const std::vector<std::string> loaded = LoadedBuffers(stages_[b]);
          const std::vector<std::string> stored = StoredBuffers(stages_[b]);
          if (std::find(loaded.begin(), loaded.end(), buffer) != loaded.end() ||
              std::find(stored.begin(), stored.end(), buffer) != stored.end()) {
            Stop(event.line,
                 fmt::format("a loop that would be split stores {} in one part and uses "
                             "it in another",
                             buffer));
          }
        }
      }
    }
  }

  void EmitLoop(const Event& event, std::vector<Dim> dims, std::vector<ExprPtr> conditions,
                std::vector<ScopedLet> lets) {
    const Loop& loop = *event.loop;
    dims.push_back(loop.dim);
    conditions.insert(conditions.end(), event.conditions.begin(), event.conditions.end());
    std::vector<Group> groups;
    const auto group_for = [&](const std::vector<ExprPtr>& wanted, int line) -> Group& {
      for (Group& group : groups) {
        if (SameConditions(group.conditions, wanted)) {
          return group;
        }
      }
      groups.push_back({wanted, {}, {}, line});
      return groups.back();
    };
    const auto flush = [&] {
      for (const Group& group : groups) {
        EmitGroup(group, dims, lets, loop);
      }
      groups.clear();
    };
    for (const Event& inner : loop.body) {
      std::vector<ExprPtr> all = conditions;
      all.insert(all.end(), inner.conditions.begin(), inner.conditions.end());
      switch (inner.kind) {
        case Event::Kind::kLet:
          for (const Group& group : groups) {
            for (const Store& store : group.stores) {
              for (const ExprPtr& load : Loads(inner.let.value)) {
                if (load->name == store.buffer) {
                  Stop(inner.line,
                       fmt::format("{} is read in a loop after it was written there", load->name));
                }
              }
            }
          }
          lets.push_back({inner.let, all});
          break;
        case Event::Kind::kStore: {
          Group& group = group_for(all, inner.line);
          for (const Store& earlier : group.stores) {
            for (const ExprPtr& expr : {inner.store.value, inner.store.index}) {
              for (const ExprPtr& load : Loads(expr)) {
                if (load->name == earlier.buffer) {
                  Stop(inner.line,
                       fmt::format("{} is read in a loop after it was written there", load->name));
                }
              }
            }
          }
          group.stores.push_back(inner.store);
          break;
        }
        case Event::Kind::kLoop:
          flush();
          EmitLoop(inner, dims, conditions, lets);
          break;
      }
    }
    for (const LoopAccumulator& entry : loop.accumulators) {
      std::vector<ExprPtr> all = conditions;
      if (entry.guard != nullptr) {
        SplitConjunction(entry.guard, &all);
      }
      for (const Dim& dim : dims) {
        if (Mentions(entry.accumulator.init, dim.name)) {
          Stop(event.line, "a fold within a loop that starts anew in each iteration");
        }
      }
      if (MentionsAny(entry.accumulator.init, lets)) {
        Stop(event.line, "a fold within a loop that starts anew in each iteration");
      }
      for (const Group& group : groups) {
        for (const Store& store : group.stores) {
          for (const ExprPtr& load : Loads(entry.accumulator.update)) {
            if (load->name == store.buffer) {
              Stop(event.line, fmt::format("{} is read in a loop that also writes it", load->name));
            }
          }
        }
      }
      group_for(all, event.line).accumulators.push_back(entry.accumulator);
    }
    flush();
  }

  void EmitGroup(const Group& group, const std::vector<Dim>& dims,
                 const std::vector<ScopedLet>& lets, const Loop& loop) {
    Stage stage;
    stage.dims = dims;
    for (Dim& dim : stage.dims) {
      dim.kind = group.accumulators.empty() ? DimKind::kPar : DimKind::kFold;
    }
    stage.accumulators = group.accumulators;
    stage.stores = group.stores;
    stage.guard = JoinConditions(group.conditions);
    stage.line_begin = loop.line_begin;
    stage.line_end = loop.line_end;
    std::set<std::string> needed;
    const auto need = [&](const ExprPtr& expr) {
      Visit(expr, [&](const Expr& node) {
        if (node.kind == ExprKind::kSymbol) {
          needed.insert(node.name);
        }
      });
    };
    for (const Accumulator& accumulator : stage.accumulators) {
      need(accumulator.update);
    }
    for (const Store& store : stage.stores) {
      need(store.index);
      need(store.value);
    }
    const std::set<std::string> by_body = needed;
    need(stage.guard);
    bool conditional = false;
    for (size_t i = lets.size(); i > 0; --i) {
      const ScopedLet& scoped = lets[i - 1];
      if (needed.contains(scoped.let.name)) {
        conditional |= !scoped.conditions.empty();
        need(scoped.let.value);
      }
    }
    // A guard that uses lets is tested after all of them: then none may rely on it.
    if (MentionsAny(stage.guard, lets) && conditional) {
      std::map<std::string, ExprPtr> values;
      for (const ScopedLet& scoped : lets) {
        values[scoped.let.name] = Substitute(scoped.let.value, values);
      }
      stage.guard = Substitute(stage.guard, values);
      needed = by_body;
      for (size_t i = lets.size(); i > 0; --i) {
        if (needed.contains(lets[i - 1].let.name)) {
          need(lets[i - 1].let.value);
        }
      }
    }
    for (const ScopedLet& scoped : lets) {
      if (needed.contains(scoped.let.name)) {
        stage.lets.push_back(scoped.let);
      }
    }
    stages_.push_back(std::move(stage));
  }

  // m = x[0]; for c from 1: m = max(m, x[c])   ->   from 0: max is idempotent, and aligned loops
  // load better.
  static void TakeInFirstElement(Stage* stage) {
    if (stage->dims.size() != 1 || !stage->stores.empty() || !stage->lets.empty() ||
        stage->guard != nullptr || stage->accumulators.empty()) {
      return;
    }
    Dim& dim = stage->dims[0];
    const ExprPtr symbol = Symbol(dim.name, dim.extent->type);
    const std::map<std::string, ExprPtr> before = {{dim.name, Int(-1, dim.extent->type)}};
    const std::map<std::string, ExprPtr> shifted = {
        {dim.name, Arithmetic("-", symbol, Int(1, dim.extent->type))}};
    for (const Accumulator& accumulator : stage->accumulators) {
      if ((accumulator.op != FoldOp::kMax && accumulator.op != FoldOp::kMin) ||
          !SameValue(Simplify(Substitute(accumulator.update, before)), accumulator.init)) {
        return;
      }
    }
    for (Accumulator& accumulator : stage->accumulators) {
      accumulator.update = Simplify(Substitute(accumulator.update, shifted));
    }
    dim.extent = Arithmetic("+", dim.extent, Int(1, dim.extent->type));
  }

  // Equal, with indices compared by what they are rather than how they are spelled.
  static bool SameValue(const ExprPtr& a, const ExprPtr& b) {
    if (Equal(a, b)) {
      return true;
    }
    if (a->kind != b->kind || a->type != b->type || a->name != b->name || a->op != b->op ||
        a->operands.size() != b->operands.size() || a->operands.empty()) {
      return false;
    }
    if (a->kind == ExprKind::kLoad) {
      const std::optional<Polynomial> left = ToPolynomial(a->operands[0]);
      const std::optional<Polynomial> right = ToPolynomial(b->operands[0]);
      return left && right && *left == *right;
    }
    for (size_t i = 0; i < a->operands.size(); ++i) {
      if (!SameValue(a->operands[i], b->operands[i])) {
        return false;
      }
    }
    return true;
  }

  std::vector<Event> events_;
  std::vector<Stage> stages_;
  Stage straight_;
  std::vector<ExprPtr> straight_conditions_;
  bool is_open_ = false;
};

}  // namespace

std::vector<Stage> BuildStages(const Points& points) {
  return StageBuilder(points.events).Build();
}

void CheckIndependence(const Program& program) {
  const std::vector<Access> accesses = Accesses(program);
  for (size_t s = 0; s < accesses.size(); ++s) {
    const Access& store = accesses[s];
    if (!store.is_store) {
      continue;
    }
    const int line = program.stages[store.stage].line_begin;
    if (store.kind == StoreKind::kAssign &&
        !(store.affine && IsInjective(*store.affine, store.dims))) {
      Stop(line, fmt::format("several points may store to one element of {}: {}[{}]", store.buffer,
                             store.buffer, Print(store.index)));
    }
    for (size_t o = 0; o < accesses.size(); ++o) {
      const Access& other = accesses[o];
      if (o == s || other.buffer != store.buffer) {
        continue;
      }
      if (store.kind == StoreKind::kAtomic) {
        if (!other.is_store || other.kind != StoreKind::kAtomic) {
          Stop(line, fmt::format("{} is updated by atomics and used otherwise", store.buffer));
        }
        continue;
      }
      if (other.is_store && o < s) {
        continue;  // the pair was seen the other way round
      }
      if (MayConflictAcrossPoints(program, other, store)) {
        Stop(line, fmt::format("{} is {} at a place that another point may store to", store.buffer,
                               other.is_store ? "also stored" : "read"));
      }
    }
  }
}

}  // namespace optiml::rewrite::lifting
