#include "store/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>

#include <sqlite3.h>

#include "base/file_system.h"
#include "base/rng.h"
#include "store/sample_record.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;

class RunStoreTest : public ::testing::Test {
 protected:
  RunStoreTest() : folder_(*TemporaryDirectory::Create("store")) {}
  fs::path file() const { return folder_.path() / "run.sqlite"; }

  std::unique_ptr<RunStore> MustCreate(const RunRecord& header = SampleHeader()) {
    auto store = RunStore::Create(file(), header);
    EXPECT_TRUE(store) << store.error().message();
    return *std::move(store);
  }
  std::unique_ptr<RunStore> MustOpen(bool read_only = false) {
    auto store = RunStore::Open(file(), read_only);
    EXPECT_TRUE(store) << store.error().message();
    return *std::move(store);
  }
  static void Fill(RunStore& store, const RunRecord& record) {
    ASSERT_TRUE(store.SaveBattery(record.battery));
    ASSERT_TRUE(store.SaveLifts(record.lifts));
    for (const ExpansionRecord& expansion : record.expansions) {
      ASSERT_TRUE(store.AppendExpansion(expansion));
    }
    for (const NodeRecord& node : record.nodes) {
      ASSERT_TRUE(store.AppendNode(node));
    }
    for (const ExchangeRecord& exchange : record.exchanges) {
      ASSERT_TRUE(store.AppendExchange(exchange));
    }
    for (const TrialRecord& trial : record.trials) {
      ASSERT_TRUE(store.AppendTrial(trial));
    }
    ASSERT_TRUE(store.SaveResult(*record.result));
    ASSERT_TRUE(store.SetState(record.state, record.failure));
  }
  // One statement of another program on the file.
  void Sql(const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &connection), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }
  Error OpenError(bool read_only = true) {
    auto store = RunStore::Open(file(), read_only);
    EXPECT_FALSE(store);
    return store ? Error(ErrorCode::kInternal, "") : std::move(store).error();
  }

  TemporaryDirectory folder_;
};

TEST_F(RunStoreTest, LoadsWhatWasWritten) {
  const RunRecord record = SampleRecord();
  auto store = MustCreate();
  Fill(*store, record);
  EXPECT_EQ(DumpRecord(*store->Load()), DumpRecord(record));
  store.reset();
  EXPECT_EQ(DumpRecord(*MustOpen(true)->Load()), DumpRecord(record));
}

TEST_F(RunStoreTest, FreshStoreHoldsTheHeaderOnly) {
  auto store = MustCreate();
  const Result<RunRecord> record = store->Load();
  ASSERT_TRUE(record) << record.error().message();
  EXPECT_EQ(DumpRecord(*record), DumpRecord(SampleHeader()));
  EXPECT_FALSE(record->result);
}

TEST_F(RunStoreTest, SavingAgainReplacesBatteryLiftsAndResult) {
  RunRecord record = SampleRecord();
  auto store = MustCreate();
  Fill(*store, record);
  record.battery.pop_back();
  record.lifts.pop_back();
  record.result->chain.pop_back();
  record.result->improved = false;
  ASSERT_TRUE(store->SaveBattery(record.battery));
  ASSERT_TRUE(store->SaveLifts(record.lifts));
  ASSERT_TRUE(store->SaveResult(*record.result));
  EXPECT_EQ(DumpRecord(*store->Load()), DumpRecord(record));
}

TEST_F(RunStoreTest, AClosedStoreIsOneFile) {
  Fill(*MustCreate(), SampleRecord());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("run.sqlite", "run.sqlite.lock"));
}

TEST_F(RunStoreTest, AReaderSeesARunningRun) {
  auto writer = MustCreate();
  ASSERT_TRUE(writer->AppendNode(SampleRecord().nodes[0]));
  auto reader = MustOpen(true);
  EXPECT_EQ(reader->Load()->nodes.size(), 1U);
  ASSERT_TRUE(writer->AppendNode(SampleRecord().nodes[1]));
  EXPECT_EQ(reader->Load()->nodes.size(), 2U);
}

