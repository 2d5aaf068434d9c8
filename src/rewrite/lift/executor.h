#ifndef OPTIML_REWRITE_LIFT_EXECUTOR_H_
#define OPTIML_REWRITE_LIFT_EXECUTOR_H_

// Executor: runs a kernel's body on symbols. It follows every assignment in order, so that a
// variable may be set as often as the source likes; it joins the branches of an if by selects; it
// turns a loop into dims and accumulators by running one iteration on unknown values and looking at
// what became of them:
//   v + k                 a counter (or a pointer that walks)
//   v op something        an accumulator
//   something else        a temporary, when nobody reads what it carried in; otherwise a refusal
//
// Values that load or compute floats are named by lets at the moment they are assigned; integer
// arithmetic is carried along as expressions. So no pending expression ever holds a load, and a
// store cannot change what was read before it.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "rewrite/lift/events.h"

namespace optiml::rewrite::lifting {

class Executor {
 public:
  Executor(const ast::SourceUnit& unit, const ast::Function& kernel);

  // Throws LiftStop.
  void Run();

  std::vector<Event>& events() { return events_; }
  const std::vector<NameHint>& hints() const { return hints_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<ExprPtr>& assumptions() const { return assumptions_; }

 private:
  using Environment = std::map<int, Value>;
  enum class Flow { kNext, kEnded };  // kEnded: no path continues

  struct Condition {
    ExprPtr expr;
    bool is_kill = false;  // holds because the other paths have returned or continued
  };

  // A path that ended early: the conditions it was under, and its state.
  struct Exit {
    std::vector<Condition> path;
    Environment environment;
    Value value;      // of a return
    int next_id = 0;  // names made up to then have smaller numbers
  };

  struct Frame {
    const ast::Function* function = nullptr;
    size_t path_begin = 0;
    size_t loop_depth = 0;
    std::vector<Exit> returns;
  };

  // One iteration of a loop, run on given values.
  struct Iteration {
    std::vector<Event> events;
    Environment end;
    ExprPtr condition;  // to run an iteration (kDo: to run another)
  };

  struct Trip {
    ExprPtr count;       // iterations; may be negative for empty ranges
    ExprPtr assumption;  // of a do loop: that it runs at least once
    int variable = -1;
    LoopKind kind = LoopKind::kSerial;
    int axis = -1;
  };

  // Statements (executor.cpp)
  void BindParameters();
  Flow Execute(const ast::Stmt& stmt);
  Flow ExecuteBlock(const std::vector<ast::StmtPtr>& children);
  void Declare(const ast::Variable& variable);
  Flow ExecuteIf(const ast::Stmt& stmt);
  Flow Branch(const ExprPtr& condition, const std::function<Flow()>& then_part,
              const std::function<Flow()>& else_part, int line);
  // Folds whose number is not below the one given for their side ran on that side alone (-1: none).
  struct FoldsOf {
    int then_from = -1;
    int else_from = -1;
  };
  Value MergeValues(const ExprPtr& condition, const Value& then_value, const Value& else_value,
                    int variable, const FoldsOf& folds);
  ExprPtr BindCondition(const ExprPtr& condition, int line);
  bool LoadsWritable(const ExprPtr& expr) const;
  void ExecuteEffect(const ast::Expr& expr);
  void AssignVariable(int variable, Value value, int line);
  void AddStore(const Value& pointer, const ExprPtr& value, StoreKind kind, FoldOp op, int line);
  ExprPtr Bind(const std::string& name, const ExprPtr& value, int line);
  ExprPtr InlineConditionalLets(const ExprPtr& expr, size_t event_begin);
  void PushConditions(const ExprPtr& condition, bool is_kill = false);
  ExprPtr UnderPath(const ExprPtr& expr) const;
  std::optional<bool> KnownOnPath(const ExprPtr& condition) const;
  std::vector<ExprPtr> PathConditions() const;

  // Expressions (evaluate.cpp)
  Value Evaluate(const ast::Expr& expr);
  ExprPtr EvaluateScalar(const ast::Expr& expr);
  ExprPtr EvaluateCondition(const ast::Expr& expr);
  ExprPtr EvaluateLazily(const ast::Expr& expr, const ExprPtr& condition);
  Value EvaluateVariable(const ast::Expr& expr);
  Value EvaluateBinary(const ast::Expr& expr);
  Value EvaluatePointerBinary(const ast::Expr& expr, const Value& left, const Value& right);
  Value EvaluateConditional(const ast::Expr& expr);
  Value EvaluateCast(const ast::Expr& expr);
  Value EvaluateCall(const ast::Expr& expr);
  Value EvaluateAssignment(const ast::Expr& expr, bool is_statement);
  Value EvaluateIncrement(const ast::Expr& expr, bool is_statement);
  Value InlineCall(const ast::Expr& expr, const ast::Function& function);
  bool ExecuteMemoryCall(const ast::Expr& expr);  // atomics and hinted stores, result unused
  Value AddressOf(const ast::Expr& lvalue);
  Value LoadFrom(const Value& pointer, int line);
  ExprPtr JoinThreadIndex(const ExprPtr& sum);
  int Resolve(int variable) const;

  // Loops (loops.cpp)
  Flow ExecuteLoop(const ast::Stmt& stmt);
  std::set<int> AssignedIn(const ast::Stmt& stmt) const;
  void CollectAssigned(const ast::Expr& expr, std::set<int>* assigned) const;
  void CollectAssigned(const ast::Stmt& stmt, std::set<int>* assigned) const;
  Iteration RunIteration(const ast::Stmt& stmt, const Environment& carried);
  Flow RunBody(const ast::Stmt& stmt);
  std::optional<ExprPtr> StepOf(const Value& in, const Value& end, int first_new_id) const;
  Trip SolveTrip(const ast::Stmt& stmt, const ExprPtr& condition,
                 const std::map<int, ExprPtr>& steps, const Environment& fresh,
                 const Environment& before) const;
  void SolveStride(const ExprPtr& begin, const ExprPtr& step, Trip* trip, int line) const;
  ExprPtr ExpandLets(const ExprPtr& expr) const;
  void RequireInvariantCount(const ExprPtr& count, int line) const;
  // Accumulators and temporaries after the loop, from what one iteration made of them.
  void FinishCarried(const ast::Stmt& stmt, const Environment& fresh, const Environment& before,
                     const std::map<int, ExprPtr>& steps, Iteration* iteration, Loop* loop,
                     Environment* after);

  std::string FreshName(const std::string& base);
  bool IsNewSymbol(const std::string& name, int first_new_id) const;

  const ast::SourceUnit& unit_;
  const ast::Function& kernel_;
  std::vector<Parameter> parameters_;
  Environment environment_;
  std::map<int, int> aliases_;  // reference parameters of inlined functions
  std::vector<Condition> path_;
  std::vector<Event> events_;  // of the region being executed
  std::vector<Frame> frames_;
  std::vector<std::vector<Exit>> continues_;  // one a loop being executed
  size_t loop_depth_ = 0;                     // all loops
  size_t serial_depth_ = 0;                   // kSerial loops
  size_t lazy_depth_ = 0;                     // operands that C++ may skip
  std::map<std::string, ExprPtr> let_values_;
  std::map<std::string, ExprPtr> accumulator_inits_;
  std::vector<NameHint> hints_;
  std::vector<ExprPtr> assumptions_;
  int next_id_ = 0;
  size_t work_ = 0;  // statements executed; bounded against nests that explode
};

// Whether an expression contains a load or call, or floats to compute: it then gets a let of its
// own.
bool NeedsLet(const ExprPtr& expr);
size_t NodeCount(const ExprPtr& expr);
// Whether the expression assigns or increments something or calls a function with effects.
bool HasSideEffects(const ast::Expr& expr);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_EXECUTOR_H_
