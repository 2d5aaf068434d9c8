#include "store/run_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/content_hash.h"
#include "base/file_system.h"
#include "store/model_tables.h"
#include "store/row_values.h"
#include "store/run_lock.h"
#include "store/serialise.h"
#include "store/sqlite.h"

namespace optiml {
namespace {

using sqlite::BlobMap;
using sqlite::Database;
using sqlite::FindBlob;
using sqlite::Integer;
using sqlite::Mode;
using sqlite::NextPosition;
using sqlite::Optional;
using sqlite::PutBlob;
using sqlite::Row;
using sqlite::Text;
using sqlite::ToOptional;
using sqlite::Transaction;
using sqlite::Value;

constexpr int64_t kApplicationId = 0x4f70744d;  // "OptM", in the file's header

// kMigrations[v] brings a store of schema v to schema v + 1. Never changed once released; what they
// make is described in docs/store_schema.md.
constexpr std::array<const char*, 3> kMigrations = {
    R"(
CREATE TABLE blobs(hash TEXT PRIMARY KEY, bytes TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run(id TEXT PRIMARY KEY, task TEXT NOT NULL, environment TEXT NOT NULL,
  options TEXT NOT NULL, source TEXT NOT NULL, task_toml TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE state(only INTEGER PRIMARY KEY CHECK (only = 1), state TEXT NOT NULL,
  failure TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE battery(position INTEGER PRIMARY KEY, mutant TEXT NOT NULL, verdict TEXT NOT NULL,
  detail TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE lifts(position INTEGER PRIMARY KEY, kernel TEXT NOT NULL, lifted INTEGER NOT NULL,
  detail TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE expansions(position INTEGER PRIMARY KEY, node INTEGER NOT NULL UNIQUE,
  edits TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE nodes(position INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE,
  parent INTEGER NOT NULL, variant INTEGER NOT NULL, label TEXT NOT NULL, outcome TEXT NOT NULL,
  time_s REAL, total_reward REAL, duplicate_of INTEGER NOT NULL, told_at TEXT NOT NULL,
  wall_time_ns INTEGER NOT NULL, edit TEXT NOT NULL, source TEXT NOT NULL,
  evaluation TEXT NOT NULL, reward TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE result(only INTEGER PRIMARY KEY CHECK (only = 1), result TEXT NOT NULL,
  best_source TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE chain(position INTEGER PRIMARY KEY, mark TEXT NOT NULL, edit TEXT NOT NULL,
  time_s REAL, time_without_s REAL, note TEXT NOT NULL, source TEXT NOT NULL, profile TEXT,
  checksum TEXT NOT NULL);
)",
    R"(
CREATE TABLE questions(node INTEGER PRIMARY KEY, asked INTEGER NOT NULL,
  expanded INTEGER NOT NULL, checksum TEXT NOT NULL);
)",
    R"(
CREATE TABLE exchanges(position INTEGER PRIMARY KEY, node INTEGER NOT NULL, role TEXT NOT NULL,
  prompt TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL,
  failure TEXT NOT NULL, outcome TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, tokens_estimated INTEGER NOT NULL, dollars REAL NOT NULL,
  wall_time_ns INTEGER NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE trials(position INTEGER PRIMARY KEY, node INTEGER NOT NULL, label TEXT NOT NULL,
  edit TEXT NOT NULL, note TEXT NOT NULL, source TEXT NOT NULL, evaluation TEXT NOT NULL,
  kept INTEGER NOT NULL, reason TEXT NOT NULL, wall_time_ns INTEGER NOT NULL,
  checksum TEXT NOT NULL);
CREATE TABLE notes(node INTEGER PRIMARY KEY, notes TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE diagnoses(node INTEGER PRIMARY KEY, diagnosis TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE judgements(node INTEGER PRIMARY KEY, judgement TEXT NOT NULL,
  checksum TEXT NOT NULL);
)"};
constexpr int64_t kSchemaWithQuestions = 2;
constexpr int64_t kSchemaWithModels = 3;
constexpr int64_t kSchema = kMigrations.size();

Result<void> WriteState(Database& database, RunState state, const std::string& failure) {
  OPTIML_TRY(database.Execute("DELETE FROM state"));
  return database.InsertRow(
      "state", {{"only", int64_t{1}}, {"state", RunStateName(state)}, {"failure", failure}});
}

Result<void> WriteHeader(Database& database, const RunRecord& header) {
  OPTIML_ASSIGN(std::string source, PutBlob(database, header.task.source));
  OPTIML_ASSIGN(std::string toml, PutBlob(database, header.task.task_toml));
  OPTIML_TRY(database.InsertRow("run", {{"id", header.id.value},
                                        {"task", FormatTaskSnapshot(header.task)},
                                        {"environment", FormatEnvironment(header.environment)},
                                        {"options", FormatOptionMap(header.options)},
                                        {"source", std::move(source)},
                                        {"task_toml", std::move(toml)}}));
  return WriteState(database, header.state, header.failure);
}

class SqliteRunStore : public RunStore {
 public:
  SqliteRunStore(fs::path file, Database database, std::optional<RunLock> lock, int64_t schema)
      : file_(std::move(file)),
        lock_(std::move(lock)),
        database_(std::move(database)),
        schema_(schema) {}

  ~SqliteRunStore() override {
    if (lock_) {
      // Leaves one file that can be read from anywhere; with a reader in the way the log stays.
      [[maybe_unused]] const bool single_file =
          database_.Execute("PRAGMA journal_mode = DELETE").has_value();
    }
  }

  Result<RunRecord> Load() override {
    // One snapshot, though a writer may be at work.
    OPTIML_TRY(database_.Execute("BEGIN"));
    Result<RunRecord> record = LoadWithin();
    OPTIML_TRY(database_.Execute("COMMIT"));
    return record;
  }

  Result<void> SaveBattery(const std::vector<BatteryRow>& rows) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(database_.Execute("DELETE FROM battery"));
    for (size_t i = 0; i < rows.size(); ++i) {
      OPTIML_TRY(database_.InsertRow("battery", {{"position", static_cast<int64_t>(i)},
                                                 {"mutant", rows[i].mutant},
                                                 {"verdict", rows[i].verdict},
                                                 {"detail", rows[i].detail}}));
    }
    return transaction.Commit();
  }

  Result<void> SaveLifts(const std::vector<LiftRow>& rows) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(database_.Execute("DELETE FROM lifts"));
    for (size_t i = 0; i < rows.size(); ++i) {
      OPTIML_TRY(database_.InsertRow("lifts", {{"position", static_cast<int64_t>(i)},
                                               {"kernel", rows[i].kernel},
                                               {"lifted", int64_t{rows[i].lifted}},
                                               {"detail", rows[i].detail}}));
    }
    return transaction.Commit();
  }

  Result<void> AppendExpansion(const ExpansionRecord& expansion) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_ASSIGN(const int64_t position, NextPosition(database_, "expansions"));
    OPTIML_TRY(database_.InsertRow("expansions", {{"position", position},
                                                  {"node", expansion.node},
                                                  {"edits", FormatEdits(expansion.edits)}}));
    if (!expansion.notes.empty()) {
      OPTIML_TRY(database_.InsertRow(
          "notes", {{"node", expansion.node}, {"notes", FormatNotes(expansion.notes)}}));
    }
    if (expansion.diagnosis) {
      OPTIML_TRY(database_.InsertRow(
          "diagnoses",
          {{"node", expansion.node}, {"diagnosis", FormatDiagnosis(*expansion.diagnosis)}}));
    }
    return transaction.Commit();
  }

  Result<void> AppendNode(const NodeRecord& node) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_ASSIGN(const int64_t position, NextPosition(database_, "nodes"));
    OPTIML_ASSIGN(std::string source, PutBlob(database_, node.source));
    const Rejection* rejection = node.evaluation.rejection();
    const std::string outcome = rejection == nullptr ? "accepted" : StageName(rejection->stage);
    const std::optional<double> time_s = node.evaluation.timings.empty()
                                             ? std::nullopt
                                             : std::optional<double>(node.evaluation.TimeSeconds());
    OPTIML_TRY(database_.InsertRow("nodes", {{"position", position},
                                             {"id", node.id},
                                             {"parent", node.parent},
                                             {"variant", node.variant.value},
                                             {"label", node.edit.Label()},
                                             {"outcome", outcome},
                                             {"time_s", Optional(time_s)},
                                             {"total_reward", Optional(node.reward.total)},
                                             {"duplicate_of", node.duplicate_of},
                                             {"told_at", node.told_at},
                                             {"wall_time_ns", int64_t{node.wall_time.count()}},
                                             {"edit", FormatEdit(node.edit)},
                                             {"source", std::move(source)},
                                             {"evaluation", FormatEvaluation(node.evaluation)},
                                             {"reward", FormatReward(node.reward)}}));
    if (node.asked > node.id || node.expanded > 0) {
      OPTIML_TRY(database_.InsertRow(
          "questions", {{"node", node.id}, {"asked", node.asked}, {"expanded", node.expanded}}));
    }
    if (node.judgement) {
      OPTIML_TRY(database_.InsertRow(
          "judgements", {{"node", node.id}, {"judgement", FormatJudgement(*node.judgement)}}));
    }
    return transaction.Commit();
  }

  Result<void> AppendExchange(const ExchangeRecord& exchange) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(InsertExchange(database_, exchange));
    return transaction.Commit();
  }

  Result<void> AppendTrial(const TrialRecord& trial) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(InsertTrial(database_, trial));
    return transaction.Commit();
  }

  Result<void> SaveResult(const RunResult& result) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(database_.Execute("DELETE FROM result; DELETE FROM chain"));
    OPTIML_ASSIGN(std::string best, PutBlob(database_, result.best_source));
    OPTIML_TRY(database_.InsertRow("result", {{"only", int64_t{1}},
                                              {"result", FormatResult(result)},
                                              {"best_source", std::move(best)}}));
    for (size_t i = 0; i < result.chain.size(); ++i) {
      const ChainStep& step = result.chain[i];
      OPTIML_ASSIGN(std::string source, PutBlob(database_, step.source));
      OPTIML_TRY(database_.InsertRow(
          "chain", {{"position", static_cast<int64_t>(i)},
                    {"mark", EditMarkName(step.mark)},
                    {"edit", FormatEdit(step.edit)},
                    {"time_s", Optional(step.time_s)},
                    {"time_without_s", Optional(step.time_without_s)},
                    {"note", step.note},
                    {"source", std::move(source)},
                    {"profile", step.profile ? Value(FormatProfile(*step.profile)) : Value()}}));
    }
    return transaction.Commit();
  }

  Result<void> SaveOptions(const std::map<std::string, std::string>& options) override {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    // As it stands, but for the options: a row's checksum is over all of its columns.
    OPTIML_ASSIGN(std::vector<Row> runs,
                  database_.SelectRows(
                      "run", {"id", "task", "environment", "options", "source", "task_toml"}));
    if (runs.size() != 1) {
      return database_.Damaged(fmt::format("{} headers instead of one", runs.size()));
    }
    Row& run = runs.front();
    OPTIML_TRY(database_.Execute("DELETE FROM run"));
    OPTIML_TRY(database_.InsertRow("run", {{"id", run[0]},
                                           {"task", run[1]},
                                           {"environment", run[2]},
                                           {"options", FormatOptionMap(options)},
                                           {"source", run[4]},
                                           {"task_toml", run[5]}}));
    return transaction.Commit();
  }

  Result<void> SetState(RunState state, const std::string& failure) override {
    Result<void> written = CommitState(state, failure);
    if (lock_) {
      lock_->Note(written ? "" : RunStateName(state) + "\n" + failure);
    }
    return written;
  }

 private:
  Result<void> CommitState(RunState state, const std::string& failure) {
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database_));
    OPTIML_TRY(WriteState(database_, state, failure));
    return transaction.Commit();
  }

  Result<RunRecord> LoadWithin() {
    RunRecord record;
    OPTIML_TRY(LoadBlobs());
    OPTIML_TRY(LoadHeader(record));
    OPTIML_ASSIGN(std::vector<Row> battery,
                  database_.SelectRows("battery", {"position", "mutant", "verdict", "detail"}));
    for (Row& row : battery) {
      record.battery.push_back({Text(row[1]), Text(row[2]), Text(row[3])});
    }
    OPTIML_ASSIGN(std::vector<Row> lifts,
                  database_.SelectRows("lifts", {"position", "kernel", "lifted", "detail"}));
    for (Row& row : lifts) {
      record.lifts.push_back({Text(row[1]), Integer(row[2]) != 0, Text(row[3])});
    }
    OPTIML_TRY(LoadExpansions(record));
    OPTIML_TRY(LoadNodes(record));
    OPTIML_TRY(LoadQuestions(record));
    if (schema_ >= kSchemaWithModels) {
      OPTIML_TRY(LoadModelTables(database_, blobs_, record));
    }
    OPTIML_TRY(LoadResult(record));
    blobs_.clear();
    return record;
  }

  Result<void> LoadBlobs() {
    OPTIML_ASSIGN(std::vector<Row> rows, database_.SelectRows("blobs", {"hash", "bytes"}));
    for (Row& row : rows) {
      blobs_.emplace(std::move(Text(row[0])), std::move(Text(row[1])));
    }
    return {};
  }

  Result<std::string> Blob(Value& hash) { return FindBlob(database_, blobs_, hash); }

  Result<void> LoadHeader(RunRecord& record) {
    OPTIML_ASSIGN(std::vector<Row> runs,
                  database_.SelectRows(
                      "run", {"id", "task", "environment", "options", "source", "task_toml"}));
    OPTIML_ASSIGN(std::vector<Row> states,
                  database_.SelectRows("state", {"only", "state", "failure"}));
    if (runs.size() != 1 || states.size() != 1) {
      return database_.Damaged(
          fmt::format("{} headers and {} states instead of one", runs.size(), states.size()));
    }
    Row& run = runs.front();
    record.id = RunId{Text(run[0])};
    OPTIML_ASSIGN(record.task, ParseTaskSnapshot(Text(run[1])));
    OPTIML_ASSIGN(record.environment, ParseEnvironment(Text(run[2])));
    OPTIML_ASSIGN(record.options, ParseOptionMap(Text(run[3])));
    OPTIML_ASSIGN(record.task.source, Blob(run[4]));
    OPTIML_ASSIGN(record.task.task_toml, Blob(run[5]));
    OPTIML_ASSIGN(record.state, ParseRunState(Text(states.front()[1])));
    record.failure = Text(states.front()[2]);
    return AddNote(record);
  }

  // The state that could not be stored.
  Result<void> AddNote(RunRecord& record) const {
    const std::string note = RunLock::NoteBeside(file_);
    if (record.state != RunState::kRunning || note.empty()) {
      return {};
    }
    const size_t end = note.find('\n');
    OPTIML_ASSIGN(record.state, ParseRunState(note.substr(0, end)));
    record.failure = end == std::string::npos ? "" : note.substr(end + 1);
    return {};
  }

  Result<void> LoadExpansions(RunRecord& record) {
    OPTIML_ASSIGN(std::vector<Row> rows,
                  database_.SelectRows("expansions", {"position", "node", "edits"}));
    for (Row& row : rows) {
      OPTIML_ASSIGN(std::vector<Edit> edits, ParseEdits(Text(row[2])));
      record.expansions.push_back({Integer(row[1]), std::move(edits)});
    }
    return {};
  }

  Result<void> LoadNodes(RunRecord& record) {
    OPTIML_ASSIGN(
        std::vector<Row> rows,
        database_.SelectRows("nodes", {"position", "id", "parent", "variant", "label", "outcome",
                                       "time_s", "total_reward", "duplicate_of", "told_at",
                                       "wall_time_ns", "edit", "source", "evaluation", "reward"}));
    for (Row& row : rows) {
      NodeRecord node;
      node.id = Integer(row[1]);
      node.parent = Integer(row[2]);
      node.variant = VariantId(Integer(row[3]));
      node.duplicate_of = Integer(row[8]);
      node.told_at = Text(row[9]);
      node.wall_time = std::chrono::nanoseconds(Integer(row[10]));
      OPTIML_ASSIGN(node.edit, ParseEdit(Text(row[11])));
      OPTIML_ASSIGN(node.source, Blob(row[12]));
      OPTIML_ASSIGN(node.evaluation, ParseEvaluation(Text(row[13])));
      OPTIML_ASSIGN(node.reward, ParseReward(Text(row[14])));
      record.nodes.push_back(std::move(node));
    }
    return {};
  }

  Result<void> LoadQuestions(RunRecord& record) {
    for (NodeRecord& node : record.nodes) {
      node.asked = node.id;
    }
    if (schema_ < kSchemaWithQuestions) {
      return {};
    }
    OPTIML_ASSIGN(const std::vector<Row> rows,
                  database_.SelectRows("questions", {"node", "asked", "expanded"}));
    for (const Row& row : rows) {
      const int64_t node = Integer(row[0]);
      if (node < 0 || static_cast<size_t>(node) >= record.nodes.size()) {
        return database_.Damaged(fmt::format("there are questions of node {}, which is not", node));
      }
      record.nodes[static_cast<size_t>(node)].asked = Integer(row[1]);
      record.nodes[static_cast<size_t>(node)].expanded = Integer(row[2]);
    }
    return {};
  }

  Result<void> LoadResult(RunRecord& record) {
    OPTIML_ASSIGN(std::vector<Row> results,
                  database_.SelectRows("result", {"only", "result", "best_source"}));
    if (results.empty()) {
      return {};
    }
    OPTIML_ASSIGN(RunResult result, ParseResult(Text(results.front()[1])));
    OPTIML_ASSIGN(result.best_source, Blob(results.front()[2]));
    OPTIML_ASSIGN(std::vector<Row> steps,
                  database_.SelectRows("chain", {"position", "mark", "edit", "time_s",
                                                 "time_without_s", "note", "source", "profile"}));
    for (Row& row : steps) {
      ChainStep step;
      OPTIML_ASSIGN(step.mark, ParseEditMark(Text(row[1])));
      OPTIML_ASSIGN(step.edit, ParseEdit(Text(row[2])));
      step.time_s = ToOptional(row[3]);
      step.time_without_s = ToOptional(row[4]);
      step.note = Text(row[5]);
      OPTIML_ASSIGN(step.source, Blob(row[6]));
      if (std::holds_alternative<std::string>(row[7])) {
        OPTIML_ASSIGN(step.profile, ParseProfile(Text(row[7])));
      }
      result.chain.push_back(std::move(step));
    }
    record.result = std::move(result);
    return {};
  }

  fs::path file_;
  std::optional<RunLock> lock_;  // given up after the connection is closed
  Database database_;
  int64_t schema_;  // of the file
  BlobMap blobs_;   // by hash, while Load runs
};

// Whether the file has all the pages that its header says (SQLite file format, section 1.3: the
// page size at byte 16, 1 standing for 65536, the number of pages at byte 28). SQLite takes an
// empty table whose page is cut off for whole.
bool HasAllPages(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<unsigned char, 32> header{};
  in.read(reinterpret_cast<char*>(header.data()), header.size());
  if (!in) {
    return false;
  }
  const auto number = [&](size_t at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) {
      value = value << 8 | header[at + i];
    }
    return value;
  };
  const uint64_t page = number(16, 2) == 1 ? 65536 : number(16, 2);
  std::error_code ignored;
  return fs::file_size(file, ignored) >= page * number(28, 4);
}

// Whether the file is ours, whole, and of a schema that we know. Returns its schema.
Result<int64_t> CheckFile(Database& database, const fs::path& file) {
  OPTIML_ASSIGN(const Value application, database.Scalar("PRAGMA application_id"));
  if (application != Value(kApplicationId)) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: not a store of OptiML: its header is another program's, or empty",
                             file.string()));
  }
  OPTIML_ASSIGN(const Value schema, database.Scalar("PRAGMA user_version"));
  if (Integer(schema) > kSchema || Integer(schema) < 1) {
    return Error(ErrorCode::kParse,
                 fmt::format("{}: store of schema {}, this program knows 1 to {}: use the version "
                             "of optiml that wrote it, or a newer one",
                             file.string(), Integer(schema), kSchema));
  }
  if (!HasAllPages(file)) {
    return database.Damaged("it is shorter than its header says");
  }
  OPTIML_ASSIGN(const Value check, database.Scalar("PRAGMA quick_check(1)"));
  if (check != Value(std::string("ok"))) {
    const auto* text = std::get_if<std::string>(&check);
    return database.Damaged(text == nullptr ? "quick_check says nothing" : *text);
  }
  return Integer(schema);
}

