#include "ptx/opcode.h"

#include <algorithm>
#include <array>

namespace optiml::ptx {
namespace {

struct CompareName {
  std::string_view name;
  Compare compare;
};
constexpr std::array<CompareName, 18> kCompares{{
    {"eq", Compare::kEq},
    {"ne", Compare::kNe},
    {"lt", Compare::kLt},
    {"le", Compare::kLe},
    {"gt", Compare::kGt},
    {"ge", Compare::kGe},
    {"equ", Compare::kEqu},
    {"neu", Compare::kNeu},
    {"ltu", Compare::kLtu},
    {"leu", Compare::kLeu},
    {"gtu", Compare::kGtu},
    {"geu", Compare::kGeu},
    {"num", Compare::kNum},
    {"nan", Compare::kNan},
    {"lo", Compare::kLo},
    {"ls", Compare::kLs},
    {"hi", Compare::kHi},
    {"hs", Compare::kHs},
}};

Rounding ParseRounding(std::string_view word) {
  return word == "rn"    ? Rounding::kNearest
         : word == "rz"  ? Rounding::kZero
         : word == "rm"  ? Rounding::kDown
         : word == "rp"  ? Rounding::kUp
         : word == "rni" ? Rounding::kIntNearest
         : word == "rzi" ? Rounding::kIntZero
         : word == "rmi" ? Rounding::kIntDown
         : word == "rpi" ? Rounding::kIntUp
         : word == "rna" ? Rounding::kNearestAway
                         : Rounding::kNone;
}

bool Among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool Opcode::Has(std::string_view word) const {
  return std::find(others.begin(), others.end(), word) != others.end();
}

std::optional<Compare> ParseCompare(std::string_view word) {
  for (const CompareName& entry : kCompares) {
    if (entry.name == word) {
      return entry.compare;
    }
  }
  return std::nullopt;
}

Opcode ParseOpcode(std::string_view text) {
  Opcode opcode;
  size_t at = text.find('.');
  opcode.base = text.substr(0, at);
  while (at != std::string_view::npos) {
    const size_t next = text.find('.', at + 1);
    const std::string_view word =
        text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    at = next;
    if (const Type type = ParseType(word); type != Type::kNone) {
      opcode.types.push_back(type);
    } else if (const Rounding rounding = ParseRounding(word); rounding != Rounding::kNone) {
      opcode.rounding = rounding;
    } else if (word == "ftz") {
      opcode.ftz = true;
    } else if (word == "sat") {
      opcode.sat = true;
    } else if (word == "satfinite") {
      opcode.satfinite = true;
    } else if (word == "approx" || word == "full") {
      opcode.approximate = true;
      opcode.full_range = word == "full";
    } else if (word == "relu") {
      opcode.relu = true;
    } else {
      opcode.others.push_back(word);
    }
  }
  return opcode;
}

Space SpaceOf(const Opcode& opcode) {
  for (const std::string_view word : opcode.others) {
    if (word == "global") {
      return Space::kGlobal;
    }
    if (word == "shared" || word == "shared::cta" || word == "shared::cluster") {
      return Space::kShared;
    }
    if (word == "local") {
      return Space::kLocal;
    }
    if (word == "const") {
      return Space::kConst;
    }
    if (word.starts_with("param")) {
      return Space::kParam;
    }
  }
  return Space::kNone;
}

bool IsFloatType(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBf16 ||
         type == Type::kBf16x2 || type == Type::kF32 || type == Type::kF64;
}

InstructionClass ClassOf(const Opcode& opcode, Space space) {
  using C = InstructionClass;
  const std::string_view base = opcode.base;
  const Type type = opcode.type();
  if (base == "cp") {
    // Copies; the first space is the destination's.
    return opcode.Has("commit_group") || opcode.Has("wait_group") || opcode.Has("wait_all") ||
                   opcode.Has("mbarrier")
               ? C::kControl
           : space == Space::kGlobal ? C::kStoreGlobal
                                     : C::kLoadGlobal;
  }
  if (base == "ld" || base == "ldu") {
    return space == Space::kShared  ? C::kLoadShared
           : space == Space::kLocal ? C::kLoadLocal
           : space == Space::kConst ? C::kLoadConst
           : space == Space::kParam ? C::kMove
                                    : C::kLoadGlobal;
  }
  if (base == "st") {
    return space == Space::kShared  ? C::kStoreShared
           : space == Space::kLocal ? C::kStoreLocal
           : space == Space::kParam ? C::kMove
                                    : C::kStoreGlobal;
  }
  if (base == "atom" || base == "red") {
    return space == Space::kShared ? C::kAtomicShared : C::kAtomicGlobal;
  }
  if (Among(base, {"mov", "cvta", "isspacep"})) {
    return C::kMove;
  }
  if (base == "cvt") {
    return C::kConversion;
  }
  if (Among(base,
            {"bra",         "brx",       "ret",           "exit",           "call",     "trap",
             "brkpt",       "bar",       "barrier",       "membar",         "fence",    "nanosleep",
             "prefetch",    "prefetchu", "setmaxnreg",    "griddepcontrol", "mbarrier", "mapa",
             "getctarank",  "discard",   "applypriority", "createpolicy",   "alloca",   "stacksave",
             "stackrestore"})) {
    return C::kControl;
  }
  if (Among(base, {"shfl", "vote", "match", "redux", "activemask", "elect", "movmatrix"})) {
    return C::kWarp;
  }
  if (Among(base, {"mma", "wgmma"}) || (base == "wmma" && opcode.Has("mma"))) {
    return C::kMatrix;
  }
  if (base == "wmma") {
    return opcode.Has("store") ? (space == Space::kShared ? C::kStoreShared : C::kStoreGlobal)
                               : (space == Space::kShared ? C::kLoadShared : C::kLoadGlobal);
  }
  if (Among(base, {"tex", "tld4", "suld"})) {
    return C::kLoadGlobal;
  }
  if (base == "sust") {
    return C::kStoreGlobal;
  }
  if (base == "ldmatrix") {
    return C::kLoadShared;
  }
  if (base == "stmatrix") {
    return C::kStoreShared;
  }
  if (Among(base, {"ex2", "lg2", "sin", "cos", "tanh", "rsqrt"})) {
    return C::kSpecialFunction;
  }
  if (base == "rcp" || base == "sqrt") {
    return opcode.approximate   ? C::kSpecialFunction
           : type != Type::kF32 ? C::kDivision
           : base == "rcp"      ? C::kFp32Reciprocal
                                : C::kFp32Root;
  }
  if (base == "div" || base == "rem") {
    return type != Type::kF32 || opcode.approximate ? C::kDivision : C::kFp32Division;
  }
  if (type == Type::kF64) {
    return C::kFp64;
  }
  if (type == Type::kF16 || type == Type::kBf16 || type == Type::kF16x2 || type == Type::kBf16x2) {
    return C::kFp16;
  }
  if (type == Type::kF32) {
    return base == "fma" || base == "mad"   ? C::kFp32Fma
           : base == "mul"                  ? C::kFp32Mul
           : base == "selp"                 ? C::kInteger
           : base == "add" || base == "sub" ? C::kFp32Add
                                            : C::kFp32Other;
  }
  if (type == Type::kU64 || type == Type::kS64 || type == Type::kB64) {
    return C::kInteger64;
  }
  return C::kInteger;
}

}  // namespace optiml::ptx
