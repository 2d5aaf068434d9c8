#ifndef OPTIML_PTX_SHADOW_SITES_H_
#define OPTIML_PTX_SHADOW_SITES_H_

// What the shadows of float_shadow.h need to know of an Op: made while a program is decoded for a
// launch with shadows, by index of the Op. Internal to ptx/.

#include <cstdint>

#include "ptx/module.h"

namespace optiml::ptx {

struct Op;
struct Warp;
struct AluRequest;
struct MemoryRequest;
enum class AluOp : uint8_t;

// How a number is held in registers and memory.
enum class FloatForm : uint8_t { kNone, kF16, kBf16, kF32, kF64 };

enum class ShadowKind : uint8_t {
  kNone,     // nothing here touches a shadow
  kForget,   // the results have none
  kMath,     // a result computed from numbers: operation
  kConvert,  // one number in another format; two into a pair
  kMove,     // bits go on as they are
  kSelect,   // selp
  kChoose,   // slct
  kPack,
  kUnpack,
  kLoad,
  kStore
};

struct ShadowSite {
  const Op* (*run)(Warp&, const Op*) = nullptr;  // what the Op does besides
  ShadowKind kind = ShadowKind::kNone;
  AluOp operation{};
  FloatForm form = FloatForm::kNone;         // of the result
  FloatForm source_form = FloatForm::kNone;  // of the sources
  Space space = Space::kNone;
  uint8_t parts = 1;         // numbers in a register: 2 in packed pairs
  uint8_t bytes = 4;         // of a register, or of an element in memory
  uint8_t source_bytes = 4;  // moves between registers of unequal width; pieces of pack and unpack
  uint8_t vector = 1;
  bool sat = false;
  bool relu = false;
  bool wide_address = true;
  bool counts_lost = false;  // floats come out that are not followed: the report says so
};

ShadowSite ShadowSiteOf(const AluRequest& request);
ShadowSite ShadowSiteOf(const MemoryRequest& request);

// Runs the Op and follows its values. The handler of every Op whose kind is not kNone.
const Op* RunShadowed(Warp& w, const Op* op);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_SHADOW_SITES_H_
