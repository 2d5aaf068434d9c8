#include "store/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "store/serialise.h"

namespace optiml {
namespace {

using sqlite::BlobMap;
using sqlite::Database;
using sqlite::FindBlob;
using sqlite::Integer;
using sqlite::NextPosition;
using sqlite::PutBlob;
using sqlite::Row;
using sqlite::Text;
using sqlite::ToOptional;

Result<void> LoadExchanges(Database& database, const BlobMap& blobs, RunRecord& record) {
  OPTIML_ASSIGN(std::vector<Row> rows,
                database.SelectRows(
                    "exchanges", {"position", "node", "role", "prompt", "model", "request", "reply",
                                  "failure", "outcome", "prompt_tokens", "completion_tokens",
                                  "tokens_estimated", "dollars", "wall_time_ns"}));
  for (Row& row : rows) {
    ExchangeRecord exchange;
    exchange.node = Integer(row[1]);
    exchange.role = Text(row[2]);
    exchange.prompt = Text(row[3]);
    exchange.model = Text(row[4]);
    OPTIML_ASSIGN(exchange.request, FindBlob(database, blobs, row[5]));
    OPTIML_ASSIGN(exchange.reply, FindBlob(database, blobs, row[6]));
    exchange.failure = Text(row[7]);
    exchange.outcome = Text(row[8]);
    exchange.prompt_tokens = Integer(row[9]);
    exchange.completion_tokens = Integer(row[10]);
    exchange.tokens_estimated = Integer(row[11]) != 0;
    exchange.dollars = ToOptional(row[12]).value_or(0);
    exchange.wall_time = std::chrono::nanoseconds(Integer(row[13]));
    record.exchanges.push_back(std::move(exchange));
  }
  return {};
}

Result<void> LoadTrials(Database& database, const BlobMap& blobs, RunRecord& record) {
  OPTIML_ASSIGN(
      std::vector<Row> rows,
      database.SelectRows("trials", {"position", "node", "label", "edit", "note", "source",
                                     "evaluation", "kept", "reason", "wall_time_ns"}));
  for (Row& row : rows) {
    TrialRecord trial;
    trial.node = Integer(row[1]);
    OPTIML_ASSIGN(trial.edit, ParseEdit(Text(row[3])));
    OPTIML_ASSIGN(std::vector<EditNote> notes, ParseNotes(Text(row[4])));
    if (notes.size() != 1) {
      return database.Damaged("a trial has not one note");
    }
    trial.note = std::move(notes.front());
    OPTIML_ASSIGN(trial.source, FindBlob(database, blobs, row[5]));
    OPTIML_ASSIGN(trial.evaluation, ParseEvaluation(Text(row[6])));
    trial.kept = Integer(row[7]) != 0;
    trial.reason = Text(row[8]);
    trial.wall_time = std::chrono::nanoseconds(Integer(row[9]));
    record.trials.push_back(std::move(trial));
  }
  return {};
}

Result<ExpansionRecord*> ExpansionOf(Database& database, RunRecord& record, int64_t node) {
  const auto expansion = std::find_if(record.expansions.begin(), record.expansions.end(),
                                      [&](const ExpansionRecord& one) { return one.node == node; });
  if (expansion == record.expansions.end()) {
    return database.Damaged(fmt::format("notes of node {}, which was not expanded", node));
  }
  return &*expansion;
}

Result<void> LoadNotes(Database& database, RunRecord& record) {
  OPTIML_ASSIGN(std::vector<Row> notes, database.SelectRows("notes", {"node", "notes"}));
  for (Row& row : notes) {
    OPTIML_ASSIGN(ExpansionRecord * expansion, ExpansionOf(database, record, Integer(row[0])));
    OPTIML_ASSIGN(expansion->notes, ParseNotes(Text(row[1])));
    if (expansion->notes.size() != expansion->edits.size()) {
      return database.Damaged(fmt::format("node {} has not a note for each edit", expansion->node));
    }
  }
  OPTIML_ASSIGN(std::vector<Row> rows, database.SelectRows("diagnoses", {"node", "diagnosis"}));
  for (Row& row : rows) {
    OPTIML_ASSIGN(ExpansionRecord * expansion, ExpansionOf(database, record, Integer(row[0])));
    OPTIML_ASSIGN(expansion->diagnosis, ParseDiagnosis(Text(row[1])));
  }
  return {};
}

Result<void> LoadJudgements(Database& database, RunRecord& record) {
  OPTIML_ASSIGN(std::vector<Row> rows, database.SelectRows("judgements", {"node", "judgement"}));
  for (Row& row : rows) {
    const int64_t node = Integer(row[0]);
    if (node < 0 || static_cast<size_t>(node) >= record.nodes.size()) {
      return database.Damaged(fmt::format("a judgement of node {}, which is not", node));
    }
    OPTIML_ASSIGN(record.nodes[static_cast<size_t>(node)].judgement, ParseJudgement(Text(row[1])));
  }
  return {};
}

}  // namespace

Result<void> InsertExchange(Database& database, const ExchangeRecord& exchange) {
  OPTIML_ASSIGN(const int64_t position, NextPosition(database, "exchanges"));
  OPTIML_ASSIGN(std::string request, PutBlob(database, exchange.request));
  OPTIML_ASSIGN(std::string reply, PutBlob(database, exchange.reply));
  return database.InsertRow("exchanges", {{"position", position},
                                          {"node", exchange.node},
                                          {"role", exchange.role},
                                          {"prompt", exchange.prompt},
                                          {"model", exchange.model},
                                          {"request", std::move(request)},
                                          {"reply", std::move(reply)},
                                          {"failure", exchange.failure},
                                          {"outcome", exchange.outcome},
                                          {"prompt_tokens", exchange.prompt_tokens},
                                          {"completion_tokens", exchange.completion_tokens},
                                          {"tokens_estimated", int64_t{exchange.tokens_estimated}},
                                          {"dollars", exchange.dollars},
                                          {"wall_time_ns", int64_t{exchange.wall_time.count()}}});
}

Result<void> InsertTrial(Database& database, const TrialRecord& trial) {
  OPTIML_ASSIGN(const int64_t position, NextPosition(database, "trials"));
  OPTIML_ASSIGN(std::string source, PutBlob(database, trial.source));
  return database.InsertRow("trials", {{"position", position},
                                       {"node", trial.node},
                                       {"label", trial.edit.Label()},
                                       {"edit", FormatEdit(trial.edit)},
                                       {"note", FormatNotes({trial.note})},
                                       {"source", std::move(source)},
                                       {"evaluation", FormatEvaluation(trial.evaluation)},
                                       {"kept", int64_t{trial.kept}},
                                       {"reason", trial.reason},
                                       {"wall_time_ns", int64_t{trial.wall_time.count()}}});
}

Result<void> LoadModelTables(Database& database, const BlobMap& blobs, RunRecord& record) {
  OPTIML_TRY(LoadExchanges(database, blobs, record));
  OPTIML_TRY(LoadTrials(database, blobs, record));
  OPTIML_TRY(LoadNotes(database, record));
  return LoadJudgements(database, record);
}

}  // namespace optiml
