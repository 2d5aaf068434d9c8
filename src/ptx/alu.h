#ifndef OPTIML_PTX_ALU_H_
#define OPTIML_PTX_ALU_H_

// The arithmetic handlers by operation, type and modifiers. The same sources (ops_*.cpp) are
// compiled once for every instruction set of the host that pays (OPTIML_PTX_ISA); HandlersOfHost
// picks the best one that this machine has.
//
// Internal to ptx/.

#include <cstdint>

#include "ptx/matrix.h"
#include "ptx/module.h"
#include "ptx/program.h"

namespace optiml::ptx {

enum class AluOp : uint8_t {
  kMov,
  kAdd,
  kSub,
  kMulLo,
  kMulHi,
  kMulWide,
  kMadLo,
  kMadHi,
  kMadWide,
  kMul24,
  kMad24,
  kFma,
  kDiv,
  kRem,
  kMin,
  kMax,
  kMin3,
  kMax3,
  kNeg,
  kAbs,
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kShl,
  kShr,
  kBfe,
  kBfi,
  kBfind,
  kBfindShift,
  kBrev,
  kClz,
  kPopc,
  kPrmt,
  kShfLeft,
  kShfRight,
  kLop3,
  kBmsk,
  kFns,
  kSad,
  kDp4a,
  kDp2aLo,
  kDp2aHi,
  kSetp,
  kSet,
  kSelp,
  kSlct,
  kCvt,
  kCvtPack,
  kSqrt,
  kRcp,
  kRsqrt,
  kEx2,
  kLg2,
  kSin,
  kCos,
  kTanh,
  kCopysign,
  kTestp,
  kAddc,
  kSubc,
  kMadc,
  kExtend,
  kNarrow,
  kPredAnd,
  kPredOr,
  kPredXor,
  kPredNot,
  kPredMov,
  kPack,
  kUnpack,
  kSzext
};

enum class Rounding : uint8_t {
  kNone,
  kNearest,
  kZero,
  kDown,
  kUp,
  kIntNearest,
  kIntZero,
  kIntDown,
  kIntUp,
  kNearestAway
};

enum class Compare : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
  kLo,
  kLs,
  kHi,
  kHs
};

enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };

enum class TestKind : uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

struct AluRequest {
  AluOp op = AluOp::kMov;
  Type type = Type::kNone;         // of the operation; kCvt, kSet: of the result
  Type source_type = Type::kNone;  // kCvt, kSet, kSlct: of the source
  Rounding rounding = Rounding::kNone;
  Compare compare = Compare::kEq;
  TestKind test = TestKind::kFinite;
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;
  bool relu = false;
  bool nan = false;  // min.NaN, max.NaN
  bool xorsign_abs = false;
  bool approximate = false;
  bool clamp = false;  // shf.clamp, bmsk.clamp; else wrap
  bool carry_in = false;
  bool carry_out = false;
  bool high = false;        // madc.hi
  uint32_t from_bytes = 0;  // kExtend, kNarrow, kPack, kUnpack: element widths
  uint32_t to_bytes = 0;
  bool is_signed = false;  // kExtend
};

// Operand places by operation: d result; a, b, c sources; setp: d2 second result, c combining
// predicate, aux BoolOp | 8 if the predicate is negated; lop3 and prmt: aux the table or mode;
// pack: sources a b c e, unpack: results d d2 b c.
//
// A load or store of `bytes` x `vector` from `space`; results d d2 b c, sources b c d d2, address
// a. kNone space: generic.
struct MemoryRequest {
  Space space = Space::kGlobal;
  bool store = false;
  uint32_t bytes = 4;  // of one element
  uint32_t vector = 1;
  bool wide_address = true;  // 64-bit address register; else 32-bit (shared)
};

// Null when there is no such handler.
struct HandlerTable {
  const char* name;  // "x86-64-v3"
  Handler (*alu)(const AluRequest&);
  Handler (*floating)(const AluRequest&);
  Handler (*convert)(const AluRequest&);
  Handler (*memory)(const MemoryRequest&);
  MatrixKernel (*matrix)(const MatrixShape&);
};

const HandlerTable& HandlersOfHost();
// For tests: decode with this table from now on; null: the host's best again. Not thread safe.
void UseHandlersForTest(const HandlerTable* table);
// For tests: every table that this machine can run, the plainest first.
const HandlerTable* const* AllHandlers(size_t& count);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ALU_H_
