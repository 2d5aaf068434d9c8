// Shadows of registers, and the numbers that go between registers and memory by ways of their own:
// exchanges, atomics, matrix products, calls.

#include "ptx/shadow_values.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "ptx/async_state.h"
#include "ptx/float_shadow.h"
#include "ptx/handlers.h"
#include "ptx/launch_context.h"
#include "ptx/shadow_math.h"

namespace optiml::ptx {
namespace {

constexpr uint32_t kRowShift = 6;  // registers begin at multiples of 64 bytes

size_t RowOf(const Warp& w, Place place) {
  return (size_t{w.frame_offset} + place) >> kRowShift;
}

uint64_t LocalKey(uint32_t lane, uint64_t address) {
  return uint64_t{lane} << 32 | address;
}

uint64_t PartOf(uint64_t bits, uint32_t part, uint32_t bytes) {
  return bytes == 8 ? bits : bits >> (8 * bytes * part) & ((uint64_t{1} << (8 * bytes)) - 1);
}

// What a register of 2, 4 or 8 bytes holds in a lane.
uint64_t RegisterBits(Warp& w, Place place, uint32_t lane, uint32_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, RegisterAt<uint8_t>(w, place) + size_t{lane} * bytes, bytes);
  return bits;
}

// Puts the numbers at an address into the lane's register that holds `bits`.
void PutAll(Warp& w, Place place, uint32_t lane, const ShadowStore& store, uint64_t address,
            uint32_t bytes, uint64_t bits) {
  for (uint32_t at = 0; at < bytes; at += 2) {
    const ShadowValue* value = store.Find(address + at);
    if (value == nullptr) {
      continue;
    }
    const uint32_t size = FormBytes(value->form);
    const uint32_t part = at / size;
    if (at % size == 0 && at + size <= bytes && part < 2 &&
        value->bits == PartOf(bits, part, size)) {
      PutShadow(w, place, lane, part, *value);
    }
  }
}

}  // namespace

int32_t LineOf(const Warp& w, const Op* op) {
  return w.worker->launch->program->instructions[op->instruction].source_line;
}

RegisterShadow* WarpShadow::Find(const Warp& w, Place place) {
  const size_t row = RowOf(w, place);
  return row < registers_.size() ? registers_[row].get() : nullptr;
}

RegisterShadow& WarpShadow::At(const Warp& w, Place place) {
  const size_t row = RowOf(w, place);
  if (row >= registers_.size()) {
    registers_.resize(row + 1);
  }
  if (registers_[row] == nullptr) {
    registers_[row] = std::make_unique<RegisterShadow>();
  }
  return *registers_[row];
}

void WarpShadow::Clear() {
  local.Clear();
  for (const auto& one : registers_) {
    if (one != nullptr) {
      one->live = {};
    }
  }
}

const ShadowValue* ShadowIn(Warp& w, Place place, uint32_t lane, uint32_t part, FloatForm form,
                            uint64_t bits) {
  if ((place & 1) != 0) {
    return nullptr;
  }
  const RegisterShadow* shadow = w.float_shadow->Find(w, place);
  if (shadow == nullptr || ((shadow->live[part] >> lane) & 1) == 0) {
    return nullptr;
  }
  const ShadowValue& value = shadow->values[part][lane];
  return value.form == form && value.bits == bits ? &value : nullptr;
}

void PutShadow(Warp& w, Place place, uint32_t lane, uint32_t part, const ShadowValue& value) {
  RegisterShadow& shadow = w.float_shadow->At(w, place);
  shadow.values[part][lane] = value;
  shadow.live[part] |= 1u << lane;
}

void ForgetShadow(Warp& w, Place place, uint32_t lanes) {
  if (RegisterShadow* shadow = w.float_shadow->Find(w, place)) {
    shadow->live[0] &= ~lanes;
    shadow->live[1] &= ~lanes;
  }
}

ShadowStore* StoreAt(Warp& w, Space space, uint32_t lane, uint64_t& address) {
  if (space == Space::kNone) {
    space = address - kSharedWindow < kWindowBytes  ? Space::kShared
            : address - kLocalWindow < kWindowBytes ? Space::kLocal
                                                    : Space::kGlobal;
    address -= space == Space::kShared ? kSharedWindow : space == Space::kLocal ? kLocalWindow : 0;
  }
  if (space == Space::kLocal) {
    address = LocalKey(lane, address);
    return &w.float_shadow->local;
  }
  if (space == Space::kShared) {
    const auto rank = static_cast<size_t>(address >> kRankShift);
    if (rank == 0) {
      return w.block->float_shadow.get();
    }
    if (w.block->cluster == nullptr || rank > w.block->cluster->blocks.size()) {
      return nullptr;
    }
    address &= (uint64_t{1} << kRankShift) - 1;
    return w.block->cluster->blocks[rank - 1]->float_shadow.get();
  }
  return &w.worker->float_shadow->global();
}

