// Handlers of launches with shadows: each runs the Op as it is, then follows its numbers. Sources
// are read before, since the Op may overwrite them; their shadows are looked at after, lane by
// lane, before the result's takes their place.

#include <bit>
#include <cmath>
#include <cstring>

#include "ptx/access.h"
#include "ptx/float_shadow.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/shadow_math.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

uint64_t BitsIn(Warp& w, Place place, uint32_t lane, uint32_t part, FloatForm form, bool pair) {
  const uint32_t bytes = FormBytes(form);
  uint64_t bits = 0;
  std::memcpy(&bits, RegisterAt<uint8_t>(w, place) + lane * bytes * (pair ? 2 : 1) + part * bytes,
              bytes);
  return bits;
}

// The operands of an Op as they were before it ran.
struct Sources {
  uint64_t bits[3][2][kLanes];

  void Read(Warp& w, const Op* op, const ShadowSite& site, uint32_t count, bool pair) {
    const Place places[3] = {op->a, op->b, op->c};
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t part = 0; part < (pair ? 2u : 1u); ++part) {
        for (uint32_t m = w.active; m != 0; m &= m - 1) {
          const auto lane = static_cast<uint32_t>(std::countr_zero(m));
          bits[i][part][lane] = BitsIn(w, places[i], lane, part, site.source_form, pair);
        }
      }
    }
  }

  ShadowOperand Operand(Warp& w, const Op* op, const ShadowSite& site, uint32_t i, uint32_t part,
                        uint32_t lane) const {
    const Place places[3] = {op->a, op->b, op->c};
    const uint64_t own = bits[i][part][lane];
    return {FormValue(site.source_form, own),
            ShadowIn(w, places[i], lane, part, site.source_form, own)};
  }
};

uint32_t OperandCount(AluOp operation) {
  switch (operation) {
    case AluOp::kFma:
      return 3;
    case AluOp::kAdd:
    case AluOp::kSub:
    case AluOp::kMulLo:
    case AluOp::kDiv:
    case AluOp::kMin:
    case AluOp::kMax:
    case AluOp::kCopysign:
      return 2;
    default:
      return 1;
  }
}

// 1.5 * 2^23 and a little, or 1.5 * 2^52: a number that is added so that the sum rounds to an
// integer, which is then in its last bits.
bool IsRounder(FloatForm form, double x) {
  const double magnitude = std::fabs(x);
  return form == FloatForm::kF32 ? magnitude >= 0x1.8p23 && magnitude < 0x1.8p23 + 256
                                 : form == FloatForm::kF64 && magnitude == 0x1.8p52;
}

bool RoundsToInteger(AluOp operation, FloatForm form, const ShadowOperand (&x)[3]) {
  if (operation == AluOp::kFma) {
    return x[2].shadow == nullptr && IsRounder(form, x[2].value);
  }
  if (operation != AluOp::kAdd && operation != AluOp::kSub) {
    return false;
  }
  return (x[0].shadow == nullptr && IsRounder(form, x[0].value)) ||
         (x[1].shadow == nullptr && IsRounder(form, x[1].value));
}

double Clamped(const ShadowSite& site, double x) {
  if (site.sat) {
    return x > 0 ? std::fmin(x, 1) : 0;
  }
  return site.relu && x < 0 ? 0 : x;
}

double LargestTerm(AluOp operation, const double (&x)[3]) {
  switch (operation) {
    case AluOp::kAdd:
    case AluOp::kSub:
      return std::fmax(std::fabs(x[0]), std::fabs(x[1]));
    case AluOp::kFma:
      return std::fmax(std::fabs(x[0] * x[1]), std::fabs(x[2]));
    default:
      return 0;
  }
}

// Writes the shadow of one result, or ends what was there.
void Settle(Warp& w, Place d, uint32_t lane, uint32_t part, bool pair, ShadowValue& value,
            const Births& births) {
  if (RegisterShadow* shadow = w.float_shadow->Find(w, d)) {
    shadow->live[part] &= ~(1u << lane);
    shadow->live[1] &= pair ? ~0u : ~(1u << lane);
  }
  if (Difference(FormValue(value.form, value.bits), value.shadow) != 0) {
    births.Write(value);
    PutShadow(w, d, lane, part, value);
  }
}

