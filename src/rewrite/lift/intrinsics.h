#ifndef OPTIML_REWRITE_LIFT_INTRINSICS_H_
#define OPTIML_REWRITE_LIFT_INTRINSICS_H_

// The functions of CUDA that the lift knows: which are pure, which load, store or update memory,
// and why the others end the lift (CUDA C++ Programming Guide 13.0, mathematical and device
// functions).

#include <optional>
#include <string>

#include "rewrite/program/program.h"

namespace optiml::rewrite::lifting {

// The function that a call names, overloads resolved by the result type: "exp" of floats is "expf",
// "max" of floats "fmaxf". Nothing when the function is not known to be pure.
std::optional<std::string> PureFunction(const std::string& name, Scalar type);

// atomicAdd and its kin; atomicSub is a sum of the negated value.
struct AtomicFunction {
  FoldOp op;
  bool negate = false;
};
std::optional<AtomicFunction> AtomicOf(const std::string& name);

// __ldg and the cache-hinted loads and stores: plain memory accesses to the lift.
bool IsHintedLoad(const std::string& name);
bool IsHintedStore(const std::string& name);

// "warp shuffles exchange values between threads", or that the function is unknown.
std::string WhyNotLifted(const std::string& name);

// The fold operator of a function of two arguments that is one (max, fminf ...).
std::optional<FoldOp> FoldOfFunction(const std::string& name);

}  // namespace optiml::rewrite::lifting

#endif  // OPTIML_REWRITE_LIFT_INTRINSICS_H_
