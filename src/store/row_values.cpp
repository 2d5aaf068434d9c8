#include "store/row_values.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/content_hash.h"

namespace optiml::sqlite {

Value Optional(const std::optional<double>& value) {
  // SQLite turns a NaN into NULL by itself, behind the checksum's back.
  const double number = value.value_or(std::nan(""));
  return std::isnan(number) ? Value() : Value(number);
}

std::optional<double> ToOptional(const Value& value) {
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? std::nullopt : std::optional<double>(*real);
}

std::string& Text(Value& value) {
  auto* text = std::get_if<std::string>(&value);
  OPTIML_CHECK(text != nullptr, "a column was written as text");
  return *text;
}

int64_t Integer(const Value& value) {
  const auto* integer = std::get_if<int64_t>(&value);
  OPTIML_CHECK(integer != nullptr, "a column was written as an integer");
  return *integer;
}

Result<std::string> PutBlob(Database& database, const std::string& bytes) {
  std::string hash = ContentHash::Of(bytes).Hex();
  OPTIML_TRY(database.InsertRowIfAbsent("blobs", {{"hash", hash}, {"bytes", bytes}}));
  return hash;
}

Result<std::string> FindBlob(Database& database, const BlobMap& blobs, Value& hash) {
  const auto found = blobs.find(Text(hash));
  if (found == blobs.end()) {
    return database.Damaged(fmt::format("blob {} is missing", Text(hash)));
  }
  return found->second;
}

Result<int64_t> NextPosition(Database& database, const char* table) {
  OPTIML_ASSIGN(const Value next, database.Scalar(fmt::format(
                                      "SELECT coalesce(max(position), -1) + 1 FROM {}", table)));
  return Integer(next);
}

}  // namespace optiml::sqlite
