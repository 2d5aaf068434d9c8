#ifndef OPTIML_FRONTEND_INTERPRETER_H_
#define OPTIML_FRONTEND_INTERPRETER_H_

// Interpreter: runs a launcher's syntax tree on concrete sizes and writes down what it asks of the
// GPU. It knows no data: device memory cannot be read, and what would need it is refused.
//
// Streams: every launch, copy and memset is taken in the order in which it is issued, whatever its
// stream; where streams and events promise less than that, the launcher is refused
// (stream_order.h).
//
// A refusal travels as the exception Refused, which MakeLaunchPlan catches; it never leaves this
// folder. One interpreter is one process: a second Run finds the globals and statics that the first
// one left.

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/host_memory.h"
#include "frontend/host_value.h"
#include "frontend/stream_order.h"

namespace optiml::frontend {

struct Refused {
  Refusal refusal;
};

class Interpreter {
 public:
  Interpreter(const ast::SourceUnit& unit, const PlanLimits& limits,
              Surroundings surroundings = Surroundings::kUsual);

  // Buffer arguments have the same addresses in every run. The plan's buffers are those of all runs
  // so far.
  LaunchPlan Run(const ast::Function& launcher, const std::vector<LauncherArgument>& arguments);

  // Host memory that outlives a run: globals, statics and what they point to.
  struct Lasting {
    std::map<size_t, HostObject> objects;  // by number in the host memory
    size_t buffers = 0;                    // that there were
  };
  Lasting Remember() const;
  // The name of a variable whose value is not what it was; empty when there is none. Pointers to
  // memory that the launcher has since allocated on the device may differ.
  std::string Changed(const Lasting& before) const;

 private:
  enum class Flow { kNext, kBreak, kContinue, kReturn };

  // A call that is being executed.
  struct Frame {
    std::unordered_map<int, uint64_t>
        variables;                // id -> address; of the object meant, for references
    std::vector<uint64_t> owned;  // host objects that end with the frame
    HostValue result;
  };

  struct Closure {
    int function = -1;
    std::unordered_map<int, uint64_t> captures;
  };

  struct Buffer {  // beside plan_.buffers
    bool is_alive = true;
    int freed_line = 0;
  };

  // interpreter.cpp: statements, variables, calls
  Flow Execute(const ast::Stmt& stmt);
  Flow ExecuteFor(const ast::Stmt& stmt);
  Flow ExecuteSwitch(const ast::Stmt& stmt);
  void Declare(int variable);
  uint64_t VariableAddress(const ast::Expr& expr);
  uint64_t GlobalAddress(const ast::Variable& variable);
  HostValue CallUser(const ast::Function& function, const std::vector<ast::ExprPtr>& operands,
                     size_t first, uint64_t this_address, const Closure* closure);
  void BindParameter(const ast::Variable& parameter, const ast::ExprPtr& operand, Frame& callee);
  void BindLauncherArguments(const ast::Function& launcher,
                             const std::vector<LauncherArgument>& arguments);
  // Counts a step and a level of nesting; both have limits.
  class Level {
   public:
    explicit Level(Interpreter& interpreter);
    ~Level() { --interpreter_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter& interpreter_;
  };
  void Step();
  [[noreturn]] void Refuse(const std::string& what) const;
  // Refuses what may be right, but is beyond the interpreter.
  [[noreturn]] void ReadsBack(const std::string& what) const;
  [[noreturn]] void CannotFollow(const std::string& what) const;
  // Refuses what is wrong on every device.
  [[noreturn]] void Fault(const std::string& what) const;

  // interpreter_expressions.cpp
  HostValue Evaluate(const ast::Expr& expr);
  void NoteEvaluated(const ast::Expr& expr) {
    for (auto& [watched, is_evaluated] : watched_) {
      is_evaluated = is_evaluated || watched == &expr;
    }
  }
  uint64_t Address(const ast::Expr& expr);
  HostValue EvaluateUnary(const ast::Expr& expr);
  HostValue EvaluateBinary(const ast::Expr& expr);
  HostValue EvaluateAssign(const ast::Expr& expr);
  HostValue EvaluateIncrement(const ast::Expr& expr);
  HostValue EvaluateCast(const ast::Expr& expr);
  HostValue EvaluateConstruct(const ast::Expr& expr);
  HostValue EvaluateMember(const ast::Expr& expr);
  HostValue EvaluateMethod(const ast::Expr& expr);
  HostValue EvaluateLambda(const ast::Expr& expr);
  // Brace-initialises `type` from `operands`; what they leave out is zero.
  HostValue Initialise(const ast::TypePtr& type, const std::vector<ast::ExprPtr>& operands);
  HostValue PointerArithmetic(const ast::Expr& expr, const std::string& op, const HostValue& left,
                              const HostValue& right);
  HostValue Binary(const ast::Expr& expr, const std::string& op, const HostValue& left,
                   const HostValue& right, const ast::TypePtr& type);
  // Remembers the first sum, difference or product that its type could not hold.
  void NoteOverflow(const std::string& op, const HostValue& left, const HostValue& right,
                    const ast::Type& type);
  HostValue Convert(const HostValue& value, const ast::TypePtr& type);
  HostValue Load(uint64_t address, const ast::TypePtr& type);
  void Store(uint64_t address, const HostValue& value);
  void MarkPointers(HostObject& object, uint64_t offset, const ast::Type& type);
  uint64_t Temporary(const HostValue& value);
  uint64_t Allocate(uint64_t size);
  const ast::Field& FindField(const ast::Type& type, const std::string& name) const;
  int64_t EvaluateInteger(const ast::Expr& expr) { return Evaluate(expr).integer; }

