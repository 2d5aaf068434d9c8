#include "task/toml_document.h"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include <toml++/toml.h>

namespace optiml {
namespace {

int LineOf(const toml::source_region& region) {
  return static_cast<int>(region.begin.line);
}

// Nesting is bounded by the parser itself (TOML_MAX_NESTED_VALUES), so this recursion is too.
TomlValue Convert(const toml::node& node) {
  TomlValue value;
  value.line = LineOf(node.source());
  if (const auto* string = node.as_string()) {
    value.kind = TomlValue::Kind::kString;
    value.string = string->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::kInteger;
    value.integer = integer->get();
    value.number = static_cast<double>(value.integer);
  } else if (const auto* number = node.as_floating_point()) {
    value.kind = TomlValue::Kind::kFloat;
    value.number = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = TomlValue::Kind::kBoolean;
    value.boolean = boolean->get();
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::kArray;
    for (const toml::node& item : *array) {
      value.items.push_back(Convert(item));
    }
  } else if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::kTable;
    std::vector<std::pair<toml::source_position, TomlEntry>> placed;
    for (const auto& [key, item] : *table) {
      placed.push_back(
          {key.source().begin, {std::string(key.str()), LineOf(key.source()), Convert(item)}});
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [position, entry] : placed) {
      value.entries.push_back(std::move(entry));
    }
  } else {
    value.kind = TomlValue::Kind::kDate;
  }
  return value;
}

// toml++ speaks in sentences that begin with a capital and sometimes end with a full stop.
std::string AsOurs(std::string_view description) {
  std::string text(description);
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) {
    text.pop_back();
  }
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

}  // namespace

const TomlEntry* TomlValue::Find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const TomlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string_view TomlKindName(TomlValue::Kind kind) {
  switch (kind) {
    case TomlValue::Kind::kString:
      return "a string";
    case TomlValue::Kind::kInteger:
      return "an integer";
    case TomlValue::Kind::kFloat:
      return "a number";
    case TomlValue::Kind::kBoolean:
      return "true or false";
    case TomlValue::Kind::kArray:
      return "an array";
    case TomlValue::Kind::kTable:
      return "a table";
    case TomlValue::Kind::kDate:
      return "a date or time";
  }
  return "a value";
}

Result<TomlValue> ParseToml(std::string_view text, const std::string& file_name) {
  try {
    const toml::table table = toml::parse(text, file_name);
    return Convert(table);
  } catch (const toml::parse_error& error) {
    return Error(ErrorCode::kParse, fmt::format("{}:{}: {}", file_name, LineOf(error.source()),
                                                AsOurs(error.description())));
  } catch (const std::exception& error) {
    return Error(ErrorCode::kParse, fmt::format("{}: {}", file_name, error.what()));
  }
}

}  // namespace optiml
