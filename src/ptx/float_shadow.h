#ifndef OPTIML_PTX_FLOAT_SHADOW_H_
#define OPTIML_PTX_FLOAT_SHADOW_H_

// FloatShadow: what the floating-point values of emulated launches would be in double arithmetic.
//
// A launch with a shadow (LaunchRequest::shadow) keeps a double beside every value of f16, bf16,
// f32 and f64 that was computed with rounding: in registers, global, shared and local memory. It is
// computed from the operands' doubles in double arithmetic, while addresses, comparisons and
// branches follow the values themselves. What has no shadow is taken as exact, as it stands:
// inputs, integers, numbers whose bits were made by integer instructions, and results of
// instructions that round on purpose (to integers, or in a directed mode, or by adding 1.5 * 2^23).
//
// A shadow belongs to the bits for which it was made: whatever overwrites them otherwise, also by
// ways that are not followed, ends it.
//
// Each value also keeps the source lines that contributed most to its error, to first order: an
// operation's own rounding (its result minus the exact operation on its rounded operands) is born
// in its line and goes on with the derivatives of what uses it. Contributions of one line add up.
//
// One object serves the launches of one memory, in order. Not thread safe; such launches run on one
// host thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/dtype.h"

namespace optiml::ptx {

class ShadowStore;

// Part of an error that was born in one line.
struct ErrorBirth {
  int32_t line = 0;  // 0: not known
  double amount = 0;
};

struct ElementError {
  int64_t element = -1;  // of the buffer; -1: no element has any
  double value = 0;
  double shadow = 0;
  double error = 0;                // |value - shadow|, or that in units of |shadow|
  std::vector<ErrorBirth> births;  // largest first, at most three
  int32_t cancelled_line = 0;      // where a sum cancelled and the relative error grew most
  uint32_t cancelled_bits = 0;     // by so many bits; 0: nowhere
};

struct BufferError {
  int64_t elements = 0;
  int64_t inexact = 0;  // of them with a shadow that differs
  ElementError absolute;
  ElementError relative;
};

class FloatShadow {
 public:
  FloatShadow();
  ~FloatShadow();
  FloatShadow(const FloatShadow&) = delete;
  FloatShadow& operator=(const FloatShadow&) = delete;

  // The worst errors of a buffer of floats whose bytes are at `address`. Elements that are NaN or
  // the same infinity on both sides have none. REQUIRES: `dtype` is f16, bf16, f32 or f64
  BufferError Compare(DType dtype, uint64_t address, std::span<const std::byte> bytes) const;
  // The elements in double arithmetic. The same requirement.
  std::vector<double> Values(DType dtype, uint64_t address, std::span<const std::byte> bytes) const;

  // What the host copied inside global memory keeps its shadows.
  void Copy(uint64_t from, uint64_t to, uint64_t bytes);

  // Source lines of instructions with floating-point results that are not followed: what they made
  // counts as exact.
  const std::set<int32_t>& unfollowed_lines() const { return unfollowed_lines_; }
  void NoteUnfollowed(int32_t line) { unfollowed_lines_.insert(line); }

  uint64_t bytes_used() const;  // by shadows of global memory
  ShadowStore& global() { return *global_; }

 private:
  std::unique_ptr<ShadowStore> global_;
  std::set<int32_t> unfollowed_lines_;
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_FLOAT_SHADOW_H_
