#ifndef OPTIML_REWRITE_CATALOGUE_TEST_SUPPORT_H_
#define OPTIML_REWRITE_CATALOGUE_TEST_SUPPORT_H_

// For the tests of schedules, emitters and the catalogue: CUDA text -> syntax tree, plans and
// catalogue in one step. Fails the test when the text is not what the test meant.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "frontend/frontend.h"
#include "rewrite/catalogue.h"
#include "rewrite/lift/lift.h"
#include "rewrite/schedule/kernel_facts.h"
#include "rewrite/schedule/transformation.h"

namespace optiml::rewrite::testing {

// An argument of a launcher: a buffer of so many bytes, an integer, or a fraction.
struct Argument {
  enum Kind { kBuffer, kInteger, kFraction } kind = kBuffer;
  double value = 0;
};
inline Argument Bytes(double bytes) {
  return {Argument::kBuffer, bytes};
}
inline Argument Integer(double value) {
  return {Argument::kInteger, value};
}
inline Argument Fraction(double value) {
  return {Argument::kFraction, value};
}

struct KernelCase {
  std::string entry;
  std::string text;
  std::vector<Argument> timed;
};

inline ast::SourceUnit Parse(const KernelSource& source) {
  Result<ParseOutcome> outcome = ParseSource(source);
  EXPECT_TRUE(outcome.has_value());
  if (!outcome) {
    return {};
  }
  if (const auto* refusal = std::get_if<Refusal>(&*outcome)) {
    ADD_FAILURE() << refusal->reason << "\n" << source.text();
    return {};
  }
  return std::get<ast::SourceUnit>(*std::move(outcome));
}

inline std::vector<LauncherArgument> Bind(const std::vector<Argument>& arguments) {
  std::vector<LauncherArgument> bound;
  for (const Argument& argument : arguments) {
    LauncherArgument one;
    one.name = "a" + std::to_string(bound.size());
    one.is_buffer = argument.kind == Argument::kBuffer;
    one.size_bytes = one.is_buffer ? static_cast<uint64_t>(argument.value) : 0;
    if (argument.kind == Argument::kInteger) {
      one.value = static_cast<int64_t>(argument.value);
    } else {
      one.value = argument.value;
    }
    bound.push_back(one);
  }
  return bound;
}

inline LaunchPlan PlanOf(const ast::SourceUnit& unit, const std::string& entry,
                         const std::vector<Argument>& arguments) {
  PlanOutcome outcome = MakeLaunchPlan(unit, entry, Bind(arguments));
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    ADD_FAILURE() << refusal->reason << "\n" << unit.text;
    return {};
  }
  return std::get<LaunchPlan>(outcome);
}

// A case with everything made from it.
struct Made {
  KernelSource source;
  ast::SourceUnit unit;
  LaunchPlan plan;
  std::unique_ptr<Catalogue> catalogue;
  std::unique_ptr<KernelFacts> facts;  // of the first lifted kernel; null without one

  std::string Apply(const std::vector<Edit>& chain) const {
    const ApplyOutcome outcome = catalogue->Apply(chain);
    if (const auto* refusal = std::get_if<ApplyRefusal>(&outcome)) {
      ADD_FAILURE() << refusal->reason;
      return "";
    }
    return std::get<KernelSource>(outcome).text();
  }
  // The reason why a chain is refused; empty when it is not.
  std::string Refusal(const std::vector<Edit>& chain) const {
    const ApplyOutcome outcome = catalogue->Apply(chain);
    const auto* refusal = std::get_if<ApplyRefusal>(&outcome);
    return refusal == nullptr ? "" : refusal->reason;
  }
};

inline Edit MakeEdit(const std::string& rewrite, const std::map<std::string, int64_t>& holes = {}) {
  Edit edit;
  edit.rewrite = rewrite;
  edit.parameters = holes;
  return edit;
}

inline Made Make(const KernelCase& kernel, const TargetLimits& limits = {}) {
  Made made;
  made.source = KernelSource(kernel.text, kernel.entry, kernel.entry + ".cu");
  made.unit = Parse(made.source);
  made.plan = PlanOf(made.unit, kernel.entry, kernel.timed);
  KernelTask task;
  task.source = made.source;
  Result<std::unique_ptr<Catalogue>> catalogue =
      MakeCatalogue(task, made.unit, {made.plan}, limits);
  EXPECT_TRUE(catalogue.has_value());
  made.catalogue = *std::move(catalogue);
  for (const ast::Function& function : made.unit.functions) {
    if (!function.is_kernel || made.facts != nullptr) {
      continue;
    }
    LiftOutcome outcome = Lift(made.unit, function);
    if (auto* program = std::get_if<Program>(&outcome)) {
      made.facts = std::make_unique<KernelFacts>(
          MakeKernelFacts(0, made.unit, function, *program, {made.plan}, limits));
    }
  }
  return made;
}

// Compares with a file of testdata/, or writes it when OPTIML_UPDATE_GOLDEN is set.
inline void ExpectGolden(const std::string& text, const std::string& name) {
  const std::string path = std::string(OPTIML_SOURCE_DIR) + "/src/rewrite/testdata/" + name;
  if (std::getenv("OPTIML_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << path
                                  << "; OPTIML_UPDATE_GOLDEN=1 rewrites it";
}

}  // namespace optiml::rewrite::testing

#endif  // OPTIML_REWRITE_CATALOGUE_TEST_SUPPORT_H_
