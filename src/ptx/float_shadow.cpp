#include "ptx/float_shadow.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "ptx/shadow_values.h"

namespace optiml::ptx {
namespace {

FloatForm FormOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return FloatForm::kF16;
    case DType::kBf16:
      return FloatForm::kBf16;
    case DType::kF32:
      return FloatForm::kF32;
    case DType::kF64:
      return FloatForm::kF64;
    default:
      return FloatForm::kNone;
  }
}

// The shadow of the number whose bits are there now; null: none.
const ShadowValue* Current(const ShadowStore& store, FloatForm form, uint64_t address,
                           const std::byte* bytes) {
  const ShadowValue* value = store.Find(address);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, FormBytes(form));
  return value != nullptr && value->form == form && value->bits == bits ? value : nullptr;
}

bool Agree(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

ElementError Describe(int64_t element, const ShadowValue& value, double error) {
  ElementError result;
  result.element = element;
  result.value = FormValue(value.form, value.bits);
  result.shadow = value.shadow;
  result.error = error;
  for (const ErrorPart& part : value.parts) {
    if (part.amount != 0) {
      result.births.push_back({part.line, static_cast<double>(part.amount)});
    }
  }
  result.cancelled_line = value.cancelled_line;
  result.cancelled_bits = value.cancelled_bits;
  return result;
}

}  // namespace

uint32_t FormBytes(FloatForm form) {
  switch (form) {
    case FloatForm::kF16:
    case FloatForm::kBf16:
      return 2;
    case FloatForm::kF32:
      return 4;
    case FloatForm::kF64:
      return 8;
    default:
      return 0;
  }
}

double FormValue(FloatForm form, uint64_t bits) {
  std::byte bytes[8];
  std::memcpy(bytes, &bits, sizeof(bytes));
  switch (form) {
    case FloatForm::kF16:
      return LoadElement(DType::kF16, bytes);
    case FloatForm::kBf16:
      return LoadElement(DType::kBf16, bytes);
    case FloatForm::kF32:
      return LoadElement(DType::kF32, bytes);
    case FloatForm::kF64:
      return LoadElement(DType::kF64, bytes);
    default:
      return 0;
  }
}

const ShadowValue* ShadowStore::Find(uint64_t address) const {
  if (pages_.empty() || (address & 1) != 0) {
    return nullptr;
  }
  const auto page = pages_.find(address / kPageBytes);
  if (page == pages_.end()) {
    return nullptr;
  }
  const uint64_t slot = address % kPageBytes / 4;
  const bool odd = (address & 2) != 0;
  if (odd && page->second->odd == nullptr) {
    return nullptr;
  }
  const ShadowValue& value = odd ? (*page->second->odd)[slot] : page->second->even[slot];
  return value.form == FloatForm::kNone ? nullptr : &value;
}

void ShadowStore::Put(uint64_t address, const ShadowValue& value) {
  auto& page = pages_[address / kPageBytes];
  if (page == nullptr) {
    page = std::make_unique<Page>();
  }
  const uint64_t slot = address % kPageBytes / 4;
  if ((address & 2) == 0) {
    page->even[slot] = value;
    return;
  }
  if (page->odd == nullptr) {
    page->odd = std::make_unique<Slots>();
  }
  (*page->odd)[slot] = value;
}

void ShadowStore::Forget(uint64_t address, uint64_t bytes) {
  if (pages_.empty()) {
    return;
  }
  for (uint64_t at = address & ~uint64_t{1}; at < address + bytes; at += 2) {
    if (const ShadowValue* value = Find(at)) {
      const_cast<ShadowValue*>(value)->form = FloatForm::kNone;
    }
  }
}

void ShadowStore::CopyFrom(const ShadowStore& from, uint64_t source, uint64_t destination,
                           uint64_t bytes) {
  std::vector<std::pair<uint64_t, ShadowValue>> values;  // the ranges may overlap
  for (uint64_t at = 0; at < bytes && !from.empty(); at += 2) {
    const ShadowValue* value = from.Find(source + at);
    if (value != nullptr && at + FormBytes(value->form) <= bytes) {
      values.emplace_back(destination + at, *value);
    }
  }
  Forget(destination, bytes);
  for (const auto& [address, value] : values) {
    Put(address, value);
  }
}

uint64_t ShadowStore::bytes_used() const {
  uint64_t bytes = 0;
  for (const auto& [number, page] : pages_) {
    bytes += sizeof(Page) + (page->odd != nullptr ? sizeof(Slots) : 0);
  }
  return bytes;
}

FloatShadow::FloatShadow() : global_(std::make_unique<ShadowStore>()) {}
FloatShadow::~FloatShadow() = default;

BufferError FloatShadow::Compare(DType dtype, uint64_t address,
                                 std::span<const std::byte> bytes) const {
  const FloatForm form = FormOf(dtype);
  OPTIML_CHECK(form != FloatForm::kNone, "only floats have shadows");
  const uint64_t size = FormBytes(form);
  BufferError result;
  result.elements = static_cast<int64_t>(bytes.size() / size);
  const ShadowValue* absolute = nullptr;
  const ShadowValue* relative = nullptr;
  double most = 0;
  double most_relative = 0;
  for (int64_t i = 0; i < result.elements; ++i) {
    const uint64_t at = static_cast<uint64_t>(i) * size;
    const ShadowValue* value = Current(*global_, form, address + at, bytes.data() + at);
    const double own = value == nullptr ? 0 : FormValue(form, value->bits);
    if (value == nullptr || Agree(own, value->shadow)) {
      continue;
    }
    ++result.inexact;
    const double difference = std::fabs(own - value->shadow);
    const double error = std::isnan(difference) ? HUGE_VAL : difference;
    const double quotient = value->shadow == 0 ? 1 : error / std::fabs(value->shadow);
    const double in_units = std::isnan(quotient) ? HUGE_VAL : quotient;
    if (absolute == nullptr || error > most) {
      absolute = value;
      most = error;
      result.absolute.element = i;
    }
    if (relative == nullptr || in_units > most_relative) {
      relative = value;
      most_relative = in_units;
      result.relative.element = i;
    }
  }
  if (absolute != nullptr) {
    result.absolute = Describe(result.absolute.element, *absolute, most);
    result.relative = Describe(result.relative.element, *relative, most_relative);
  }
  return result;
}

std::vector<double> FloatShadow::Values(DType dtype, uint64_t address,
                                        std::span<const std::byte> bytes) const {
  const FloatForm form = FormOf(dtype);
  OPTIML_CHECK(form != FloatForm::kNone, "only floats have shadows");
  const uint64_t size = FormBytes(form);
  std::vector<double> values;
  for (uint64_t at = 0; at + size <= bytes.size(); at += size) {
    const ShadowValue* value = Current(*global_, form, address + at, bytes.data() + at);
    values.push_back(value != nullptr ? value->shadow : LoadElement(dtype, bytes.data() + at));
  }
  return values;
}

void FloatShadow::Copy(uint64_t from, uint64_t to, uint64_t bytes) {
  if (((from | to) & 1) != 0) {
    global_->Forget(to, bytes);
    return;
  }
  global_->CopyFrom(*global_, from, to, bytes);
}

uint64_t FloatShadow::bytes_used() const {
  return global_->bytes_used();
}

}  // namespace optiml::ptx