TEST_F(RunStoreTest, AReaderCannotWrite) {
  MustCreate();
  const Result<void> written = MustOpen(true)->SetState(RunState::kFailed, "x");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message(), HasSubstr("run.sqlite: cannot write"));
}

TEST_F(RunStoreTest, OnlyOneProcessWrites) {
  auto first = MustCreate();
  const Error error = OpenError(false);
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("another process works on this run"));
  first.reset();
  MustOpen(false);
}

TEST_F(RunStoreTest, DoesNotOverwriteARun) {
  MustCreate();
  const auto again = RunStore::Create(file(), SampleHeader());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(again.error().message(), HasSubstr("there is a run already"));
  EXPECT_EQ(DumpRecord(*MustOpen(true)->Load()), DumpRecord(SampleHeader()));
}

TEST_F(RunStoreTest, AnUnwritableFolderIsOneMessage) {
  const auto store = RunStore::Create(folder_.path() / "absent" / "run.sqlite", SampleHeader());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kIo);
  EXPECT_THAT(store.error().message(), HasSubstr("No such file"));
}

TEST_F(RunStoreTest, AMissingStoreIsNotFound) {
  EXPECT_EQ(OpenError().code(), ErrorCode::kNotFound);
}

TEST_F(RunStoreTest, RefusesAFileThatIsNoStore) {
  for (const std::string& contents :
       {std::string(), std::string("hello"), std::string(100000, 'x')}) {
    std::ofstream(file(), std::ios::trunc) << contents;
    const Error error = OpenError();
    EXPECT_EQ(error.code(), ErrorCode::kParse);
    EXPECT_THAT(error.message(), HasSubstr("run.sqlite: not a store of OptiML"));
    EXPECT_EQ(*ReadFile(file()), contents);
  }
}

TEST_F(RunStoreTest, RefusesTheDatabaseOfAnotherProgram) {
  Sql("CREATE TABLE nodes(a)");
  EXPECT_THAT(OpenError().message(), HasSubstr("not a store of OptiML"));
}

TEST_F(RunStoreTest, RefusesANewerSchema) {
  MustCreate();
  Sql("PRAGMA user_version = 99");
  EXPECT_THAT(OpenError().message(), HasSubstr("store of schema 99"));
  EXPECT_THAT(OpenError(false).message(), HasSubstr("store of schema 99"));
}

TEST_F(RunStoreTest, KeepsHowManyQuestionsHadBeenAsked) {
  RunRecord record = SampleRecord();
  record.nodes[1].asked = 4;  // three more were under way
  record.nodes[1].expanded = 2;
  Fill(*MustCreate(), record);
  const Result<RunRecord> loaded = MustOpen(true)->Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->nodes[0].asked, 0);
  EXPECT_EQ(loaded->nodes[1].asked, 4);
  EXPECT_EQ(loaded->nodes[1].expanded, 2);
}

constexpr char kDropModelTables[] =
    "DROP TABLE exchanges; DROP TABLE trials; DROP TABLE notes; DROP TABLE diagnoses; DROP TABLE "
    "judgements; ";

TEST_F(RunStoreTest, AStoreWithoutModelsIsReadAndBroughtUp) {
  Fill(*MustCreate(), SampleRecord());
  Sql(std::string(kDropModelTables) + "PRAGMA user_version = 2");
  const Result<RunRecord> loaded = MustOpen(true)->Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_TRUE(loaded->exchanges.empty());
  auto store = MustOpen(false);
  ASSERT_TRUE(store->AppendExchange(SampleRecord().exchanges[0]));
  ASSERT_TRUE(store->AppendTrial(SampleRecord().trials[0]));
  EXPECT_EQ(store->Load()->exchanges[0].reply, "{}");
  EXPECT_EQ(store->Load()->trials[0].note.proposer, "a-model");
}

TEST_F(RunStoreTest, NoticesAJudgementOfNoNode) {
  Fill(*MustCreate(), SampleRecord());
  Sql("UPDATE judgements SET node = 77");
  EXPECT_FALSE(MustOpen(true)->Load());
}

