#ifndef OPTIML_FRONTEND_TRACE_READER_H_
#define OPTIML_FRONTEND_TRACE_READER_H_

// TraceReader: what recorded_plan.h and live_trace.h read a trace with. A trace may come in pieces;
// each ends with a whole event.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "frontend/ast.h"
#include "frontend/frontend.h"
#include "frontend/live_plan.h"
#include "frontend/recorded_plan.h"
#include "frontend/recorder.h"
#include "frontend/stream_order.h"

namespace optiml::frontend {

// Why reading ends before the trace does. It does not leave its caller.
struct Stop {
  std::string what;
  int line = 0;
  bool is_fault = false;
  bool reads_back = false;
};

// The device of a live run broke.
struct Failed {
  Error error;
};

Refusal RefusalOf(const Stop& stop, const ast::SourceUnit& unit, const ast::Function& launcher);

class TraceReader {
 public:
  // `device`: of a live run; null: none.
  TraceReader(const ast::SourceUnit& unit, const RecordedNames& names,
              const std::vector<RecordedCall>& calls, Surroundings surroundings,
              const PlanLimits& limits, const std::string& trace, LiveDevice* device = nullptr)
      : unit_(unit),
        names_(names),
        calls_(calls),
        is_other_(surroundings == Surroundings::kOther),
        limits_(limits),
        trace_(trace),
        device_(device) {
    AddArguments();
  }

  // All events that the trace has so far.
  void ReadOn();
  // No more will come.
  std::vector<RecordedPlan> Finish();

  // What the program is to be told since it was last asked.
  std::string TakeAnswer() { return std::exchange(answer_, {}); }

 private:
  struct Buffer {
    uint64_t address = 0;
    int plan_buffer = -1;  // -1: an argument that is no buffer
    bool is_alive = true;
    int freed_line = 0;
    bool is_held = false;  // by memory that outlives the call
  };

  uint64_t Word();
  std::string Bytes();
  int SmallLine();
  [[noreturn]] void Refuse(const std::string& what) const { throw Stop{what, line_}; }
  [[noreturn]] void Fault(const std::string& what) const { throw Stop{what, line_, true}; }
  [[noreturn]] void Garbled() const { throw Stop{"the recorder's trace is garbled", line_}; }

  void AddArguments();
  void ReadEvent(uint64_t kind);
  void BeginCall();
  void EndCall();
  void AddBuffer(uint64_t address, PlanBuffer buffer);
  void ReadMalloc();
  void ReadFree();
  void ReadHeld();
  void CheckFreed();
  void GoOn(const Result<bool>& done);
  void ReadLaunch();
  void ReadMemset();
  void ReadCopy();
  void ReadUpload();
  void ReadAttribute();
  void ReadSymbol();
  void ReadBackEvent();
  void ReadOrder(uint64_t kind);

  KernelArgument Argument(const ast::Type& type, const std::string& bytes);
  DevicePointer Pointer(uint64_t address, const char* what) const;
  DevicePointer RangeOf(uint64_t address, uint64_t size, const char* what) const;
  const ast::Function& Kernel(uint64_t number) const;
  void Issue(uint64_t stream, std::vector<StreamAccess> accesses);

  const ast::SourceUnit& unit_;
  const RecordedNames& names_;
  const std::vector<RecordedCall>& calls_;
  bool is_other_;
  PlanLimits limits_;
  const std::string& trace_;
  size_t at_ = 0;
  int line_ = 0;
  bool in_call_ = false;
  std::vector<Buffer> buffers_;  // in the order of their addresses' numbers
  LaunchPlan plan_;
  std::vector<size_t> owners_;  // in buffers_, by buffer of the plan
  StreamOrder order_;
  uint64_t device_bytes_ = 0;
  int allocations_ = 0;
  int64_t launches_ = 0;
  LiveDevice* device_;
  std::string answer_;
  std::vector<ReadBack> reads_;
  uint64_t read_bytes_ = 0;  // since the last launch
  std::vector<RecordedPlan> made_;
};

}  // namespace optiml::frontend

#endif  // OPTIML_FRONTEND_TRACE_READER_H_
