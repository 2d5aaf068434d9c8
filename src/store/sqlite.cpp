#include "store/sqlite.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include <sqlite3.h>

#include "base/check.h"
#include "base/content_hash.h"

namespace optiml::sqlite {
namespace {

// How long a reader waits for a writer's checkpoint, and the reverse.
constexpr int kBusyTimeoutMs = 5000;

// The files of a store that hold data: itself, its write-ahead log, its rollback journal.
constexpr const char* kParts[] = {"", "-wal", "-journal"};

class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;  // it owns the handle
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle_); }

  int Prepare(sqlite3* connection, const std::string& sql) {
    return sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()), &handle_,
                              nullptr);
  }
  int Step() { return sqlite3_step(handle_); }

  int Bind(int index, const Value& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) {
      return sqlite3_bind_int64(handle_, index, *integer);
    }
    if (const auto* real = std::get_if<double>(&value)) {
      return sqlite3_bind_double(handle_, index, *real);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      // The value outlives the step.
      return sqlite3_bind_text64(handle_, index, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    }
    return sqlite3_bind_null(handle_, index);
  }

  Value Column(int index) {
    switch (sqlite3_column_type(handle_, index)) {
      case SQLITE_INTEGER:
        return int64_t{sqlite3_column_int64(handle_, index)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(handle_, index);
      case SQLITE_NULL:
        return std::monostate{};
      default: {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, index));
        const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_, index));
        return bytes == nullptr ? std::string() : std::string(bytes, size);
      }
    }
  }

 private:
  sqlite3_stmt* handle_ = nullptr;
};

std::string Checksum(const char* table, const std::vector<const Value*>& values) {
  ContentHasher hasher;
  hasher.Add(table);
  for (const Value* value : values) {
    if (const auto* integer = std::get_if<int64_t>(value)) {
      hasher.Add(fmt::format("i{}", *integer));
    } else if (const auto* real = std::get_if<double>(value)) {
      hasher.Add(fmt::format("d{:016x}", std::bit_cast<uint64_t>(*real)));
    } else if (const auto* text = std::get_if<std::string>(value)) {
      hasher.Add("t" + *text);
    } else {
      hasher.Add("n");
    }
  }
  return hasher.Finish().Hex().substr(0, 32);
}

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:  // a table that is not there
      return ErrorCode::kParse;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

void Database::Closer::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

Error Database::Damaged(std::string_view what) const {
  return Error(ErrorCode::kParse, fmt::format("{}: damaged store: {}", file_.string(), what));
}

Error Database::LastError(std::string_view doing) const {
  const int code = sqlite3_extended_errcode(connection_.get());
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
      return Damaged(sqlite3_errmsg(connection_.get()));
    case SQLITE_ERROR:
      return Damaged(sqlite3_errmsg(connection_.get()));
    case SQLITE_NOTADB:
      return Error(ErrorCode::kParse, fmt::format("{}: not a store of OptiML: {}", file_.string(),
                                                  sqlite3_errmsg(connection_.get())));
    case SQLITE_FULL:
      return Error(ErrorCode::kIo,
                   fmt::format("{}: cannot {}: the disk is full", file_.string(), doing));
    default:
      break;
  }
  const int system_error = sqlite3_system_errno(connection_.get());
  std::string reason = sqlite3_errmsg(connection_.get());
  if (system_error != 0 && (code & 0xff) == SQLITE_IOERR) {
    reason += fmt::format(" ({})", std::strerror(system_error));
  }
  return Error(CodeOf(code), fmt::format("{}: cannot {}: {}", file_.string(), doing, reason));
}

Result<Database> Database::Open(const std::filesystem::path& file, Mode mode) {
  OPTIML_ASSIGN(Database database, Connect(file, file, mode));
  if (mode != Mode::kReadOnly || !database.NeedsToWrite()) {
    return database;
  }
  OPTIML_ASSIGN(TemporaryDirectory folder, TemporaryDirectory::Create("optiml-store-"));
  for (const char* suffix : kParts) {
    const std::filesystem::path part = file.string() + suffix;
    if (std::error_code ignored; *suffix != '\0' && !std::filesystem::exists(part, ignored)) {
      continue;
    }
    std::error_code error;
    const std::filesystem::path copy = folder.path() / part.filename();
    if (std::filesystem::copy_file(part, copy, error)) {
      std::filesystem::permissions(
          copy, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, error);
    }
    if (error) {
      return Error(ErrorCode::kIo,
                   fmt::format("{}: cannot copy: {}", part.string(), error.message()));
    }
  }
  OPTIML_ASSIGN(database, Connect(folder.path() / file.filename(), file, mode));
  database.copy_ = std::move(folder);
  return database;
}