TEST_F(RunStoreTest, AStoreOfTheFirstSchemaIsReadAndBroughtUp) {
  Fill(*MustCreate(), SampleRecord());
  Sql(std::string(kDropModelTables) + "DROP TABLE questions; PRAGMA user_version = 1");
  const Result<RunRecord> loaded = MustOpen(true)->Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->nodes[1].asked, 1);  // one after the other
  ASSERT_TRUE(MustOpen(false)->Load());
  EXPECT_EQ(MustOpen(true)->Load()->nodes.size(), loaded->nodes.size());
}

TEST_F(RunStoreTest, NoticesAMissingTable) {
  MustCreate();
  Sql("DROP TABLE chain; DROP TABLE lifts");
  const Result<RunRecord> record = MustOpen(true)->Load();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message(), HasSubstr("damaged store: no such table: lifts"));
}

TEST_F(RunStoreTest, NoticesAChangedRow) {
  Fill(*MustCreate(), SampleRecord());
  Sql("UPDATE nodes SET reward = replace(reward, '0.7', '0.8') WHERE id = 1");
  const Result<RunRecord> record = MustOpen(true)->Load();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message(), HasSubstr("row 1 of table nodes has another checksum"));
}

TEST_F(RunStoreTest, ATruncatedFileIsAnErrorAtEveryLength) {
  Fill(*MustCreate(), SampleRecord());
  const std::string whole = *ReadFile(file());
  for (size_t length = 0; length < whole.size(); length += 997) {
    std::ofstream(file(), std::ios::trunc) << whole.substr(0, length);
    auto store = RunStore::Open(file(), true);
    const std::string message = !store ? store.error().message() : [&] {
      const Result<RunRecord> record = (*store)->Load();
      return record ? std::string("loaded") : record.error().message();
    }();
    EXPECT_THAT(message, HasSubstr("run.sqlite: ")) << length;
  }
}

// Damage is found, or lies where nothing is kept.
TEST_F(RunStoreTest, AGarbledFileNeverGivesAnotherRecord) {
  const RunRecord record = SampleRecord();
  Fill(*MustCreate(), record);
  const std::string whole = *ReadFile(file());
  const std::string expected = DumpRecord(record);
  Rng rng(7);
  int noticed = 0;
  for (int round = 0; round < 250; ++round) {
    std::string garbled = whole;
    const uint64_t begin = rng.NextBelow(garbled.size());
    const uint64_t size = 1 + rng.NextBelow(round % 3 == 0 ? 1 : 300);
    for (uint64_t i = begin; i < std::min<uint64_t>(begin + size, garbled.size()); ++i) {
      garbled[i] = static_cast<char>(rng.Next());
    }
    std::ofstream(file(), std::ios::trunc) << garbled;
    auto store = RunStore::Open(file(), true);
    if (!store) {
      EXPECT_THAT(store.error().message(), HasSubstr("run.sqlite: "));
      ++noticed;
      continue;
    }
    const Result<RunRecord> loaded = (*store)->Load();
    if (!loaded) {
      EXPECT_THAT(loaded.error().message(), HasSubstr("run.sqlite: "));
      ++noticed;
      continue;
    }
    EXPECT_EQ(DumpRecord(*loaded), expected) << "round " << round;
  }
  EXPECT_GT(noticed, 30);
}

