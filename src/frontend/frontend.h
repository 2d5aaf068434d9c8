#ifndef OPTIML_FRONTEND_FRONTEND_H_
#define OPTIML_FRONTEND_FRONTEND_H_

// The front end: CUDA text -> SourceUnit (Clang 19, in process), and launcher + arguments ->
// LaunchPlan.
//
// A text that Clang rejects, or a launcher that cannot be followed, is a Refusal: a value, since it
// may be a candidate's. Threads: calls are independent of each other.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/kernel_source.h"
#include "core/kernel_task.h"
#include "core/launch_plan.h"
#include "frontend/ast.h"

namespace optiml {

// Why a source cannot be used, with its place: "kernel.cu:14: launcher uses std::thread, which
// cannot be traced".
struct Refusal {
  std::string reason;  // with file and line
  int line = 0;
  // The interpreter does not know how to go on with a launcher; nothing says that the launcher is
  // wrong.
  bool not_followed = false;
  // The launcher is wrong on every device: it leaves a buffer, uses or frees what was freed, keeps
  // what nobody can free, or asks for an impossible launch. Never together with not_followed.
  bool is_fault = false;
  // The launcher reads device data back on the host: what it does may depend on contents, so a plan
  // can only be made while a device executes what it asks for (live_plan.h).
  bool reads_back = false;
};

struct ParseOptions {
  std::string cuda_include_directory;  // CUDA's real headers, the fall-back for what our prelude
                                       // lacks; empty: none
};

using ParseOutcome = std::variant<ast::SourceUnit, Refusal>;

// Parses the whole file. Fails (Error) only when the front end itself breaks.
Result<ParseOutcome> ParseSource(const KernelSource& source, const ParseOptions& options = {});

// A parameter of the launcher, as written.
struct LauncherParameter {
  std::string name;
  ast::TypePtr type;
  int line = 0;
};

// The launcher `entry` of the unit: a host function. Refused when there is none; the reason lists
// the host functions.
std::variant<std::vector<LauncherParameter>, Refusal> FindLauncher(const ast::SourceUnit& unit,
                                                                   const std::string& entry);

// The value of one launcher argument for one shape: a buffer of the plan, or a scalar in the
// argument's dtype.
struct LauncherArgument {
  std::string name;
  bool is_buffer = false;
  uint64_t size_bytes = 0;                           // buffers
  std::variant<int64_t, double> value = int64_t{0};  // scalars
};

struct PlanLimits {
  int64_t steps = 10'000'000;  // interpreted statements and expressions
  int64_t launches = 100'000;
  uint64_t allocated_bytes = uint64_t{64} << 30;
  // Of live runs: how often device data is read back, and how much of it between two launches.
  int64_t reads = 10'000;
  uint64_t read_bytes = 4096;
};

using PlanOutcome = std::variant<LaunchPlan, Refusal>;

// How launchers are recorded that the interpreter cannot follow.
struct RecorderOptions {
  bool enabled = true;
  std::filesystem::path cache_directory;         // programs by content hash; empty: none is kept
  std::filesystem::path cuda_include_directory;  // CUDA's headers; empty: nothing is recorded
  bool confined = true;                     // false only after the user's explicit --unconfined
  const std::atomic<bool>* stop = nullptr;  // ends the compiler and the launcher; not owned
  double time_limit_s = 10;
  uint64_t memory_bytes = uint64_t{6} << 30;  // address space; 2 GiB of it are the recorder's
};

// Interprets the launcher on its arguments. Buffers of the plan start with one per buffer argument,
// in order; those that the launcher allocates follow.
//
// Every run starts anew: globals and function statics have their initial values. Everything is
// taken in the order in which it is issued; work on other streams is refused where nothing promises
// that order, or that it ends with the launcher. Questions about the device are answered for an
// H200 wherever the plan will run; occupancy is an upper bound that does not know the registers.
// printf and the like are ignored. A module variable that the launcher writes is a buffer with its
// symbol. Refused, among others: reading device data back, exit, library calls, an empty grid,
// leaving a buffer in a memset or copy, using a freed buffer, memory that the launcher allocates
// and neither frees nor keeps in a global or static.
PlanOutcome MakeLaunchPlan(const ast::SourceUnit& unit, const std::string& entry,
                           const std::vector<LauncherArgument>& arguments,
                           const PlanLimits& limits = {});

// One call of a launcher and the plan that MakeLaunchPlan made of it.
struct LauncherCall {
  const std::vector<LauncherArgument>* arguments = nullptr;
  const LaunchPlan* plan = nullptr;
};

// Whether the plans stand for all calls, in whatever order: the launcher is called with each set of
// arguments twice in one process, and once where addresses, free memory and versions are others,
// and must do the same work each time. Refused: a launcher that counts its calls, caches by
// pointer, leaves work to its first call, or looks at its buffers' addresses for more than their
// alignment. Scratch memory that is kept, and attributes that are set once, are fine.
std::optional<Refusal> CheckLauncher(const ast::SourceUnit& unit, const std::string& entry,
                                     const std::vector<LauncherCall>& calls,
                                     const PlanLimits& limits = {});

// The arguments of a task's launcher for one row of sizes. Scalars that the checks vary come from
// `scalars` (by name); where a name is absent the task's fixed value, the size, or the fill's first
// value is taken (constant: its value; uniform, randint: the lower end, else 0; zeros: 0; any
// other: 1). Fails, naming argument and line, on negative extents, byte counts beyond 2^63-1,
// missing sizes and values that the argument's dtype cannot hold.
Result<std::vector<LauncherArgument>> BindArguments(
    const KernelTask& task, const SizeBindings& sizes,
    const std::map<std::string, double>& scalars = {});

}  // namespace optiml

#endif  // OPTIML_FRONTEND_FRONTEND_H_
