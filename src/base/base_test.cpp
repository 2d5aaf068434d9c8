#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "base/file_system.h"
#include "base/memory_limits.h"
#include "base/parallel.h"
#include "base/process.h"
#include "base/result.h"
#include "base/rng.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<int> Half(int x) {
  if (x % 2 != 0) {
    return Error(ErrorCode::kInvalidArgument, "odd");
  }
  return x / 2;
}

Result<int> Quarter(int x) {
  OPTIML_ASSIGN(const int half, Half(x));
  OPTIML_TRY(Half(half));
  return half / 2;
}

TEST(Result, AssignAndTryReturnTheFirstError) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(7).error().message(), "odd");
  EXPECT_EQ(Quarter(6).error().message(), "odd");
  EXPECT_EQ(Error(ErrorCode::kIo, "b").WithContext("a").message(), "a: b");
}

TEST(CheckDeathTest, StopsTheProgramWithTheReason) {
  EXPECT_DEATH(OPTIML_CHECK(1 == 2, "arithmetic broke"), "arithmetic broke");
}

TEST(ContentHash, IsSha256AndRoundTrips) {
  // The test vector of FIPS 180-2, appendix B.1.
  const ContentHash hash = ContentHash::Of(std::string_view("abc"));
  EXPECT_EQ(hash.Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*ContentHash::Parse(hash.Hex()), hash);
  EXPECT_FALSE(ContentHash::Parse("12").has_value());
  EXPECT_FALSE(ContentHash::Parse(std::string(64, 'G')).has_value());
}

TEST(ContentHash, FieldsDoNotRunTogether) {
  EXPECT_NE(ContentHasher().Add("ab").Add("c").Finish(),
            ContentHasher().Add("a").Add("bc").Finish());
}

TEST(Rng, IsReproducibleAndBounded) {
  Rng a(7);
  Rng b(7);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = a.NextBelow(10);
    EXPECT_EQ(value, b.NextBelow(10));
    EXPECT_LT(value, 10u);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 10u);
  b.SkipTo(5);
  Rng c(7);
  for (int i = 0; i < 5; ++i) {
    c.Next();
  }
  EXPECT_EQ(b.Next(), c.Next());
}

TEST(Files, WriteIsAtomicAndErrorsNameThePath) {
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder.has_value());
  const fs::path file = folder->path() / "a.txt";
  ASSERT_TRUE(WriteFileAtomically(file, "one").has_value());
  ASSERT_TRUE(WriteFileAtomically(file, "two").has_value());
  EXPECT_EQ(*ReadFile(file), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 1);
  EXPECT_THAT(ReadFile(folder->path() / "none").error().message(), HasSubstr("none"));
  EXPECT_EQ(ReadFile(folder->path() / "none").error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(WriteFileAtomically(folder->path() / "no/such/folder", "x").has_value());
  EXPECT_FALSE(ReadFile(file, 2).has_value());
}

TEST(Files, ThreadsThatWriteOneFileLeaveAWholeOne) {
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path() / "file";
  ASSERT_TRUE(WriteFileAtomically(path, ""));
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    writers.emplace_back([&path, letter] {
      for (int i = 0; i < 50; ++i) {
        const auto written = WriteFileAtomically(path, std::string(100'000, letter));
        EXPECT_TRUE(written) << written.error().message();
        const auto read = ReadFile(path);
        ASSERT_TRUE(read) << read.error().message();
        EXPECT_EQ(*read, std::string(100'000, (*read)[0]));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
}

TEST(Files, AFullDiskLeavesTheOldFileAndNoTemporary) {
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder.has_value());
  const fs::path file = folder->path() / "a.txt";
  ASSERT_TRUE(WriteFileAtomically(file, "old").has_value());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit tight{1024, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  const auto written = WriteFileAtomically(file, std::string(1 << 20, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(written.has_value());
  EXPECT_EQ(*ReadFile(file), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), fs::directory_iterator()), 1);
}

TEST(Files, ATemporaryDirectoryEndsWithItsOwner) {
  fs::path path;
  {
    auto folder = TemporaryDirectory::Create("optiml-test-");
    ASSERT_TRUE(folder.has_value());
    path = folder->path();
    const TemporaryDirectory moved = *std::move(folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Memory, TheSmallestOfWhatTheMachineAndTheGroupLeave) {
  const TemporaryDirectory root = *TemporaryDirectory::Create("optiml-memory-");
  const auto write = [&](const std::string& name, const std::string& text) {
    const fs::path file = root.path() / name;
    ASSERT_TRUE(CreateDirectories(file.parent_path()));
    ASSERT_TRUE(WriteFileAtomically(file, text));
  };
  EXPECT_EQ(AvailableMemoryBytes(root.path()), std::nullopt);
  write("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:    64 kB\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 65536U);
  write("sys/fs/cgroup/memory.max", "max\n");
  write("sys/fs/cgroup/memory.current", "1000\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 65536U);
  write("sys/fs/cgroup/memory.max", "31000\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 30000U);
  write("sys/fs/cgroup/memory.current", "40000\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 0U);
  write("sys/fs/cgroup/memory.stat", "anon 7\ninactive_file 20000\nactive_file 9\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 11000U);
}

TEST(Parallel, EveryElementBelongsToOnePiece) {
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{8}, int64_t{1000}}) {
    std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
    std::vector<std::atomic<int>> pieces(static_cast<size_t>(PieceCount(count, 8)));
    ForEachPiece(
        count,
        [&](int64_t piece, int64_t begin, int64_t end) {
          ++pieces[static_cast<size_t>(piece)];
          EXPECT_EQ(begin, piece * 8);
          for (int64_t i = begin; i < end; ++i) {
            ++visits[static_cast<size_t>(i)];
          }
        },
        8);
    EXPECT_TRUE(std::ranges::all_of(visits, [](int n) { return n == 1; })) << count;
    EXPECT_TRUE(std::ranges::all_of(pieces, [](int n) { return n == 1; })) << count;
  }
}

TEST(Parallel, AnExceptionReachesTheCaller) {
  const auto fail = [](int64_t, int64_t begin, int64_t) {
    if (begin == 40) {
      throw std::runtime_error("piece 5");
    }
  };
  EXPECT_THROW(ForEachPiece(100, fail, 8), std::runtime_error);
}

TEST(Parallel, CopyBytesCopiesWhatIsLargerThanAPiece) {
  std::vector<std::byte> from((size_t{40} << 20) + 13);
  for (size_t i = 0; i < from.size(); i += 97) {
    from[i] = std::byte{static_cast<uint8_t>(i / 97)};
  }
  from.back() = std::byte{9};
  std::vector<std::byte> to(from.size());
  CopyBytes(to.data(), from.data(), from.size());
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace optiml