// A file-size limit stands for the full disk: the system refuses the write in the same place.
TEST_F(RunStoreTest, AFullDiskIsAnErrorAndLosesNothingCommitted) {
  auto store = MustCreate();
  struct sigaction before;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit small = old_limit;
  small.rlim_cur = 400'000;
  setrlimit(RLIMIT_FSIZE, &small);
  NodeRecord node = SampleRecord().nodes[1];
  size_t written = 0;
  std::string message;
  for (int64_t id = 0; id < 100 && message.empty(); ++id) {
    node.id = id;
    node.source = std::string(20'000, 'a') + std::to_string(id);
    const Result<void> appended = store->AppendNode(node);
    if (appended) {
      ++written;
    } else {
      message = appended.error().message();
      EXPECT_EQ(appended.error().code(), ErrorCode::kIo);
    }
  }
  setrlimit(RLIMIT_FSIZE, &old_limit);
  sigaction(SIGXFSZ, &before, nullptr);
  EXPECT_THAT(message, HasSubstr("run.sqlite: cannot write"));
  EXPECT_GT(written, 2U);
  EXPECT_EQ(store->Load()->nodes.size(), written);
  node.id = static_cast<int64_t>(written);
  EXPECT_TRUE(store->AppendNode(node));
  store.reset();
  const auto loaded = MustOpen()->Load();
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->nodes.size(), written + 1);
}

TEST_F(RunStoreTest, AStateThatTheDiskHasNoRoomForIsNotLost) {
  struct sigaction before;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  auto store = MustCreate();
  ASSERT_TRUE(store->AppendNode(SampleRecord().nodes[0]));
  rlimit small = old_limit;
  small.rlim_cur = 8'192;  // less than the log holds already
  setrlimit(RLIMIT_FSIZE, &small);
  const Result<void> noted = store->SetState(RunState::kFailed, "nodes: the disk is full");
  store.reset();
  setrlimit(RLIMIT_FSIZE, &old_limit);
  sigaction(SIGXFSZ, &before, nullptr);
  ASSERT_FALSE(noted);
  for (int reading = 0; reading < 2; ++reading) {
    const Result<RunRecord> record = MustOpen(true)->Load();
    ASSERT_TRUE(record) << record.error().message();
    EXPECT_EQ(record->state, RunState::kFailed);
    EXPECT_EQ(record->failure, "nodes: the disk is full");
    EXPECT_EQ(record->nodes.size(), 1U);
  }
  // It is over once somebody works on the run again.
  store = MustOpen();
  EXPECT_EQ(MustOpen(true)->Load()->state, RunState::kRunning);
  ASSERT_TRUE(store->SetState(RunState::kFinished, ""));
  store.reset();
  EXPECT_EQ(MustOpen(true)->Load()->state, RunState::kFinished);
}

