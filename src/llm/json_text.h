#ifndef OPTIML_LLM_JSON_TEXT_H_
#define OPTIML_LLM_JSON_TEXT_H_

// JSON as text, without exceptions. Only sources of this folder include it: JSON values do not
// leave it.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace optiml {

using Json = nlohmann::ordered_json;

// On one line; what is not UTF-8 becomes U+FFFD.
inline std::string JsonLine(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A discarded value (is_discarded()) when `text` is not JSON.
inline Json ParseJson(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

// The text with U+FFFD for what is not UTF-8.
inline std::string Utf8Text(const std::string& text) {
  return ParseJson(JsonLine(Json(text))).get<std::string>();
}

// The member `name` of an object when it is there and a string.
inline std::string StringMember(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

// The member `name` of an object when it is there and a whole number; `otherwise` when not.
inline int64_t IntegerMember(const Json& object, const char* name, int64_t otherwise) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : otherwise;
}

// An empty object when it is not there.
inline const Json& Member(const Json& object, const char* name) {
  static const Json kNone = Json::object();
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNone;
}

}  // namespace optiml

#endif  // OPTIML_LLM_JSON_TEXT_H_
