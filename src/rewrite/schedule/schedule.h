#ifndef OPTIML_REWRITE_SCHEDULE_SCHEDULE_H_
#define OPTIML_REWRITE_SCHEDULE_SCHEDULE_H_

// Schedule: how one Program is carried out, as a list of named primitives with their holes filled:
//   row_fold(threads=256) vector_width(width=4) keep_row(items=8)
// A value: edits make a new one, emit/ prints it. The names are those of the transformations in
// schedule/transformation.h; a name occurs at most once, setting it again replaces its holes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace optiml::rewrite {

using Parameters = std::map<std::string, int64_t>;

struct Primitive {
  std::string name;
  Parameters parameters;
};

struct Schedule {
  std::vector<Primitive> primitives;  // in the order in which they were first set

  const Primitive* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The value of a hole, or `fallback` when the primitive or the hole is absent.
  int64_t Get(std::string_view name, const std::string& hole, int64_t fallback) const;
  void Set(const std::string& name, const Parameters& parameters);
  // "row_fold(threads=256) vector_width(width=4)"
  std::string Format() const;
};

// "vector_width(width=4)"
std::string FormatPrimitive(const std::string& name, const Parameters& parameters);

}  // namespace optiml::rewrite

#endif  // OPTIML_REWRITE_SCHEDULE_SCHEDULE_H_
