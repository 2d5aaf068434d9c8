#include "rewrite/lift/intrinsics.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace optiml::rewrite::lifting {

namespace {

// Functions with a float twin that ends in f: exp and expf.
const std::set<std::string>& FloatingFunctions() {
  static const std::set<std::string> kNames = {
      "acos",       "acosh",    "asin",      "asinh", "atan",      "atan2",  "atanh",  "cbrt",
      "ceil",       "copysign", "cos",       "cosh",  "cospi",     "erf",    "erfc",   "erfcinv",
      "erfcx",      "erfinv",   "exp",       "exp10", "exp2",      "expm1",  "fabs",   "fdim",
      "floor",      "fma",      "fmax",      "fmin",  "fmod",      "hypot",  "lgamma", "log",
      "log10",      "log1p",    "log2",      "logb",  "nearbyint", "norm3d", "norm4d", "normcdf",
      "normcdfinv", "pow",      "remainder", "rcbrt", "rhypot",    "rint",   "round",  "rsqrt",
      "sin",        "sinh",     "sinpi",     "sqrt",  "tan",       "tanh",   "tgamma", "trunc"};
  return kNames;
}

// Pure, with one meaning whatever the types.
const std::set<std::string>& OtherPureFunctions() {
  static const std::set<std::string> kNames = {"abs",
                                               "llabs",
                                               "labs",
                                               "min",
                                               "max",
                                               "umin",
                                               "umax",
                                               "llmin",
                                               "llmax",
                                               "ullmin",
                                               "ullmax",
                                               "isnan",
                                               "isinf",
                                               "isfinite",
                                               "signbit",
                                               "fdividef",
                                               "saturate",
                                               "__expf",
                                               "__exp10f",
                                               "__logf",
                                               "__log2f",
                                               "__log10f",
                                               "__sinf",
                                               "__cosf",
                                               "__tanf",
                                               "__powf",
                                               "__fdividef",
                                               "__saturatef",
                                               "__fadd_rn",
                                               "__fadd_rz",
                                               "__fsub_rn",
                                               "__fmul_rn",
                                               "__fmul_rz",
                                               "__fmaf_rn",
                                               "__fmaf_rz",
                                               "__fdiv_rn",
                                               "__frcp_rn",
                                               "__fsqrt_rn",
                                               "__frsqrt_rn",
                                               "__dadd_rn",
                                               "__dmul_rn",
                                               "__dsub_rn",
                                               "__fma_rn",
                                               "__ddiv_rn",
                                               "__drcp_rn",
                                               "__dsqrt_rn",
                                               "__popc",
                                               "__popcll",
                                               "__clz",
                                               "__clzll",
                                               "__brev",
                                               "__brevll",
                                               "__ffs",
                                               "__ffsll",
                                               "__byte_perm",
                                               "__mulhi",
                                               "__umulhi",
                                               "__mul64hi",
                                               "__umul64hi",
                                               "__mul24",
                                               "__umul24",
                                               "__sad",
                                               "__usad",
                                               "__hadd",
                                               "__rhadd",
                                               "__uhadd",
                                               "__urhadd",
                                               "__dp4a",
                                               "__dp2a_lo",
                                               "__dp2a_hi",
                                               "__funnelshift_l",
                                               "__funnelshift_r",
                                               "__float2int_rn",
                                               "__float2int_rz",
                                               "__float2int_rd",
                                               "__float2int_ru",
                                               "__float2uint_rn",
                                               "__float2uint_rz",
                                               "__int2float_rn",
                                               "__int2float_rz",
                                               "__uint2float_rn",
                                               "__float2ll_rn",
                                               "__double2int_rn",
                                               "__double2int_rz",
                                               "__double2float_rn",
                                               "__int2double_rn",
                                               "__float_as_int",
                                               "__int_as_float",
                                               "__float_as_uint",
                                               "__uint_as_float",
                                               "__double_as_longlong",
                                               "__longlong_as_double",
                                               "__float2half",
                                               "__float2half_rn",
                                               "__half2float",
                                               "__float2bfloat16",
                                               "__float2bfloat16_rn",
                                               "__bfloat162float",
                                               "__hsub",
                                               "__hmul",
                                               "__hdiv",
                                               "__hfma",
                                               "__hneg",
                                               "__habs",
                                               "__hmax",
                                               "__hmin",
                                               "__heq",
                                               "__hne",
                                               "__hlt",
                                               "__hle",
                                               "__hgt",
                                               "__hge",
                                               "__hisnan",
                                               "hexp",
                                               "hexp2",
                                               "hlog",
                                               "hlog2",
                                               "hsqrt",
                                               "hrsqrt",
                                               "hrcp",
                                               "hsin",
                                               "hcos",
                                               "htanh",
                                               "hceil",
                                               "hfloor",
                                               "__half_as_ushort",
                                               "__ushort_as_half",
                                               "__half_as_short",
                                               "__short_as_half",
                                               "__int2half_rn",
                                               "__half2int_rn",
                                               "__half2int_rz",
                                               "lrintf",
                                               "lroundf",
                                               "llrintf",
                                               "lrint",
                                               "lround"};
  return kNames;
}

}  // namespace