void LoadShadow(Warp& w, Place place, uint32_t lane, const ShadowStore& store, uint64_t address,
                uint32_t bytes) {
  ForgetShadow(w, place, 1u << lane);
  if (bytes >= 2 && !store.empty()) {
    PutAll(w, place, lane, store, address, bytes, RegisterBits(w, place, lane, bytes));
  }
}

void StoreShadow(Warp& w, Place place, uint32_t lane, ShadowStore& store, uint64_t address,
                 uint32_t bytes) {
  store.Forget(address, bytes);
  const RegisterShadow* shadow =
      (place & 1) != 0 || bytes < 2 ? nullptr : w.float_shadow->Find(w, place);
  if (shadow == nullptr || ((shadow->live[0] | shadow->live[1]) >> lane & 1) == 0) {
    return;
  }
  const uint64_t bits = RegisterBits(w, place, lane, bytes);
  for (uint32_t part = 0; part < 2; ++part) {
    const ShadowValue& value = shadow->values[part][lane];
    const uint32_t size = FormBytes(value.form);
    if (((shadow->live[part] >> lane) & 1) != 0 && (part + 1) * size <= bytes &&
        value.bits == PartOf(bits, part, size)) {
      store.Put(address + uint64_t{part} * size, value);
    }
  }
}

void ShadowShuffle(Warp& w, const Op* op, const uint8_t* from) {
  const RegisterShadow* a = (op->a & 1) != 0 ? nullptr : w.float_shadow->Find(w, op->a);
  if (a == nullptr || (a->live[0] | a->live[1]) == 0) {
    ForgetShadow(w, op->d, w.active);
    return;
  }
  const RegisterShadow before = *a;
  ForgetShadow(w, op->d, w.active);
  for (uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    for (uint32_t part = 0; part < 2; ++part) {
      if (((before.live[part] >> from[lane]) & 1) != 0) {
        PutShadow(w, op->d, lane, part, before.values[part][from[lane]]);
      }
    }
  }
}

namespace {

// The sum of what was there and what the lane adds.
ShadowValue AtomicSum(Warp& w, const Op* op, uint32_t lane, uint32_t part, const ShadowValue* old,
                      const ShadowAtomicUpdate& update, bool& exact) {
  const uint32_t size = FormBytes(update.form);
  const uint64_t old_bits = PartOf(update.old_bits, part, size);
  const uint64_t add_bits = PartOf(RegisterBits(w, op->b, lane, update.bytes), part, size);
  const ShadowOperand x{
      FormValue(update.form, old_bits),
      old != nullptr && old->form == update.form && old->bits == old_bits ? old : nullptr};
  const ShadowOperand y{FormValue(update.form, add_bits),
                        ShadowIn(w, op->b, lane, part, update.form, add_bits)};
  ShadowValue value;
  value.form = update.form;
  value.bits = PartOf(update.new_bits, part, size);
  value.shadow = x.exact() + y.exact();
  const double result = FormValue(update.form, value.bits);
  Births births;
  births.Take(x, 1);
  births.Take(y, 1);
  if (update.form != FloatForm::kF64) {
    births.Add(LineOf(w, op), Difference(result, x.value + y.value));
  }
  births.Cancel(LineOf(w, op), std::fmax(std::fabs(x.value), std::fabs(y.value)), result);
  births.Write(value);
  exact = Difference(result, value.shadow) == 0 ||
          (update.form == FloatForm::kF64 && x.shadow == nullptr && y.shadow == nullptr);
  return value;
}

}  // namespace

void ShadowAtomic(Warp& w, const Op* op, uint32_t lane, Space space, uint64_t address,
                  const ShadowAtomicUpdate& update) {
  ShadowStore* store = StoreAt(w, space, lane, address);
  if (store == nullptr) {
    return;
  }
  ShadowStore before;  // the few numbers that were there
  before.CopyFrom(*store, address, 0, update.bytes);
  if (update.form != FloatForm::kNone) {
    for (uint32_t part = 0; part < update.bytes / FormBytes(update.form); ++part) {
      const uint64_t at = uint64_t{part} * FormBytes(update.form);
      bool exact = false;
      const ShadowValue sum = AtomicSum(w, op, lane, part, before.Find(at), update, exact);
      store->Forget(address + at, FormBytes(update.form));
      if (!exact) {
        store->Put(address + at, sum);
      }
    }
  } else if (update.new_bits != update.old_bits) {
    // One of the operands, as it is, or bits without a shadow.
    store->Forget(address, update.bytes);
    for (const Place place : {op->b, op->c}) {
      if (place != 0 && RegisterBits(w, place, lane, update.bytes) == update.new_bits) {
        StoreShadow(w, place, lane, *store, address, update.bytes);
      }
    }
  }
  if (op->d != 0) {
    ForgetShadow(w, op->d, 1u << lane);
    PutAll(w, op->d, lane, before, 0, update.bytes, update.old_bits);
  }
}