// Runs `body` in a process that may read the folder but not write it; returns whether it was true.
bool WhereNothingCanBeWritten(const fs::path& folder, const std::function<bool()>& body) {
  chmod(folder.c_str(), 0555);
  for (const auto& entry : fs::directory_iterator(folder)) {
    chmod(entry.path().c_str(), 0444);
  }
  const pid_t child = fork();
  if (child == 0) {
    const bool lowered = getuid() != 0 || setuid(65534) == 0;  // root may write anything
    _exit(lowered && access(folder.c_str(), W_OK) != 0 && body() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  chmod(folder.c_str(), 0755);
  return status == 0;
}

TEST_F(RunStoreTest, AReaderNeedsNoRightToWrite) {
  Fill(*MustCreate(), SampleRecord());
  const std::string expected = DumpRecord(SampleRecord());
  const auto reads_it = [&] {
    const auto store = RunStore::Open(file(), true);
    const Result<RunRecord> record = store ? (*store)->Load() : store.error();
    fprintf(stderr, "%s\n", record ? "read" : record.error().message().c_str());
    return record && DumpRecord(*record) == expected;
  };
  EXPECT_TRUE(WhereNothingCanBeWritten(folder_.path(), reads_it));
  // As a writer leaves it that closes while another one reads.
  chmod(file().c_str(), 0644);
  Sql("PRAGMA journal_mode = WAL");
  EXPECT_TRUE(WhereNothingCanBeWritten(folder_.path(), reads_it));
}

TEST_F(RunStoreTest, AReaderWithoutTheRightToWriteSeesWhatAKilledWriterLogged) {
  const pid_t writer = fork();
  if (writer == 0) {
    auto store = RunStore::Create(file(), SampleHeader());
    const bool written = store && (*store)->AppendNode(SampleRecord().nodes[0]).has_value();
    if (written) {
      kill(getpid(), SIGKILL);
    }
    _exit(1);
  }
  waitpid(writer, nullptr, 0);
  ASSERT_GT(fs::file_size(file().string() + "-wal"), 0U);
  const auto reads_it = [&] {
    const auto store = RunStore::Open(file(), true);
    const Result<RunRecord> record = store ? (*store)->Load() : store.error();
    fprintf(stderr, "%s\n", record ? "read" : record.error().message().c_str());
    return record && record->nodes.size() == 1;
  };
  EXPECT_TRUE(WhereNothingCanBeWritten(folder_.path(), reads_it));
  ASSERT_GT(fs::file_size(file().string() + "-wal"), 0U);
  fs::remove(file().string() + "-shm");  // as after a restart of some machines, or in a copy
  EXPECT_TRUE(WhereNothingCanBeWritten(folder_.path(), reads_it));
  EXPECT_EQ(MustOpen(true)->Load()->nodes.size(), 1U);
}

TEST_F(RunStoreTest, AFullDiskAtCreationLeavesNoStore) {
  struct sigaction before;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit small = old_limit;
  small.rlim_cur = 10'000;
  setrlimit(RLIMIT_FSIZE, &small);
  const auto store = RunStore::Create(file(), SampleHeader());
  setrlimit(RLIMIT_FSIZE, &old_limit);
  sigaction(SIGXFSZ, &before, nullptr);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code(), ErrorCode::kIo);
  EXPECT_FALSE(fs::exists(file()));
  MustCreate();
}

// The child reports each commit through a pipe and is killed at once, in the midst of its writing.
TEST_F(RunStoreTest, KillLosesNothingCommitted) {
  MustCreate();
  for (int round = 0; round < 5; ++round) {
    const size_t before = MustOpen(true)->Load()->nodes.size();
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = RunStore::Open(file(), false);
      if (!store) {
        _exit(1);
      }
      NodeRecord node = SampleRecord().nodes[1];
      node.judgement.reset();  // which belongs to a node that is there
      for (node.id = round * 100000; true; ++node.id) {
        node.source = std::to_string(node.id);
        if (!(*store)->AppendNode(node) || write(ends[1], "x", 1) != 1) {
          _exit(1);
        }
      }
    }
    close(ends[1]);
    char committed[8];
    size_t count = 0;
    while (count < 4 + static_cast<size_t>(round)) {
      const ssize_t n = read(ends[0], committed, 1);
      ASSERT_EQ(n, 1);
      ++count;
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(ends[0], committed, 1) == 1) {
      ++count;
    }
    close(ends[0]);
    auto store = MustOpen(false);
    const Result<RunRecord> record = store->Load();
    ASSERT_TRUE(record) << record.error().message();
    // One more may have been committed without having been reported.
    EXPECT_GE(record->nodes.size(), before + count);
    EXPECT_LE(record->nodes.size(), before + count + 1);
  }
}

TEST_F(RunStoreTest, OptionsAreReplacedAndNothingElse) {
  const RunRecord record = SampleRecord();
  auto store = MustCreate(record);
  Fill(*store, record);
  RunRecord expected = *store->Load();
  expected.options["candidates"] = "77";
  expected.options.erase("time");
  ASSERT_TRUE(store->SaveOptions(expected.options));
  EXPECT_EQ(DumpRecord(*store->Load()), DumpRecord(expected));
  store.reset();
  EXPECT_EQ(DumpRecord(*MustOpen(true)->Load()), DumpRecord(expected));
}

TEST_F(RunStoreTest, StepTimesKeepEveryDigit) {
  RunRecord record = SampleRecord();
  record.result->chain[0].time_s = 1.0000001e-6;
  const std::string before = DumpRecord(record);
  record.result->chain[0].time_s = 1.0000002e-6;
  EXPECT_NE(DumpRecord(record), before);
  auto store = MustCreate(record);
  Fill(*store, record);
  EXPECT_EQ(store->Load()->result->chain[0].time_s, 1.0000002e-6);
}

}  // namespace
}  // namespace optiml
