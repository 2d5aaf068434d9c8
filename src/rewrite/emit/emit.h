#ifndef OPTIML_REWRITE_EMIT_EMIT_H_
#define OPTIML_REWRITE_EMIT_EMIT_H_

// Emit: a whole new .cu from the root's text: definitions of the scheduled kernels are replaced by
// what their emitters print, and their launches by calls of the launch helpers. All else stays.

#include <string>
#include <variant>
#include <vector>

#include "core/kernel_source.h"
#include "rewrite/catalogue.h"
#include "rewrite/emit/kernel_text.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/schedule.h"

namespace optiml::rewrite {

struct ScheduledKernel {
  const KernelFacts* facts = nullptr;
  Schedule schedule;
};

// Prints one kernel by the emitter that its schedule asks for. An empty
// schedule prints one thread per point.
EmittedKernel EmitKernel(const KernelFacts& facts, const Schedule& schedule);

// Why the kernel's text cannot be replaced (macros, several instances of one template, a launch
// before the definition), or nothing. `launched_by_task`: the launch stands in the task, not in the
// file.
std::optional<std::string> RefuseReplacement(const ast::SourceUnit& unit,
                                             const ast::Function& kernel, bool launched_by_task);

// One piece of text to be replaced.
struct Replacement {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string text;
};

// `further` replacements are made in the same pass. REQUIRES: all kernels belong to `unit`;
// schedules are legal.
ApplyOutcome EmitSource(const ast::SourceUnit& unit, const KernelSource& root,
                        const std::vector<ScheduledKernel>& kernels,
                        std::vector<Replacement> further);

// New text gets the line ends that most of the old one has. REQUIRES: the ranges do not overlap.
std::string Replace(const std::string& text, std::vector<Replacement> replacements);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_EMIT_H_