  // interpreter_calls.cpp: functions that are not of the file
  HostValue EvaluateCall(const ast::Expr& expr);
  HostValue CallLibrary(const ast::Expr& expr);
  HostValue CallKnown(const ast::Expr& expr);
  // Messages: nobody reads them, but what their arguments change counts.
  void Print(const ast::Expr& expr, const std::string& name);
  // Refuses objects that do something by themselves.
  void CheckPassive(const ast::Type& type) const;
  // Globals whose initialisation changes something are initialised before the launcher starts.
  void InitialiseGlobals();
  bool CallMath(const ast::Expr& expr, const std::string& name, HostValue& result);
  bool CallStandard(const ast::Expr& expr, const std::string& name, HostValue& result);
  HostValue MinMax(const ast::Expr& expr, bool is_max);
  HostValue MakeVector(const ast::Expr& expr);

  // interpreter_runtime.cpp: the CUDA runtime
  bool CallRuntime(const ast::Expr& expr, const std::string& name, HostValue& result);
  void Malloc(const ast::Expr& target, uint64_t size);
  void FreeDevice(uint64_t address);
  void CheckFreed();
  // What globals and statics point to, through whatever host memory.
  struct Held {
    std::vector<bool> buffers;
    std::vector<bool> objects;  // of memory_, by number
  };
  Held FindHeld() const;
  // A module variable as a buffer of the plan.
  uint64_t SymbolAddress(const ast::Expr& expr);
  bool CallOnSymbol(const ast::Expr& expr, const std::string& name);
  void StorePointer(uint64_t slot, uint64_t address);
  void Copy(uint64_t destination, uint64_t source, uint64_t size, int64_t kind);
  void Memset(uint64_t destination, int64_t value, uint64_t size);
  void SetAttribute(const ast::Expr& expr);
  int64_t DeviceAttribute(int64_t attribute);
  void FillDeviceProperties(const ast::Expr& target);
  void EncodeTensorMap(const ast::Expr& expr);
  int64_t OccupancyBlocks(int function, int64_t threads, uint64_t dynamic_shared_bytes);
  void StoreThrough(const ast::Expr& pointer, int64_t value);

  // interpreter_pinned.cpp
  struct PinnedBlock {
    uint64_t bytes = 0;
    int line = 0;
    bool is_own = false;  // allocated pinned; else registered
  };
  struct Upload {
    uint64_t source = 0;
    std::vector<std::byte> bytes;  // as they were
    StreamOrder::Ticket ticket;
    int line = 0;
  };
  uint64_t AllocatePinned(uint64_t size);
  void FreePinned(uint64_t address);
  void Register(uint64_t address, uint64_t size, bool is_pinned);
  void NoteUpload(uint64_t source, const std::vector<std::byte>& bytes);
  // Uploads that the host has waited for, or all of them, must find their bytes as they were.
  void CheckUploads(bool all);
  void CheckPinnedFreed(const std::vector<bool>& held_objects);

  // interpreter_streams.cpp: streams, events, and what waits for them
  bool CallOrdering(const ast::Expr& expr, const std::string& name, HostValue& result);
  void Issue(uint64_t stream, std::vector<StreamAccess> accesses);
  void CheckFinished();

  // interpreter_launch.cpp
  void Launch(const ast::Expr& expr);
  void LaunchThroughArray(const ast::Expr& expr, bool is_cooperative);
  void LaunchWithConfig(const ast::Expr& expr);
  void AddLaunch(KernelLaunch launch, int function, uint64_t stream);
  KernelArgument MakeKernelArgument(const HostValue& value);
  Dim3 ReadDim3(const HostValue& value) const;
  // What is known of why a launch shape is absurd: " (int overflowed in line 7: ...)", or nothing.
  std::string OverflowNote() const;
  int FunctionOperand(const ast::Expr& expr);
  // A live buffer's pointer; refuses freed buffers and host pointers. Null is allowed.
  DevicePointer CheckedPointer(uint64_t address, const char* what);
  void CheckAlive(const DevicePointer& pointer, const char* what) const;
  // The same, and [address, address + size) must lie in the buffer.
  DevicePointer CheckedRange(uint64_t address, uint64_t size, const char* what);

  const ast::SourceUnit& unit_;
  PlanLimits limits_;
  LaunchPlan plan_;
  Surroundings surroundings_;
  HostMemory memory_;
  StreamOrder order_;
  uint64_t stream_ = 0;                     // of the copy or memset that is being taken down
  bool is_async_ = false;                   // likewise
  std::map<uint64_t, PinnedBlock> pinned_;  // by address
  std::vector<Upload> uploads_;             // from pinned memory, not waited for
  std::vector<Buffer> buffers_;
  std::vector<Closure> closures_;
  std::vector<Frame*> frames_;
  std::unordered_map<int, uint64_t> globals_;  // and function statics
  bool has_started_ = false;                   // globals are initialised
  // Arguments of library calls that change something, and whether they were evaluated.
  std::vector<std::pair<const ast::Expr*, bool>> watched_;
  std::vector<TensorMapArgument> tensor_maps_;  // a CUtensorMap's bytes name one by its index
  std::string malloc_name_;                     // what the next allocation is called
  uint64_t device_bytes_ = 0;                   // allocated by the launcher and not freed
  int64_t steps_ = 0;
  int64_t launches_ = 0;
  int depth_ = 0;
  std::string overflow_;  // "int overflowed in line 7: 65536 * 65536"; empty: none did
  int64_t next_handle_ = 1;
  int line_ = 0;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_INTERPRETER_H_
