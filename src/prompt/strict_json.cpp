#include "prompt/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr size_t kDeepest = 16;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// What one ``` block around the whole reply holds.
std::string_view Unwrap(std::string_view text) {
  constexpr std::string_view kTicks = "```";
  if (text.size() < 2 * kTicks.size() || !text.starts_with(kTicks) || !text.ends_with(kTicks)) {
    return text;
  }
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) {
    return text;
  }
  return Trim(text.substr(line + 1, text.size() - kTicks.size() - line - 1));
}

}  // namespace

Result<Json> ParseReplyObject(std::string_view reply) {
  if (reply.size() > kMostReplyBytes) {
    return Error(ErrorCode::kParse,
                 fmt::format("the answer is longer than {} bytes", kMostReplyBytes));
  }
  const std::string_view text = Unwrap(Trim(reply));
  std::vector<std::set<std::string>> keys;
  std::string twice;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    too_deep = too_deep || static_cast<size_t>(depth) > kDeepest;
    if (event == Json::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !keys.back().insert(value.get<std::string>()).second) {
      twice = value.get<std::string>();
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    if (!json.is_object()) {
      return Error(ErrorCode::kParse, "the answer is not a JSON object");
    }
    if (!twice.empty()) {
      return Error(ErrorCode::kParse, fmt::format("the key \"{}\" is there twice", twice));
    }
    if (too_deep) {
      return Error(ErrorCode::kParse, "the answer is nested too deeply");
    }
    return json;
  } catch (const Json::exception&) {
    return Error(ErrorCode::kParse, "the answer is not one JSON object and nothing else");
  }
}

Result<ObjectReader> ObjectReader::Of(const Json& value, std::string where) {
  if (!value.is_object()) {
    return Error(ErrorCode::kParse, fmt::format("{} is not an object", where));
  }
  return ObjectReader(value, std::move(where));
}

Error ObjectReader::Wrong(const char* key, const std::string& allowed) const {
  return Error(ErrorCode::kParse, fmt::format("{}: \"{}\" must be {}", where_, key, allowed));
}

Result<const Json*> ObjectReader::Take(const char* key) {
  const auto found = object_->find(key);
  if (found == object_->end()) {
    return Error(ErrorCode::kParse, fmt::format("{}: \"{}\" is missing", where_, key));
  }
  taken_.insert(key);
  return &*found;
}

Result<std::string> ObjectReader::Text(const char* key, size_t most_bytes) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  if (!value->is_string() || value->get_ref<const std::string&>().size() > most_bytes) {
    return Wrong(key, fmt::format("a text of at most {} bytes", most_bytes));
  }
  return value->get<std::string>();
}

Result<double> ObjectReader::Number(const char* key, double low, double high) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (!(number >= low) || !(number <= high)) {
    return Wrong(key, fmt::format("a number from {} to {}", low, high));
  }
  return number;
}

Result<int64_t> ObjectReader::Integer(const char* key, int64_t low, int64_t high) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)) &&
                    value->get<int64_t>() >= low && value->get<int64_t>() <= high;
  if (!fits) {
    return Wrong(key, fmt::format("an integer from {} to {}", low, high));
  }
  return value->get<int64_t>();
}

Result<bool> ObjectReader::Boolean(const char* key) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  if (!value->is_boolean()) {
    return Wrong(key, "true or false");
  }
  return value->get<bool>();
}

Result<size_t> ObjectReader::OneOf(const char* key, const std::vector<std::string>& allowed) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  const auto found = value->is_string() ? std::find(allowed.begin(), allowed.end(),
                                                    value->get_ref<const std::string&>())
                                        : allowed.end();
  if (found == allowed.end()) {
    return Wrong(key, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }
  return static_cast<size_t>(found - allowed.begin());
}

Result<const Json*> ObjectReader::Array(const char* key, size_t least, size_t most) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  if (!value->is_array() || value->size() < least || value->size() > most) {
    return Wrong(key, fmt::format("an array of {} to {} elements", least, most));
  }
  return value;
}

Result<const Json*> ObjectReader::Object(const char* key) {
  OPTIML_ASSIGN(const Json* value, Take(key));
  if (!value->is_object()) {
    return Wrong(key, "an object");
  }
  return value;
}

Result<void> ObjectReader::NothingElse() const {
  for (const auto& [key, value] : object_->items()) {
    if (!taken_.contains(key)) {
      return Error(ErrorCode::kParse,
                   fmt::format("{}: \"{}\" is not asked for", where_, key.substr(0, 40)));
    }
  }
  return {};
}

}  // namespace optiml
