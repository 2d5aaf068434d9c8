#ifndef OPTIML_REWRITE_LIFT_CLEANUP_H_
#define OPTIML_REWRITE_LIFT_CLEANUP_H_

// Brings the events of a kernel into a form that depends less on its spelling: what nothing uses is
// dropped, an if and an else that store to one place become one store of a select, a let that is
// used once takes its use's place.

#include <set>
#include <string>
#include <vector>

#include "rewrite/lift/events.h"

namespace optiml::rewrite::lifting {

void CleanUp(std::vector<Event>* events);

// Drops the lets that neither later events nor `roots` (null entries are allowed) use.
void DropUnusedLets(std::vector<Event>* events, const std::vector<ExprPtr>& roots);

// Whether anything in the events stores.
bool HasStores(const std::vector<Event>& events);
bool HasStores(const Event& event);

// Buffers that the event stores to, loops included.
std::set<std::string> StoredBuffersOf(const Event& event);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_CLEANUP_H_
