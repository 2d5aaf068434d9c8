#ifndef OPTIML_PROMPT_STRICT_JSON_H_
#define OPTIML_PROMPT_STRICT_JSON_H_

// A model's reply read strictly: one JSON object, alone or in one ``` block, with the keys that
// were asked for and no others, each once. A reply that is anything else is refused with a message
// that may be shown to the model (kParse).

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace optiml {

// Longer replies are refused unread.
inline constexpr size_t kMostReplyBytes = 512 * 1024;

Result<nlohmann::json> ParseReplyObject(std::string_view reply);

// Takes the keys of one object. The value outlives the reader.
class ObjectReader {
 public:
  // `where` is how messages call the object: "edit 2".
  static Result<ObjectReader> Of(const nlohmann::json& value, std::string where);

  Result<std::string> Text(const char* key, size_t most_bytes);
  Result<double> Number(const char* key, double low, double high);
  Result<int64_t> Integer(const char* key, int64_t low, int64_t high);
  Result<bool> Boolean(const char* key);
  // The index of the word in `allowed`.
  Result<size_t> OneOf(const char* key, const std::vector<std::string>& allowed);
  Result<const nlohmann::json*> Array(const char* key, size_t least, size_t most);
  Result<const nlohmann::json*> Object(const char* key);
  // Fails when there are keys that were not taken.
  Result<void> NothingElse() const;

  const std::string& where() const { return where_; }

 private:
  ObjectReader(const nlohmann::json& object, std::string where)
      : object_(&object), where_(std::move(where)) {}
  Result<const nlohmann::json*> Take(const char* key);
  Error Wrong(const char* key, const std::string& allowed) const;

  const nlohmann::json* object_;
  std::string where_;
  std::set<std::string> taken_;
};

}  // namespace optiml

#endif  // OPTIML_PROMPT_STRICT_JSON_H_
