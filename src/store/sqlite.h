#ifndef OPTIML_STORE_SQLITE_H_
#define OPTIML_STORE_SQLITE_H_

// SQLite's C interface wrapped once: a connection, rows in and rows out, errors as Error with the
// file's name and what to do. Threads: one at a time.
//
// Every row that is written through InsertRow carries a checksum of its columns, which SelectRows
// checks: SQLite itself notices damage to its pages' structure only, not to what is in them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"

struct sqlite3;

namespace optiml::sqlite {

// Text and blobs are both strings of bytes here; they are written as text.
using Value = std::variant<std::monostate, int64_t, double, std::string>;
using Row = std::vector<Value>;

// A column of a row to write.
struct Cell {
  const char* column;
  Value value;
};

enum class Mode {
  kCreate,    // the file must not exist
  kWrite,     // the file must exist
  kReadOnly,  // the file must exist; no row can be written
};

class Database {
 public:
  // A reader that may not write the folder, where SQLite would have to recover what a writer left,
  // reads a private copy of the file and its logs.
  static Result<Database> Open(const std::filesystem::path& file, Mode mode);
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

  // One statement without parameters, its rows dropped.
  Result<void> Execute(const std::string& sql);
  // The only column of the only row of a statement without parameters.
  Result<Value> Scalar(const std::string& sql);

  // The table has a column `checksum`.
  Result<void> InsertRow(const char* table, const std::vector<Cell>& cells);
  // As InsertRow, but does nothing when a row with the same primary key is there.
  Result<void> InsertRowIfAbsent(const char* table, const std::vector<Cell>& cells);
  // Every row, the named columns, in the order of the first one. `columns` must be all columns but
  // the checksum, in the order in which InsertRow got them; a row whose checksum differs is an
  // Error.
  Result<std::vector<Row>> SelectRows(const char* table, const std::vector<const char*>& columns);

  // Error for this file: "FILE: what".
  Error Damaged(std::string_view what) const;

 private:
  struct Closer {
    void operator()(sqlite3* connection) const;
  };
  Database(std::filesystem::path file, sqlite3* connection)
      : file_(std::move(file)), connection_(connection) {}
  // `shown`: what messages call the file.
  static Result<Database> Connect(const std::filesystem::path& file,
                                  const std::filesystem::path& shown, Mode mode);
  // Whether nothing can be read without writing first, which is not allowed.
  bool NeedsToWrite();
  Result<void> Insert(const char* verb, const char* table, const std::vector<Cell>& cells);
  Error LastError(std::string_view doing) const;

  std::filesystem::path file_;
  std::optional<TemporaryDirectory> copy_;  // outlives the connection
  std::unique_ptr<sqlite3, Closer> connection_;
};

// Commits when told to, otherwise rolls back at the end of its life.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;  // a transaction belongs to one scope
  ~Transaction();
  Result<void> Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace optiml::sqlite

#endif  // OPTIML_STORE_SQLITE_H_