std::optional<std::string> PureFunction(const std::string& name, Scalar type) {
  const bool is_float = type == Scalar::kF32;
  const bool is_double = type == Scalar::kF64;
  if ((name == "max" || name == "min") && (is_float || is_double)) {
    return "f" + name + (is_float ? "f" : "");  // CUDA defines its overloads so
  }
  if (name == "abs" && (is_float || is_double)) {
    return is_float ? "fabsf" : "fabs";
  }
  if (FloatingFunctions().contains(name)) {
    return is_float ? name + "f" : name;
  }
  if (name.size() > 1 && name.back() == 'f' &&
      FloatingFunctions().contains(name.substr(0, name.size() - 1))) {
    return name;
  }
  if (OtherPureFunctions().contains(name)) {
    return name;
  }
  return std::nullopt;
}

std::optional<AtomicFunction> AtomicOf(const std::string& name) {
  static const std::map<std::string, AtomicFunction> kAtomics = {
      {"atomicAdd", {FoldOp::kSum}}, {"atomicSub", {FoldOp::kSum, true}},
      {"atomicMax", {FoldOp::kMax}}, {"atomicMin", {FoldOp::kMin}},
      {"atomicAnd", {FoldOp::kAnd}}, {"atomicOr", {FoldOp::kOr}},
      {"atomicXor", {FoldOp::kXor}}};
  const auto found = kAtomics.find(name);
  return found == kAtomics.end() ? std::nullopt : std::optional(found->second);
}

bool IsHintedLoad(const std::string& name) {
  static const std::set<std::string> kNames = {"__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu"};
  return kNames.contains(name);
}

bool IsHintedStore(const std::string& name) {
  static const std::set<std::string> kNames = {"__stcg", "__stcs", "__stwb", "__stwt"};
  return kNames.contains(name);
}

std::string WhyNotLifted(const std::string& name) {
  const auto starts = [&](const char* prefix) { return name.starts_with(prefix); };
  if (starts("__syncthreads") || starts("__barrier_sync") || starts("__syncwarp")) {
    return fmt::format("{}: kernels with barriers are not lifted", name);
  }
  if (starts("__shfl")) {
    return fmt::format("{}: kernels with warp shuffles are not lifted", name);
  }
  if (starts("__ballot") || starts("__any") || starts("__all") || starts("__activemask") ||
      starts("__match") || starts("__reduce")) {
    return fmt::format("{}: kernels with warp votes are not lifted", name);
  }
  if (starts("__threadfence")) {
    return fmt::format("{}: kernels with memory fences are not lifted", name);
  }
  if (starts("atomic")) {
    return fmt::format("{} is no fold of values, so its order matters", name);
  }
  if (name == "printf" || name == "__assert_fail" || starts("__trap") || name == "assert") {
    return fmt::format("{} has effects beyond the buffers", name);
  }
  return fmt::format("call of {}, whose effects are unknown", name);
}

std::optional<FoldOp> FoldOfFunction(const std::string& name) {
  static const std::map<std::string, FoldOp> kFolds = {
      {"fmaxf", FoldOp::kMax},  {"fmax", FoldOp::kMax},          {"max", FoldOp::kMax},
      {"umax", FoldOp::kMax},   {"llmax", FoldOp::kMax},         {"ullmax", FoldOp::kMax},
      {"__hmax", FoldOp::kMax}, {"fminf", FoldOp::kMin},         {"fmin", FoldOp::kMin},
      {"min", FoldOp::kMin},    {"umin", FoldOp::kMin},          {"llmin", FoldOp::kMin},
      {"ullmin", FoldOp::kMin}, {"__hmin", FoldOp::kMin},        {"__fadd_rn", FoldOp::kSum},
      {"__hadd", FoldOp::kSum}, {"__fmul_rn", FoldOp::kProduct}, {"__hmul", FoldOp::kProduct}};
  const auto found = kFolds.find(name);
  return found == kFolds.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace optiml::rewrite::lifting