// One number computed from others.
void FollowMath(Warp& w, const Op* op, const ShadowSite& site, const Sources& sources,
                uint32_t count, uint32_t part, uint32_t lane) {
  ShadowOperand operands[3];
  double own[3] = {};
  double exact[3] = {};
  bool shadowed = false;
  for (uint32_t i = 0; i < count; ++i) {
    operands[i] = sources.Operand(w, op, site, i, part, lane);
    own[i] = operands[i].value;
    exact[i] = operands[i].exact();
    shadowed = shadowed || operands[i].shadow != nullptr;
  }
  const bool pair = site.parts == 2;
  ShadowValue value;
  value.form = site.form;
  value.bits = BitsIn(w, op->d, lane, part, site.form, pair);
  const double result = FormValue(site.form, value.bits);
  const double raw = Evaluate(site.operation, own);
  Births births;
  value.shadow = result;
  // Numbers of f64 are as exact as shadows are: only what comes in goes on.
  if ((shadowed || site.form != FloatForm::kF64) &&
      !RoundsToInteger(site.operation, site.form, operands)) {
    const double clamped = Clamped(site, raw);
    value.shadow = shadowed ? Clamped(site, Evaluate(site.operation, exact)) : clamped;
    double gains[3];
    Derivatives(site.operation, own, raw, gains);
    for (uint32_t i = 0; i < count && clamped == raw; ++i) {
      births.Take(operands[i], gains[i]);
    }
    const int32_t line = LineOf(w, op);
    if (site.form != FloatForm::kF64) {
      births.Add(line, Difference(result, clamped));
    }
    births.Cancel(line, LargestTerm(site.operation, own), result);
  }
  Settle(w, op->d, lane, part, pair, value, births);
}

const Op* RunMath(Warp& w, const Op* op, const ShadowSite& site) {
  const uint32_t count = OperandCount(site.operation);
  Sources sources;
  sources.Read(w, op, site, count, site.parts == 2);
  const Op* next = site.run(w, op);
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    for (uint32_t part = 0; part < site.parts; ++part) {
      FollowMath(w, op, site, sources, count, part, static_cast<uint32_t>(std::countr_zero(m)));
    }
  }
  return next;
}

// A pair's lower half is made of the last operand.
const Op* RunConvert(Warp& w, const Op* op, const ShadowSite& site) {
  Sources sources;
  sources.Read(w, op, site, site.parts, false);
  const Op* next = site.run(w, op);
  const bool pair = site.parts == 2;
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    ShadowOperand operands[2];
    ShadowValue kept[2];  // the first result may take a source's place
    for (uint32_t i = 0; i < site.parts; ++i) {
      operands[i] = sources.Operand(w, op, site, i, 0, lane);
      if (operands[i].shadow != nullptr) {
        kept[i] = *operands[i].shadow;
        operands[i].shadow = &kept[i];
      }
    }
    for (uint32_t part = 0; part < site.parts; ++part) {
      const ShadowOperand& operand = operands[site.parts - 1u - part];
      ShadowValue value;
      value.form = site.form;
      value.bits = BitsIn(w, op->d, lane, part, site.form, pair);
      value.shadow = Clamped(site, operand.exact());
      const double clamped = Clamped(site, operand.value);
      Births births;
      if (clamped == operand.value) {
        births.Take(operand, 1);
      }
      births.Add(LineOf(w, op), Difference(FormValue(site.form, value.bits), clamped));
      Settle(w, op->d, lane, part, pair, value, births);
    }
  }
  return next;
}

// What a lane's register holds in shadows, taken out so that it can be put elsewhere.
struct Content {
  ShadowValue values[2];
  bool live[2] = {};
};

Content Take(Warp& w, Place place, uint32_t lane) {
  Content content;
  const RegisterShadow* shadow = (place & 1) != 0 ? nullptr : w.float_shadow->Find(w, place);
  for (uint32_t part = 0; part < 2 && shadow != nullptr; ++part) {
    content.live[part] = ((shadow->live[part] >> lane) & 1) != 0;
    if (content.live[part]) {
      content.values[part] = shadow->values[part][lane];
    }
  }
  return content;
}

// The numbers of `content` that lie in `bytes` from byte `first` on; they begin at part 0.
void Give(Warp& w, Place place, uint32_t lane, const Content& content, uint32_t first,
          uint32_t bytes, uint32_t to = 0) {
  for (uint32_t part = 0; part < 2; ++part) {
    if (!content.live[part]) {
      continue;
    }
    const uint32_t size = FormBytes(content.values[part].form);
    const uint32_t begin = part * size;
    if (begin >= first && begin + size <= first + bytes) {
      const uint32_t target = (begin - first + to) / size;
      if (target < 2) {
        PutShadow(w, place, lane, target, content.values[part]);
      }
    }
  }
}

void MoveLane(Warp& w, Place from, Place to, uint32_t lane, uint32_t bytes) {
  if (from == to) {
    return;
  }
  const Content content = Take(w, from, lane);
  ForgetShadow(w, to, 1u << lane);
  Give(w, to, lane, content, 0, bytes);
}

const Op* RunMove(Warp& w, const Op* op, const ShadowSite& site) {
  const Op* next = site.run(w, op);
  const uint32_t bytes = std::min(site.bytes, site.source_bytes);
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    MoveLane(w, op->a, op->d, static_cast<uint32_t>(std::countr_zero(m)), bytes);
  }
  return next;
}