Result<Database> Database::Connect(const std::filesystem::path& file,
                                   const std::filesystem::path& shown, Mode mode) {
  // A reader opens for writing as well where it may, because SQLite must then be able to recover
  // the write-ahead log that a killed writer left; query_only keeps it from writing rows.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &connection, flags, nullptr);
  OPTIML_CHECK(connection != nullptr, "SQLite could not allocate a connection");
  Database database(shown, connection);
  if (code != SQLITE_OK) {
    return database.LastError("open");
  }
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  // A damaged schema must not run code of its own.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (mode == Mode::kReadOnly) {
    OPTIML_TRY(database.Execute("PRAGMA query_only = 1"));
  }
  return database;
}

bool Database::NeedsToWrite() {
  Statement statement;
  if (statement.Prepare(connection_.get(), "SELECT count(*) FROM sqlite_schema") == SQLITE_OK &&
      statement.Step() == SQLITE_ROW) {
    return false;
  }
  const int code = sqlite3_errcode(connection_.get()) & 0xff;
  return code == SQLITE_READONLY || code == SQLITE_CANTOPEN;
}

Result<void> Database::Execute(const std::string& sql) {
  char* message = nullptr;
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, &message);
  sqlite3_free(message);
  if (code != SQLITE_OK) {
    return LastError("write");
  }
  return {};
}

Result<Value> Database::Scalar(const std::string& sql) {
  Statement statement;
  if (statement.Prepare(connection_.get(), sql) != SQLITE_OK || statement.Step() != SQLITE_ROW) {
    return LastError("read");
  }
  return statement.Column(0);
}

Result<void> Database::Insert(const char* verb, const char* table, const std::vector<Cell>& cells) {
  std::string columns;
  std::string marks;
  std::vector<const Value*> values;
  for (const Cell& cell : cells) {
    columns += fmt::format("{}, ", cell.column);
    marks += "?, ";
    values.push_back(&cell.value);
  }
  const Value checksum = Checksum(table, values);
  Statement statement;
  int code = statement.Prepare(
      connection_.get(),
      fmt::format("{} INTO {} ({}checksum) VALUES ({}?)", verb, table, columns, marks));
  for (size_t i = 0; code == SQLITE_OK && i < values.size(); ++i) {
    code = statement.Bind(static_cast<int>(i) + 1, *values[i]);
  }
  if (code == SQLITE_OK) {
    code = statement.Bind(static_cast<int>(values.size()) + 1, checksum);
  }
  if (code != SQLITE_OK || statement.Step() != SQLITE_DONE) {
    return LastError("write");
  }
  return {};
}

Result<void> Database::InsertRow(const char* table, const std::vector<Cell>& cells) {
  return Insert("INSERT", table, cells);
}

Result<void> Database::InsertRowIfAbsent(const char* table, const std::vector<Cell>& cells) {
  return Insert("INSERT OR IGNORE", table, cells);
}

Result<std::vector<Row>> Database::SelectRows(const char* table,
                                              const std::vector<const char*>& columns) {
  std::string list;
  for (const char* column : columns) {
    list += fmt::format("{}, ", column);
  }
  Statement statement;
  if (statement.Prepare(connection_.get(), fmt::format("SELECT {}checksum FROM {} ORDER BY {}",
                                                       list, table, columns.front())) !=
      SQLITE_OK) {
    return LastError("read");
  }
  std::vector<Row> rows;
  int code = statement.Step();
  for (; code == SQLITE_ROW; code = statement.Step()) {
    Row row;
    std::vector<const Value*> values;
    for (size_t i = 0; i < columns.size(); ++i) {
      row.push_back(statement.Column(static_cast<int>(i)));
    }
    for (const Value& value : row) {
      values.push_back(&value);
    }
    const Value stored = statement.Column(static_cast<int>(columns.size()));
    if (stored != Value(Checksum(table, values))) {
      return Damaged(fmt::format("row {} of table {} has another checksum", rows.size(), table));
    }
    rows.push_back(std::move(row));
  }
  if (code != SQLITE_DONE) {
    return LastError("read");
  }
  return rows;
}

Result<Transaction> Transaction::Begin(Database& database) {
  OPTIML_TRY(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) {
    // After a full disk SQLite may have rolled back already; nothing is lost if this fails.
    [[maybe_unused]] const bool rolled_back = database_->Execute("ROLLBACK").has_value();
  }
}

Result<void> Transaction::Commit() {
  OPTIML_TRY(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace optiml::sqlite
