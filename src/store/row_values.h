#ifndef OPTIML_STORE_ROW_VALUES_H_
#define OPTIML_STORE_ROW_VALUES_H_

// Columns of a run's tables as values, and the blobs that they name by hash.

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace optiml::sqlite {

using BlobMap = std::map<std::string, std::string>;  // by hash

Value Optional(const std::optional<double>& value);
std::optional<double> ToOptional(const Value& value);

// The checksum has vouched for the types: InsertRow wrote what is read here.
std::string& Text(Value& value);
int64_t Integer(const Value& value);

// Keeps a text once; returns its hash.
Result<std::string> PutBlob(Database& database, const std::string& bytes);
Result<std::string> FindBlob(Database& database, const BlobMap& blobs, Value& hash);

// One past the highest of the table's column "position".
Result<int64_t> NextPosition(Database& database, const char* table);

}  // namespace optiml::sqlite

#endif  // OPTIML_STORE_ROW_VALUES_H_
