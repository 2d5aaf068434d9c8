#include "rewrite/lift/cleanup.h"

#include <algorithm>
#include <map>

#include "rewrite/program/simplify.h"

namespace optiml::rewrite::lifting {

namespace {

using Names = std::set<std::string>;

void AddSymbols(const ExprPtr& expr, Names* names) {
  Visit(expr, [&](const Expr& node) {
    if (node.kind == ExprKind::kSymbol) {
      names->insert(node.name);
    }
  });
}

bool IsLive(const Event& event, const Names& used) {
  switch (event.kind) {
    case Event::Kind::kLet:
      return used.contains(event.let.name);
    case Event::Kind::kStore:
      return true;
    case Event::Kind::kLoop:
      return std::any_of(event.loop->accumulators.begin(), event.loop->accumulators.end(),
                         [&](const LoopAccumulator& entry) {
                           return used.contains(entry.accumulator.name);
                         }) ||
             std::any_of(event.loop->body.begin(), event.loop->body.end(), [&](const Event& inner) {
               return inner.kind != Event::Kind::kLet && IsLive(inner, used);
             });
  }
  return true;
}

void CollectUsed(const std::vector<Event>& events, Names* used) {
  for (const Event& event : events) {
    if (!IsLive(event, *used)) {
      continue;
    }
    for (const ExprPtr& condition : event.conditions) {
      AddSymbols(condition, used);
    }
    if (event.kind == Event::Kind::kLet) {
      AddSymbols(event.let.value, used);
    } else if (event.kind == Event::Kind::kStore) {
      AddSymbols(event.store.index, used);
      AddSymbols(event.store.value, used);
    } else {
      AddSymbols(event.loop->dim.extent, used);
      for (const LoopAccumulator& entry : event.loop->accumulators) {
        if (used->contains(entry.accumulator.name)) {
          AddSymbols(entry.accumulator.init, used);
          AddSymbols(entry.accumulator.update, used);
          AddSymbols(entry.guard, used);
        }
      }
      CollectUsed(event.loop->body, used);
    }
  }
}

void RemoveDead(std::vector<Event>* events, const Names& used) {
  std::erase_if(*events, [&](const Event& event) { return !IsLive(event, used); });
  for (Event& event : *events) {
    if (event.kind == Event::Kind::kLoop) {
      std::erase_if(event.loop->accumulators, [&](const LoopAccumulator& entry) {
        return !used.contains(entry.accumulator.name);
      });
      RemoveDead(&event.loop->body, used);
    }
  }
}

bool DropUnused(std::vector<Event>* events) {
  Names used;
  size_t size = 0;
  do {
    size = used.size();
    CollectUsed(*events, &used);
  } while (used.size() != size);
  const auto count = [](const std::vector<Event>& list, const auto& self) -> size_t {
    size_t total = list.size();
    for (const Event& event : list) {
      if (event.kind == Event::Kind::kLoop) {
        total += event.loop->accumulators.size() + self(event.loop->body, self);
      }
    }
    return total;
  };
  const size_t before = count(*events, count);
  RemoveDead(events, used);
  return count(*events, count) != before;
}

// if (c) y[i] = a; else y[i] = b;   ->   y[i] = c ? a : b;
bool JoinBranches(std::vector<Event>* events) {
  for (size_t j = 0; j < events->size(); ++j) {
    Event& second = (*events)[j];
    if (second.kind == Event::Kind::kLoop && JoinBranches(&second.loop->body)) {
      return true;
    }
    if (second.kind != Event::Kind::kStore || second.store.kind != StoreKind::kAssign) {
      continue;
    }
    for (size_t i = j; i > 0; --i) {
      const Event& first = (*events)[i - 1];
      const auto loads = [](const Event& let, const std::string& buffer) {
        const std::vector<ExprPtr> all = Loads(let.let.value);
        return std::any_of(all.begin(), all.end(),
                           [&](const ExprPtr& load) { return load->name == buffer; });
      };
      if (first.kind == Event::Kind::kLet) {
        if (loads(first, second.store.buffer)) {
          break;  // reads what the earlier store may have written
        }
        continue;
      }
      if (first.kind != Event::Kind::kStore || first.store.kind != StoreKind::kAssign ||
          first.store.buffer != second.store.buffer ||
          !Equal(first.store.index, second.store.index)) {
        break;
      }
      size_t shared = 0;
      while (shared < first.conditions.size() && shared < second.conditions.size() &&
             Equal(first.conditions[shared], second.conditions[shared])) {
        ++shared;
      }
      const auto tail = [&](const Event& event) {
        return JoinConditions({event.conditions.begin() + static_cast<std::ptrdiff_t>(shared),
                               event.conditions.end()});
      };
      const ExprPtr then_condition = tail(first);
      const ExprPtr else_condition = tail(second);
      if (then_condition == nullptr || else_condition == nullptr ||
          (!Equal(Negate(then_condition), else_condition) &&
           !Equal(Negate(else_condition), then_condition))) {
        break;
      }
      // Lets of one branch move into their arm.
      std::map<std::string, ExprPtr> values;
      bool overwritten = false;
      for (size_t k = 0; k < j; ++k) {
        const Event& let = (*events)[k];
        if (let.kind != Event::Kind::kLet || let.conditions.size() <= shared) {
          continue;
        }
        values[let.let.name] = let.let.value;
        for (size_t m = k + 1; m < j; ++m) {
          for (const std::string& buffer : StoredBuffersOf((*events)[m])) {
            overwritten |= m != i - 1 && loads(let, buffer);
          }
        }
      }
      if (overwritten) {
        break;
      }
      const auto inlined = [&](ExprPtr expr) {
        for (size_t round = 0; round <= values.size(); ++round) {
          const ExprPtr next = Substitute(expr, values);
          if (next == expr) {
            break;
          }
          expr = next;
        }
        return expr;
      };
      Event joined = second;
      joined.conditions.resize(shared);
      joined.store.value =
          Select(inlined(then_condition), inlined(first.store.value), inlined(second.store.value));
      joined.store.index = inlined(second.store.index);
      (*events)[j] = std::move(joined);
      events->erase(events->begin() + static_cast<std::ptrdiff_t>(i - 1));
      return true;
    }
  }
  return false;
}

size_t CountUses(const ExprPtr& expr, const std::string& name) {
  size_t uses = 0;
  Visit(expr, [&](const Expr& node) {
    uses += node.kind == ExprKind::kSymbol && node.name == name ? 1 : 0;
  });
  return uses;
}

// Uses in the event itself (0), and in the parts of it that run once an iteration.
struct Uses {
  size_t once = 0;
  size_t repeated = 0;
};

Uses UsesIn(const Event& event, const std::string& name) {
  Uses uses;
  for (const ExprPtr& condition : event.conditions) {
    uses.once += CountUses(condition, name);
  }
  if (event.kind == Event::Kind::kLet) {
    uses.once += CountUses(event.let.value, name);
  } else if (event.kind == Event::Kind::kStore) {
    uses.once += CountUses(event.store.index, name) + CountUses(event.store.value, name);
  } else {
    uses.once += CountUses(event.loop->dim.extent, name);
    for (const LoopAccumulator& entry : event.loop->accumulators) {
      uses.once += CountUses(entry.accumulator.init, name);
      uses.repeated += CountUses(entry.accumulator.update, name) + CountUses(entry.guard, name);
    }
    VisitEvents(event.loop->body,
                [&](const ExprPtr& expr) { uses.repeated += CountUses(expr, name); });
  }
  return uses;
}

// `at_end`: expressions that are evaluated after all events of the region (a loop's updates).
bool InlineSingleUses(std::vector<Event>* events, std::vector<ExprPtr*> at_end) {
  for (size_t i = 0; i < events->size(); ++i) {
    Event& event = (*events)[i];
    if (event.kind == Event::Kind::kLoop) {
      std::vector<ExprPtr*> updates;
      for (LoopAccumulator& entry : event.loop->accumulators) {
        updates.push_back(&entry.accumulator.update);
        if (entry.guard != nullptr) {
          updates.push_back(&entry.guard);
        }
      }
      if (InlineSingleUses(&event.loop->body, updates)) {
        return true;
      }
      continue;
    }
    if (event.kind != Event::Kind::kLet) {
      continue;
    }
    const std::string& name = event.let.name;
    size_t total = 0;
    bool repeated = false;
    bool overwritten = false;  // a store may change what the let loaded before it is used
    Names loaded;
    for (const ExprPtr& load : Loads(event.let.value)) {
      loaded.insert(load->name);
    }
    Names stored;
    const auto meets = [&] {
      return std::any_of(loaded.begin(), loaded.end(),
                         [&](const std::string& buffer) { return stored.contains(buffer); });
    };
    for (size_t k = i + 1; k < events->size(); ++k) {
      const Uses uses = UsesIn((*events)[k], name);
      total += uses.once + uses.repeated;
      repeated |= uses.repeated > 0;
      overwritten |= uses.once > 0 && meets();
      const Names more = StoredBuffersOf((*events)[k]);
      stored.insert(more.begin(), more.end());
    }
    for (const ExprPtr* expr : at_end) {
      const size_t uses = CountUses(*expr, name);
      total += uses;
      overwritten |= uses > 0 && meets();
    }
    if (total != 1 || repeated || overwritten) {
      continue;
    }
    const std::map<std::string, ExprPtr> value = {{name, event.let.value}};
    const auto rewrite = [&](const ExprPtr& expr) { return Substitute(expr, value); };
    RewriteEvents(events, rewrite);
    for (ExprPtr* expr : at_end) {
      *expr = rewrite(*expr);
    }
    events->erase(events->begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

}  // namespace

bool HasStores(const Event& event) {
  return event.kind == Event::Kind::kStore ||
         (event.kind == Event::Kind::kLoop && HasStores(event.loop->body));
}

bool HasStores(const std::vector<Event>& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const Event& event) { return HasStores(event); });
}

std::set<std::string> StoredBuffersOf(const Event& event) {
  Names stored;
  if (event.kind == Event::Kind::kStore) {
    stored.insert(event.store.buffer);
  } else if (event.kind == Event::Kind::kLoop) {
    for (const Event& inner : event.loop->body) {
      const Names more = StoredBuffersOf(inner);
      stored.insert(more.begin(), more.end());
    }
  }
  return stored;
}

void DropUnusedLets(std::vector<Event>* events, const std::vector<ExprPtr>& roots) {
  Names used;
  for (const ExprPtr& root : roots) {
    AddSymbols(root, &used);
  }
  for (size_t i = events->size(); i > 0; --i) {
    Event& event = (*events)[i - 1];
    if (event.kind == Event::Kind::kLet && !used.contains(event.let.name)) {
      events->erase(events->begin() + static_cast<std::ptrdiff_t>(i - 1));
      continue;
    }
    VisitEvents({event}, [&](const ExprPtr& expr) { AddSymbols(expr, &used); });
  }
}

void CleanUp(std::vector<Event>* events) {
  bool changed = true;
  while (changed) {
    changed = DropUnused(events);
    changed |= JoinBranches(events);
    changed |= InlineSingleUses(events, {});
  }
}

}  // namespace optiml::rewrite::lifting
