#ifndef OPTIML_PTX_SHADOW_VALUES_H_
#define OPTIML_PTX_SHADOW_VALUES_H_

// The shadows of float_shadow.h as they are kept: by address (ShadowStore) and by register and lane
// (WarpShadow). Internal to ptx/.

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/shadow_sites.h"
#include "ptx/warp.h"

namespace optiml::ptx {

uint32_t FormBytes(FloatForm form);
double FormValue(FloatForm form, uint64_t bits);

struct ErrorPart {
  int32_t line = 0;
  float amount = 0;
};

struct ShadowValue {
  double shadow = 0;
  uint64_t bits = 0;  // of the value that it belongs to
  std::array<ErrorPart, 3> parts{};
  int32_t cancelled_line = 0;
  uint16_t cancelled_bits = 0;
  FloatForm form = FloatForm::kNone;  // kNone: no shadow

  double Error() const { return FormValue(form, bits) - shadow; }
};

// By address. Only pages with a shadow in them take room: 12 times that of their numbers.
class ShadowStore {
 public:
  // The number that begins at the address, or null. Callers compare its bits.
  const ShadowValue* Find(uint64_t address) const;
  void Put(uint64_t address, const ShadowValue& value);
  void Forget(uint64_t address, uint64_t bytes);
  // REQUIRES: both addresses are multiples of 2
  void CopyFrom(const ShadowStore& from, uint64_t source, uint64_t destination, uint64_t bytes);
  void Clear() { pages_.clear(); }
  bool empty() const { return pages_.empty(); }
  uint64_t bytes_used() const;

 private:
  static constexpr uint64_t kPageBytes = 1024;
  using Slots = std::array<ShadowValue, kPageBytes / 4>;
  struct Page {
    Slots even;                  // numbers at multiples of four
    std::unique_ptr<Slots> odd;  // halves between them
  };

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

// A register's numbers, by part (halves of a pair, floats of a 64-bit register) and lane.
struct RegisterShadow {
  std::array<uint32_t, 2> live{};  // lanes
  std::array<std::array<ShadowValue, kLanes>, 2> values;
};

struct WarpShadow {
  ShadowStore local;  // lane in the upper half of the address

  // Null: the register has no shadows. `place` is of the running frame, and no constant's.
  RegisterShadow* Find(const Warp& w, Place place);
  RegisterShadow& At(const Warp& w, Place place);
  void Clear();  // as at the start of a block

 private:
  std::vector<std::unique_ptr<RegisterShadow>> registers_;  // by their place in 64 bytes
};

// The source line of an operation; 0: unknown.
int32_t LineOf(const Warp& w, const Op* op);

// The shadow of a number in a register, or null; `bits` is what the register holds.
const ShadowValue* ShadowIn(Warp& w, Place place, uint32_t lane, uint32_t part, FloatForm form,
                            uint64_t bits);
void PutShadow(Warp& w, Place place, uint32_t lane, uint32_t part, const ShadowValue& value);
void ForgetShadow(Warp& w, Place place, uint32_t lanes);

// What an address of a warp's access means.
ShadowStore* StoreAt(Warp& w, Space space, uint32_t lane, uint64_t& address);

// Numbers between a register of `bytes` and memory; loads look only at shadows of the bits that the
// register holds now.
void LoadShadow(Warp& w, Place place, uint32_t lane, const ShadowStore& store, uint64_t address,
                uint32_t bytes);
void StoreShadow(Warp& w, Place place, uint32_t lane, ShadowStore& store, uint64_t address,
                 uint32_t bytes);

// The same for handlers that are not wrapped. REQUIRES: Warp::float_shadow
void ShadowShuffle(Warp& w, const Op* op, const uint8_t* from);
struct ShadowAtomicUpdate {
  FloatForm form = FloatForm::kNone;  // kNone: no numbers are added
  uint32_t bytes = 4;
  uint64_t old_bits = 0;
  uint64_t new_bits = 0;
};
// `store` at `address` went from old to new by the lane's operands b and c (op->c 0: none).
void ShadowAtomic(Warp& w, const Op* op, uint32_t lane, Space space, uint64_t address,
                  const ShadowAtomicUpdate& update);
struct MatrixSite;
// After a product: operands as raw bits in the order of MatrixOperands, read before.
void ShadowProduct(Warp& w, const Op* op, const MatrixSite& site, const MatrixOperands& operands);
void ShadowLocalCopy(Warp& w, uint32_t lane, uint32_t from, uint32_t to, uint32_t bytes);

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_SHADOW_VALUES_H_
