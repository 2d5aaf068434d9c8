#ifndef OPTIML_BASE_STRONG_ID_H_
#define OPTIML_BASE_STRONG_ID_H_

// StrongId<Tag>: an integer that names one kind of thing and cannot be mixed up with another
// kind's.

#include <compare>
#include <cstdint>
#include <functional>

namespace optiml {

template <typename Tag>
struct StrongId {
  int64_t value = -1;  // -1: names nothing

  constexpr StrongId() = default;
  constexpr explicit StrongId(int64_t v) : value(v) {}
  constexpr bool is_valid() const { return value >= 0; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

}  // namespace optiml

template <typename Tag>
struct std::hash<optiml::StrongId<Tag>> {
  size_t operator()(const optiml::StrongId<Tag>& id) const noexcept {
    return std::hash<int64_t>()(id.value);
  }
};

#endif  // OPTIML_BASE_STRONG_ID_H_
