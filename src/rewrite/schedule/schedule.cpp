#include "rewrite/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace optiml::rewrite {

const Primitive* Schedule::Find(std::string_view name) const {
  const auto found = std::find_if(primitives.begin(), primitives.end(),
                                  [&](const Primitive& one) { return one.name == name; });
  return found == primitives.end() ? nullptr : &*found;
}

int64_t Schedule::Get(std::string_view name, const std::string& hole, int64_t fallback) const {
  const Primitive* primitive = Find(name);
  if (primitive == nullptr) {
    return fallback;
  }
  const auto value = primitive->parameters.find(hole);
  return value == primitive->parameters.end() ? fallback : value->second;
}

void Schedule::Set(const std::string& name, const Parameters& parameters) {
  for (Primitive& primitive : primitives) {
    if (primitive.name == name) {
      primitive.parameters = parameters;
      return;
    }
  }
  primitives.push_back({name, parameters});
}

std::string Schedule::Format() const {
  std::string text;
  for (const Primitive& primitive : primitives) {
    text += text.empty() ? "" : " ";
    text += FormatPrimitive(primitive.name, primitive.parameters);
  }
  return text;
}

std::string FormatPrimitive(const std::string& name, const Parameters& parameters) {
  std::string holes;
  for (const auto& [hole, value] : parameters) {
    holes += fmt::format("{}{}={}", holes.empty() ? "" : ", ", hole, value);
  }
  return fmt::format("{}({})", name, holes);
}

}  // namespace optiml::rewrite
