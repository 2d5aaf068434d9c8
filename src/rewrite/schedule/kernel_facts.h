#ifndef OPTIML_REWRITE_SCHEDULE_KERNEL_FACTS_H_
#define OPTIML_REWRITE_SCHEDULE_KERNEL_FACTS_H_

// KernelFacts: everything that legality checks and emitters know of one lifted kernel: its program,
// its shape, and how the root launches it at the timed shapes. Immutable after it was made.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/launch_plan.h"
#include "frontend/ast.h"
#include "rewrite/catalogue.h"
#include "rewrite/program/program.h"
#include "rewrite/schedule/shape.h"

namespace optiml::rewrite {

// One launch of the kernel in one of the plans.
struct LaunchFacts {
  Dim3 grid;
  Dim3 block;
  std::map<std::string, int64_t> integers;        // scalar parameters of integer type
  std::map<std::string, DevicePointer> pointers;  // buffer parameters
  std::map<std::string, int64_t> elements_left;   // of each buffer, from the pointer to its end
};

struct KernelFacts {
  int index = 0;  // among the lifted kernels
  const ast::SourceUnit* unit = nullptr;
  const ast::Function* function = nullptr;
  Program lifted;   // as the lift gave it
  Program program;  // normalised
  Shape shape;
  std::vector<LaunchFacts> launches;
  // The file has no launcher: the task says the launch. Emitted text then brings a launcher of its
  // own (core/own_launcher.h).
  bool launched_by_task = false;
  TargetLimits limits;

  // Whether the two pointer parameters are different buffers at every launch. False without
  // launches.
  bool Distinct(const std::string& a, const std::string& b) const;
  bool DistinctFromAll(const std::string& buffer) const;
  // Every written buffer is distinct from all others, or is touched at one index only (in place).
  bool WritesDoNotAlias() const;
  // The value of an extent at the first launch.
  std::optional<int64_t> Value(const ExprPtr& expr) const;
  // The length of the fold or par dim that runs along contiguous memory, at the first launch.
  std::optional<int64_t> InnerLength() const;
  std::optional<int64_t> OuterPoints() const;  // product of the program's dims
};

// REQUIRES: `function` belongs to `unit`, which outlives the facts.
KernelFacts MakeKernelFacts(int index, const ast::SourceUnit& unit, const ast::Function& function,
                            Program lifted, const std::vector<LaunchPlan>& plans,
                            const TargetLimits& limits);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_KERNEL_FACTS_H_
