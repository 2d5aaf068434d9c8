#ifndef OPTIML_REWRITE_LIFT_EVENTS_H_
#define OPTIML_REWRITE_LIFT_EVENTS_H_

// What a symbolic execution of a kernel's body leaves behind: the values of its variables at each
// moment, and the list of what happens, each under the conditions that lead to it.
//
//   kernel text --Executor--> Event[] --points--> Event[] over dims --stages--> Program
//
// Internal names. Until the last step symbols carry a number, so that they never collide: "v#7" is
// a let, dim or accumulator that the source calls v; "in#3" is the value that a variable carries
// into an iteration of a loop; "@x" is blockIdx.x * blockDim.x + threadIdx.x; "threadIdx.x" and its
// kin stand for themselves. A finished program has none of the last three kinds.
//
// Refusals travel as LiftStop, thrown and caught inside lift/ alone: nearly every step can refuse.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite::lifting {

struct LiftStop {
  std::string reason;
  int line = 0;
};

[[noreturn]] void Stop(int line, const std::string& reason);

// The scalar type that an AST type is; nothing for pointers, vectors, structs.
std::optional<Scalar> ScalarOf(const ast::TypePtr& type);

// The type in which C++ computes an operation on two scalars.
Scalar ArithmeticType(Scalar a, Scalar b);

// a op b in the common type, simplified; casts are inserted as C++ would.
ExprPtr Arithmetic(const std::string& op, const ExprPtr& a, const ExprPtr& b);

// A conversion with literals folded where the value stays exactly the same.
ExprPtr Convert(Scalar type, const ExprPtr& value);

// A float literal; integral values lose their spelling ("0.f", "0" and "0.0f" are one).
ExprPtr FloatLiteral(double value, const std::string& text, Scalar type);

// The parts of a condition a && b && c.
void SplitConjunction(const ExprPtr& condition, std::vector<ExprPtr>* parts);
// Null when there are none.
ExprPtr JoinConditions(const std::vector<ExprPtr>& conditions);

// A variable's value at one moment.
struct Value {
  enum class Kind { kUnset, kScalar, kPointer, kUnknown };
  Kind kind = Kind::kUnset;
  ExprPtr expr;  // the scalar, or a pointer's offset in elements
  std::string buffer;
  Scalar element = Scalar::kF32;  // of the buffer
  std::string why;                // kUnknown: what it is ("the counter c after its loop")
  // Holds only when this condition on sizes does (a counter after its loop: the trip count is >=
  // 0).
  ExprPtr assumption;

  static Value Of(ExprPtr expr);
  static Value Pointer(std::string buffer, Scalar element, ExprPtr offset);
  static Value Unknown(std::string why);
};

struct Loop;

// One thing that happens, when all `conditions` hold. They are relative to the body of the
// enclosing loop.
struct Event {
  enum class Kind { kLet, kStore, kLoop };
  Kind kind = Kind::kLet;
  int line = 0;
  std::vector<ExprPtr> conditions;
  Let let;
  Store store;
  std::shared_ptr<Loop> loop;
};

struct LoopAccumulator {
  Accumulator accumulator;
  ExprPtr guard;  // may be null
};

enum class LoopKind {
  kSerial,       // every thread runs all of it
  kGridStride,   // the threads of the grid share its iterations
  kBlockStride,  // the threads of each block share its iterations
};

struct Loop {
  Dim dim;
  LoopKind kind = LoopKind::kSerial;
  int axis = -1;  // of a stride loop
  std::vector<Event> body;
  std::vector<LoopAccumulator> accumulators;  // of this level; deeper ones are in the body
  int line_begin = 0;
  int line_end = 0;
};

// Whether unsigned arithmetic on one of the symbols may wrap below zero, so that a comparison says
// more than it seems: (unsigned)(i - 1) < n also means i >= 1.
bool MayWrapBelowZero(const ExprPtr& expr, const std::vector<std::string>& symbols);

// The source called this value so: names of dims come from here.
struct NameHint {
  std::string name;
  ExprPtr value;
};

// The name without its number: "v" of "v#7".
std::string BaseName(const std::string& internal);

// Calls `visit` on every expression of the events and of the loops within, store indices included;
// what it returns takes the place.
void RewriteEvents(std::vector<Event>* events,
                   const std::function<ExprPtr(const ExprPtr&)>& rewrite);
void VisitEvents(const std::vector<Event>& events,
                 const std::function<void(const ExprPtr&)>& visit);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_EVENTS_H_