// Applies what is missing, in one transaction with whatever else the caller puts into it.
Result<void> Migrate(Database& database, int64_t from) {
  for (int64_t version = from; version < kSchema; ++version) {
    OPTIML_TRY(database.Execute(kMigrations[static_cast<size_t>(version)]));
  }
  OPTIML_TRY(database.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  return database.Execute(fmt::format("PRAGMA user_version = {}", kSchema));
}

Result<void> PrepareForWriting(Database& database) {
  // FULL syncs the log at each commit: a power cut loses nothing committed either.
  OPTIML_TRY(database.Execute("PRAGMA synchronous = FULL"));
  // With a reader in the way the file keeps its rollback journal, which is as safe.
  [[maybe_unused]] const bool write_ahead =
      database.Execute("PRAGMA journal_mode = WAL").has_value();
  return {};
}

Result<void> WriteNewFile(const fs::path& file, const RunRecord& header) {
  OPTIML_ASSIGN(Database database, Database::Open(file, Mode::kCreate));
  OPTIML_TRY(database.Execute("PRAGMA synchronous = FULL"));
  OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database));
  OPTIML_TRY(Migrate(database, 0));
  OPTIML_TRY(WriteHeader(database, header));
  return transaction.Commit();
}

}  // namespace

Result<std::unique_ptr<RunStore>> RunStore::Create(const std::filesystem::path& file,
                                                   const RunRecord& header) {
  OPTIML_ASSIGN(RunLock lock, RunLock::Take(file));
  const fs::path draft = file.string() + ".new";
  unlink(draft.c_str());  // of a process that was killed while it made one
  Result<void> written = WriteNewFile(draft, header);
  if (written && link(draft.c_str(), file.c_str()) != 0) {
    written = errno == EEXIST
                  ? Error(ErrorCode::kInvalidArgument,
                          fmt::format("{}: there is a run already", file.string()))
                  : Error(ErrorCode::kIo, fmt::format("{}: cannot create: {}", file.string(),
                                                      std::strerror(errno)));
  }
  unlink(draft.c_str());
  OPTIML_TRY(std::move(written));
  OPTIML_ASSIGN(Database database, Database::Open(file, Mode::kWrite));
  OPTIML_TRY(PrepareForWriting(database));
  return std::unique_ptr<RunStore>(
      std::make_unique<SqliteRunStore>(file, std::move(database), std::move(lock), kSchema));
}

Result<std::unique_ptr<RunStore>> RunStore::Open(const std::filesystem::path& file,
                                                 bool read_only) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    return Error(ErrorCode::kNotFound, fmt::format("{}: no such store", file.string()));
  }
  OPTIML_ASSIGN(Database database,
                Database::Open(file, read_only ? Mode::kReadOnly : Mode::kWrite));
  OPTIML_ASSIGN(const int64_t schema, CheckFile(database, file));
  std::optional<RunLock> lock;
  if (!read_only) {
    OPTIML_ASSIGN(RunLock taken, RunLock::Take(file));
    lock.emplace(std::move(taken));
    OPTIML_TRY(PrepareForWriting(database));
    OPTIML_ASSIGN(Transaction transaction, Transaction::Begin(database));
    OPTIML_TRY(Migrate(database, schema));
    OPTIML_TRY(transaction.Commit());
  }
  return std::unique_ptr<RunStore>(std::make_unique<SqliteRunStore>(
      file, std::move(database), std::move(lock), read_only ? schema : kSchema));
}

}  // namespace optiml
