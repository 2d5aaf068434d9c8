#ifndef OPTIML_STORE_MODEL_TABLES_H_
#define OPTIML_STORE_MODEL_TABLES_H_

// The tables of a run that say what language models were asked and what came of it (schema 3):
// exchanges, trials, diagnoses, judgements.

#include "base/result.h"
#include "store/row_values.h"
#include "store/run_record.h"

namespace optiml {

// Within the caller's transaction.
Result<void> InsertExchange(sqlite::Database& database, const ExchangeRecord& exchange);
Result<void> InsertTrial(sqlite::Database& database, const TrialRecord& trial);

// REQUIRES: the record's expansions and nodes were loaded.
Result<void> LoadModelTables(sqlite::Database& database, const sqlite::BlobMap& blobs,
                             RunRecord& record);

}  // namespace optiml

#endif  // OPTIML_STORE_MODEL_TABLES_H_