void ShadowLocalCopy(Warp& w, uint32_t lane, uint32_t from, uint32_t to, uint32_t bytes) {
  ShadowStore& local = w.float_shadow->local;
  local.CopyFrom(local, LocalKey(lane, from), LocalKey(lane, to), bytes);
}

namespace {

FloatForm MatrixForm(Type type) {
  switch (type) {
    case Type::kF16:
      return FloatForm::kF16;
    case Type::kBf16:
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

// An element of a fragment.
struct Fragment {
  Warp& w;
  const std::vector<Place>& places;
  const FragmentMap& map;
  FloatForm form;
  const uint32_t* words;

  uint64_t Bits(size_t i) const {
    return form == FloatForm::kF64 ? words[2 * i] | uint64_t{words[2 * i + 1]} << 32 : words[i];
  }
  // Lane and part of the number in its register.
  std::pair<uint32_t, uint32_t> At(size_t i) const {
    const uint32_t width = form == FloatForm::kF64 ? 8 : 4;
    return {map[i].byte / width, map[i].byte % width / FormBytes(form)};
  }
  ShadowOperand operator[](size_t i) const {
    const auto [lane, part] = At(i);
    return {FormValue(form, Bits(i)), ShadowIn(w, places[map[i].reg], lane, part, form, Bits(i))};
  }
};

}  // namespace

void ShadowProduct(Warp& w, const Op* op, const MatrixSite& site, const MatrixOperands& operands) {
  const MatrixShape& shape = site.shape;
  const FloatForm form = MatrixForm(shape.d);
  for (const Place place : site.d) {
    if (form == FloatForm::kNone || MatrixForm(shape.a) == FloatForm::kNone) {
      ForgetShadow(w, place, kAllLanes);
    }
  }
  if (form == FloatForm::kNone || MatrixForm(shape.a) == FloatForm::kNone) {
    if (form != FloatForm::kNone) {
      w.worker->float_shadow->NoteUnfollowed(LineOf(w, op));
    }
    return;
  }
  const auto words = [](const void* p) { return static_cast<const uint32_t*>(p); };
  const Fragment a{w, site.a, site.a_map, MatrixForm(shape.a), words(operands.a)};
  const Fragment b{w, site.b, site.b_map, MatrixForm(shape.b), words(operands.b)};
  const Fragment c{w, site.c, site.c_map, MatrixForm(shape.c), words(operands.c)};
  const Fragment d{w, site.d, site.d_map, form, words(operands.d)};
  const int32_t line = LineOf(w, op);
  std::vector<ShadowValue> results(site.d_map.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t column = i / (8 * size_t{shape.m}) * 8 + i % 8;
    const size_t row = i / 8 % shape.m;
    const ShadowOperand start = c[i];
    Births births;
    births.Take(start, 1);
    double own = start.value;
    double exact = start.exact();
    double largest = std::fabs(own);
    for (size_t k = 0; k < shape.k; ++k) {
      const ShadowOperand x = a[row * shape.k + k];
      const ShadowOperand y = b[(column / 8 * shape.k + k) * 8 + column % 8];
      const double sign = shape.negate_a != shape.negate_b ? -1 : 1;
      own += sign * x.value * y.value;
      exact += sign * x.exact() * y.exact();
      largest = std::fmax(largest, std::fabs(x.value * y.value));
      births.Take(x, sign * y.value);
      births.Take(y, sign * x.value);
    }
    ShadowValue& value = results[i];
    value.bits = d.Bits(i);
    value.form = form;
    value.shadow = exact;
    const double result = FormValue(form, value.bits);
    if (form != FloatForm::kF64) {
      births.Add(line, Difference(result, own));
    }
    births.Cancel(line, largest, result);
    births.Write(value);
    if (Difference(result, exact) == 0) {
      value.form = FloatForm::kNone;
    }
  }
  for (const Place place : site.d) {
    ForgetShadow(w, place, kAllLanes);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].form != FloatForm::kNone) {
      const auto [lane, part] = d.At(i);
      PutShadow(w, site.d[site.d_map[i].reg], lane, part, results[i]);
    }
  }
}

}  // namespace optiml::ptx
