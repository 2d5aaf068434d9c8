#ifndef OPTIML_TASK_TOML_DOCUMENT_H_
#define OPTIML_TASK_TOML_DOCUMENT_H_

// TomlValue: a TOML document as plain data that remembers two things the file format's own
// libraries lose: the line of every key and the order in which a table's keys were written (a
// task's arguments are the launcher's, in order). toml++ is included by toml_document.cpp alone;
// its exceptions end there.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace optiml {

struct TomlEntry;

struct TomlValue {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kArray, kTable, kDate };

  Kind kind = Kind::kTable;
  int line = 0;                    // where the value begins
  std::string string;              // kString
  int64_t integer = 0;             // kInteger
  double number = 0;               // kFloat, and kInteger as a double
  bool boolean = false;            // kBoolean
  std::vector<TomlValue> items;    // kArray
  std::vector<TomlEntry> entries;  // kTable, as written

  // Null when the table has no such key. REQUIRES: kind == kTable
  const TomlEntry* Find(std::string_view key) const;
};

struct TomlEntry {
  std::string key;
  int line = 0;
  TomlValue value;
};

// "a string", "an integer" ...
std::string_view TomlKindName(TomlValue::Kind kind);

// The document's table. Fails with kParse: "FILE:LINE: what".
Result<TomlValue> ParseToml(std::string_view text, const std::string& file_name);

}  // namespace optiml

#endif  // OPTIML_TASK_TOML_DOCUMENT_H_