// The chosen operand is the one of which the predicate, or the third operand's sign, says so.
const Op* RunSelect(Warp& w, const Op* op, const ShadowSite& site) {
  uint32_t first = 0;
  if (site.kind == ShadowKind::kSelect) {
    const uint32_t predicate = *RegisterAt<uint32_t>(w, op->c);
    first = (op->aux & 1) != 0 ? ~predicate : predicate;
  } else {
    const uint32_t* c = RegisterAt<uint32_t>(w, op->c);
    for (uint32_t l = 0; l < kLanes; ++l) {
      first |= (c[l] >> 31) == 0 || c[l] == 0x80000000u ? 1u << l : 0u;
    }
  }
  const Op* next = site.run(w, op);
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    MoveLane(w, ((first >> lane) & 1) != 0 ? op->a : op->b, op->d, lane, site.bytes);
  }
  return next;
}

const Op* RunPack(Warp& w, const Op* op, const ShadowSite& site) {
  const Op* next = site.run(w, op);
  const Place sources[4] = {op->a, op->b, op->c, op->e};
  const uint32_t pieces = site.bytes / site.source_bytes;
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    Content contents[4];
    for (uint32_t i = 0; i < pieces; ++i) {
      contents[i] = Take(w, sources[i], lane);
    }
    ForgetShadow(w, op->d, 1u << lane);
    for (uint32_t i = 0; i < pieces; ++i) {
      Give(w, op->d, lane, contents[i], 0, site.source_bytes, i * site.source_bytes);
    }
  }
  return next;
}

const Op* RunUnpack(Warp& w, const Op* op, const ShadowSite& site) {
  const Op* next = site.run(w, op);
  const Place results[4] = {op->d, op->d2, op->b, op->c};
  const uint32_t pieces = site.source_bytes / site.bytes;
  for (uint32_t m = w.active; m != 0 && next != nullptr; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Content content = Take(w, op->a, lane);
    for (uint32_t i = 0; i < pieces; ++i) {
      if (results[i] != 0) {
        ForgetShadow(w, results[i], 1u << lane);
        Give(w, results[i], lane, content, i * site.bytes, site.bytes);
      }
    }
  }
  return next;
}

void ReadAddresses(Warp& w, const Op* op, const ShadowSite& site, uint64_t* addresses) {
  const uint64_t* wide = RegisterAt<uint64_t>(w, op->a);
  const uint32_t* narrow = RegisterAt<uint32_t>(w, op->a);
  const bool frame = site.space == Space::kLocal && (op->aux & 2) != 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint64_t address = site.wide_address
                                 ? wide[l] + static_cast<uint64_t>(op->offset)
                                 : uint64_t{narrow[l] + static_cast<uint32_t>(op->offset)};
    addresses[l] = address + (frame ? w.local_base : 0);
  }
}

const Op* RunAccess(Warp& w, const Op* op, const ShadowSite& site) {
  uint64_t addresses[kLanes];
  ReadAddresses(w, op, site, addresses);
  const uint32_t active = w.active;
  const Op* next = site.run(w, op);
  const bool store = site.kind == ShadowKind::kStore;
  const Place values[4] = {store ? op->b : op->d, store ? op->c : op->d2, store ? op->d : op->b,
                           store ? op->d2 : op->c};
  for (uint32_t m = active; m != 0 && next != nullptr; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    uint64_t address = addresses[lane];
    ShadowStore* where = StoreAt(w, site.space, lane, address);
    if (where == nullptr) {
      continue;
    }
    for (uint32_t v = 0; v < site.vector; ++v) {
      const uint64_t at = address + uint64_t{v} * site.bytes;
      if (store) {
        StoreShadow(w, values[v], lane, *where, at, site.bytes);
      } else {
        LoadShadow(w, values[v], lane, *where, at, site.bytes);
      }
    }
  }
  return next;
}

const Op* RunForget(Warp& w, const Op* op, const ShadowSite& site) {
  const Op* next = site.run(w, op);
  if (next != nullptr) {
    ForgetShadow(w, op->d, w.active);
    if (site.counts_lost) {
      w.worker->float_shadow->NoteUnfollowed(LineOf(w, op));
    }
  }
  return next;
}

}  // namespace

const Op* RunShadowed(Warp& w, const Op* op) {
  const Program& program = *w.worker->launch->program;
  const ShadowSite& site = program.shadow_sites[static_cast<size_t>(op - program.ops.data())];
  switch (site.kind) {
    case ShadowKind::kMath:
      return RunMath(w, op, site);
    case ShadowKind::kConvert:
      return RunConvert(w, op, site);
    case ShadowKind::kMove:
      return RunMove(w, op, site);
    case ShadowKind::kSelect:
    case ShadowKind::kChoose:
      return RunSelect(w, op, site);
    case ShadowKind::kPack:
      return RunPack(w, op, site);
    case ShadowKind::kUnpack:
      return RunUnpack(w, op, site);
    case ShadowKind::kLoad:
    case ShadowKind::kStore:
      return RunAccess(w, op, site);
    case ShadowKind::kForget:
      return RunForget(w, op, site);
    case ShadowKind::kNone:
      break;
  }
  return site.run(w, op);
}

}  // namespace optiml::ptx
