// Which shadows an Op touches, from what it was decoded from.

#include "ptx/shadow_sites.h"

#include "ptx/alu.h"
#include "ptx/shadow_math.h"

namespace optiml::ptx {
namespace {

FloatForm FormOf(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
      return FloatForm::kF16;
    case Type::kBf16:
    case Type::kBf16x2:
      return FloatForm::kBf16;
    case Type::kF32:
    case Type::kTf32:
      return FloatForm::kF32;
    case Type::kF64:
      return FloatForm::kF64;
    default:
      return FloatForm::kNone;
  }
}

bool IsPair(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2;
}

bool IsNarrowFloat(Type type) {
  return type == Type::kE4m3x2 || type == Type::kE5m2x2 || type == Type::kE4m3 ||
         type == Type::kE5m2;
}

// Rounds to find an integer or an end of an interval: the result is a decision.
bool RoundsOnPurpose(Rounding rounding) {
  return rounding != Rounding::kNone && rounding != Rounding::kNearest &&
         rounding != Rounding::kNearestAway;
}

ShadowSite ConversionSite(const AluRequest& r, ShadowSite site) {
  site.form = FormOf(r.type);
  site.source_form = FormOf(r.source_type);
  site.parts = IsPair(r.type) ? 2 : 1;
  // Directed rounding from one format into another is rounding; integral modes are decisions.
  const bool integral = r.rounding == Rounding::kIntNearest || r.rounding == Rounding::kIntZero ||
                        r.rounding == Rounding::kIntDown || r.rounding == Rounding::kIntUp;
  const bool followed = site.form != FloatForm::kNone && site.source_form != FloatForm::kNone &&
                        !integral && !IsPair(r.source_type);
  site.kind = followed ? ShadowKind::kConvert : ShadowKind::kForget;
  site.counts_lost = IsNarrowFloat(r.type);
  return site;
}

}  // namespace

ShadowSite ShadowSiteOf(const AluRequest& r) {
  ShadowSite site;
  site.kind = ShadowKind::kForget;
  site.operation = r.op;
  site.sat = r.sat;
  site.relu = r.relu;
  site.bytes = static_cast<uint8_t>(TypeBytes(r.type));
  switch (r.op) {
    case AluOp::kSetp:
    case AluOp::kTestp:
    case AluOp::kPredAnd:
    case AluOp::kPredOr:
    case AluOp::kPredXor:
    case AluOp::kPredNot:
    case AluOp::kPredMov:
      site.kind = ShadowKind::kNone;
      return site;
    case AluOp::kMov:
      site.kind = ShadowKind::kMove;
      site.source_bytes = site.bytes;
      return site;
    case AluOp::kSelp:
      site.kind = ShadowKind::kSelect;
      return site;
    case AluOp::kSlct:
      site.kind = ShadowKind::kChoose;
      return site;
    case AluOp::kNarrow:
    case AluOp::kExtend:
      site.kind = ShadowKind::kMove;
      site.bytes = static_cast<uint8_t>(r.to_bytes);
      site.source_bytes = static_cast<uint8_t>(r.from_bytes);
      return site;
    case AluOp::kPack:
    case AluOp::kUnpack:
      site.kind = r.op == AluOp::kPack ? ShadowKind::kPack : ShadowKind::kUnpack;
      site.bytes = static_cast<uint8_t>(r.to_bytes);
      site.source_bytes = static_cast<uint8_t>(r.from_bytes);
      return site;
    case AluOp::kCvt:
      return ConversionSite(r, site);
    default:
      break;
  }
  site.form = FormOf(r.type);
  site.source_form = site.form;
  site.parts = IsPair(r.type) ? 2 : 1;
  if (site.form != FloatForm::kNone && HasShadow(r.op) && !RoundsOnPurpose(r.rounding) &&
      !r.xorsign_abs) {
    site.kind = ShadowKind::kMath;
  }
  return site;
}

ShadowSite ShadowSiteOf(const MemoryRequest& r) {
  ShadowSite site;
  site.kind = r.store ? ShadowKind::kStore : ShadowKind::kLoad;
  site.space = r.space;
  site.bytes = static_cast<uint8_t>(r.bytes);
  site.vector = static_cast<uint8_t>(r.vector);
  site.wide_address = r.wide_address;
  return site;
}

}  // namespace optiml::ptx
