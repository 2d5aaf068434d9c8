#ifndef OPTIML_REWRITE_EMIT_LANE_BODY_H_
#define OPTIML_REWRITE_EMIT_LANE_BODY_H_

// LaneBody: straight-line stages at `width` neighbouring points of one dim, printed as
//   loads of packs; a loop over the lanes; stores of packs
// A pack is a struct of `width` elements that moves in one memory access. Accesses that are not
// contiguous along the dim, or are conditional, stay as they are inside the loop over the lanes.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite/emit/code_writer.h"
#include "rewrite/emit/kernel_text.h"
#include "rewrite/program/program.h"

namespace optiml::rewrite {

// What vector access along a dim needs, and which loads and stores take part.
struct PackAccess {
  std::string buffer;
  ExprPtr index;
  Scalar type = Scalar::kF32;
  std::string name;  // of the pack in the emitted code
};

// Conditions under which the vector path may run.
struct VectorConditions {
  std::set<std::string> divisible;         // scalar expressions that must be multiples of the width
  std::map<std::string, int64_t> aligned;  // buffer -> bytes
};

class LaneBody {
 public:
  // `stages`: indices of stages of the program, executed in order at each point. `dim` is the dim
  // along which lanes lie; with width 1 nothing is packed. Adds what the vector path needs to
  // `conditions`. `provided`: loads (by LoadKey) that are on chip already, and the text that reads
  // them at `lane`.
  LaneBody(const KernelFacts& facts, const Program& program, const std::vector<size_t>& stages,
           const std::string& dim, int64_t width, Names* names, VectorConditions* conditions,
           const std::map<std::string, std::string>& provided = {});

  // Stores are printed by `print` from now on (their expressions rewritten already).
  void SetStorePrinter(std::function<void(const Store&, CodeWriter*)> print) {
    print_store_ = std::move(print);
  }

  bool packs_anything() const { return !loads_.empty() || !stores_.empty(); }
  // Whether the lanes or the stores use the dim's value itself.
  bool needs_point() const;
  const std::vector<PackAccess>& loads() const { return loads_; }

  // `base`: text of the first lane's value of the dim. `suffix` is put behind the names of loaded
  // packs ("[item]"); with `declare` packs are declared too.
  void PrintLoads(const std::string& base, const std::string& suffix, bool declare,
                  CodeWriter* out) const;
  void PrintLanes(const std::string& base, const std::string& suffix, bool declare,
                  CodeWriter* out) const;
  void PrintStores(const std::string& base, CodeWriter* out) const;
  // The stages at one point, without packs; the dim is called as in the program.
  void PrintScalar(CodeWriter* out) const;

  // Identifies a load: "x[row * cols + c]".
  static std::string LoadKey(const Expr& load);
  // The text of the width: "kWidth".
  static constexpr char kWidthName[] = "kWidth";

 private:
  void PrintStatements(const std::string& base, const std::string& suffix, bool packed,
                       bool uniform, CodeWriter* out) const;

  const Program& program_;
  std::vector<size_t> stages_;
  std::string dim_;
  Scalar dim_type_ = Scalar::kI32;
  int64_t width_;
  std::map<std::string, std::string> provided_;
  std::vector<PackAccess> loads_;
  std::vector<PackAccess> stores_;
  std::function<void(const Store&, CodeWriter*)> print_store_;
  std::set<std::string> uniform_lets_;  // the same for all lanes: printed before their loop
};

// Tile of the text `Pack<float, kWidth>`.
std::string PackType(Scalar type);
// The definition of Pack, once per file.
std::string PackDefinition();
// "cols % 4 == 0 && reinterpret_cast<size_t>(x) % 16 == 0"; empty when nothing is needed.
std::string ConditionText(const VectorConditions& conditions, int64_t width);

// One statement list of a stage, as the source had it: lets, then guarded folds and stores.
void PrintStage(const Stage& stage, CodeWriter* out);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_EMIT_LANE_BODY_H_
