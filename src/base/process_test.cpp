// Child processes: their limits, their ends, and the sandbox.
#include "base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/line_server.h"

namespace optiml {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ProcessRequest Shell(const std::string& script) {
  ProcessRequest request;
  request.argv = {"sh", "-c", script};
  return request;
}

TEST(Process, CollectsOutputAndExitCode) {
  ProcessRequest request = Shell("cat; echo err >&2; exit 7");
  request.standard_input = std::string(1 << 20, 'x');
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->exit_code, 7);
  EXPECT_EQ(outcome->standard_output.size(), size_t{1} << 20);
  EXPECT_EQ(outcome->standard_error, "err\n");
}

TEST(Process, KillsTheWholeGroupAtTheTimeLimit) {
  ProcessRequest request = Shell("sleep 100 & sleep 100");
  request.limits.wall_time = std::chrono::milliseconds(200);
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->timed_out);
  EXPECT_LT(outcome->wall_time, std::chrono::seconds(20));
}

TEST(Process, ADetachedGrandchildDoesNotHoldTheCaller) {
  ProcessRequest request = Shell("sleep 100 & echo done");
  request.limits.wall_time = std::chrono::seconds(50);
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->standard_output, "done\n");
  EXPECT_LT(outcome->wall_time, std::chrono::seconds(20));
}

TEST(Process, StopsWhenTheUserWantsTheEnd) {
  const TemporaryDirectory folder = *TemporaryDirectory::Create("optiml-stop-");
  const fs::path begun = folder.path() / "begun";
  std::atomic<bool> stop{false};
  std::atomic<bool> over{false};
  std::thread user([&] {
    while (!over && !fs::exists(begun)) {
      std::this_thread::yield();
    }
    stop = true;
  });
  ProcessRequest request = Shell("sleep 100 & touch '" + begun.string() + "'; sleep 100");
  request.limits.wall_time = std::chrono::seconds(30);
  request.stop = &stop;
  const auto outcome = RunProcess(request);
  over = true;
  user.join();
  ASSERT_FALSE(outcome) << "ended by its time limit";
  EXPECT_EQ(outcome.error().code(), ErrorCode::kInterrupted);
}

TEST(Process, TalksWithAChild) {
  ProcessRequest request = Shell("while read line; do echo got $line; done");
  request.standard_input = "one\n";
  std::vector<std::string> heard;
  request.answer = [&](std::string_view output) -> std::optional<std::string> {
    heard.emplace_back(output);
    return output.ends_with("got two\n") ? std::nullopt : std::optional<std::string>("two\n");
  };
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->standard_output, "got one\ngot two\n");
  ASSERT_GE(heard.size(), 2u);
  EXPECT_EQ(heard.front(), "got one\n");
  EXPECT_EQ(outcome->signal, SIGKILL);
}

TEST(Process, TheTimeOfAnAnswerIsNotTheChilds) {
  ProcessRequest request = Shell("echo; read line; echo $line");
  request.limits.wall_time = std::chrono::milliseconds(400);
  request.answer = [&](std::string_view output) -> std::optional<std::string> {
    if (output == "\n") {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      return "later\n";
    }
    return "";
  };
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->timed_out);
  EXPECT_EQ(outcome->standard_output, "\nlater\n");
  request = Shell("read line");
  request.limits.wall_time = std::chrono::milliseconds(200);
  request.answer = [](std::string_view) { return std::optional<std::string>(""); };
  EXPECT_TRUE(RunProcess(request)->timed_out);
}

TEST(Process, ReportsSignalsAndMissingPrograms) {
  const auto outcome = RunProcess(Shell("kill -SEGV $$"));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->signal, SIGSEGV);
  ProcessRequest missing;
  missing.argv = {"no-such-program-anywhere"};
  EXPECT_THAT(RunProcess(missing).error().message(), HasSubstr("no-such-program-anywhere"));
}

TEST(Process, LimitsItsOutput) {
  ProcessRequest request = Shell("head -c 3000000 /dev/zero");
  request.limits.output_bytes = 1000;
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->output_truncated);
  EXPECT_EQ(outcome->standard_output.size(), 1000u);
}

TEST(Process, DoesNotLeakTheEnvironment) {
  setenv("OPTIML_TEST_SECRET", "hunter2", 1);
  const auto outcome = RunProcess(Shell("env"));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_THAT(outcome->standard_output, Not(HasSubstr("hunter2")));
}

TEST(Sandbox, HidesTheHomeAndTheNetworkAndKeepsTheSystemReadOnly) {
  ASSERT_TRUE(SandboxAvailable().has_value()) << SandboxAvailable().error().message();
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder.has_value());
  ProcessRequest request = Shell(
      "ls /home /root 2>/dev/null; touch /usr/x 2>/dev/null && echo wrote; cat /proc/net/route | "
      "wc -l; touch '" +
      (folder->path() / "ok").string() + "'");
  request.sandbox = Sandbox{{}, {folder->path()}};
  const auto outcome = RunProcess(request);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->standard_output, "1\n") << "only the header of the routing table";
  EXPECT_TRUE(fs::exists(folder->path() / "ok"));
}

// Another thread's child inherits, for a moment, every file that this process has open.
TEST(Process, AProgramInstalledWhileOthersAreStartedCanBeStarted) {
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder);
  std::atomic<bool> is_over{false};
  std::vector<std::thread> starters;
  for (int i = 0; i < 3; ++i) {
    starters.emplace_back([&] {
      while (!is_over) {
        EXPECT_TRUE(RunProcess(Shell("true")));
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    const fs::path program = folder->path() / ("program" + std::to_string(i));
    const auto installed = InstallProgram("/bin/true", program);
    ASSERT_TRUE(installed) << installed.error().message();
    ProcessRequest request;
    request.argv = {program.string()};
    const auto outcome = RunProcess(request);
    EXPECT_TRUE(outcome) << outcome.error().message();
  }
  is_over = true;
  for (std::thread& starter : starters) {
    starter.join();
  }
  const auto failed = InstallProgram("/bin/true", folder->path() / "absent" / "program");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("absent/program: cannot write"));
}

constexpr auto kLong = std::chrono::seconds(60);

TEST(LineServer, AnswersEachTextWithALine) {
  auto server = LineServer::Start(Shell("echo ready; while read line; do echo got $line; done"));
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->Ask("", kLong)->line, "ready");
  const std::string many(300'000, 'x');  // more than a pipe holds
  EXPECT_EQ((*server)->Ask("a\n", kLong)->line, "got a");
  EXPECT_EQ((*server)->Ask(many + "\n", kLong)->line, "got " + many);
  EXPECT_EQ((*server)->Ask("b\n", kLong)->line, "got b");
}

TEST(LineServer, SaysHowItsChildEnded) {
  auto server = LineServer::Start(Shell("read line; echo the reason >&2; exit 7"));
  ASSERT_TRUE(server);
  const auto answer = (*server)->Ask("a\n", kLong);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, LineServer::Answer::Kind::kEnded);
  EXPECT_EQ(answer->exit_code, 7);
  EXPECT_EQ(answer->standard_error, "the reason\n");

  ProcessRequest missing;
  missing.argv = {"/bin/true"};
  missing.working_directory = "/no/such/folder";
  auto never = LineServer::Start(missing);
  ASSERT_TRUE(never);
  EXPECT_THAT((*never)->Ask("", kLong).error().message(), HasSubstr("cannot start"));
}

TEST(LineServer, EndsAtItsLimitsAndWhenTheUserWantsTheEnd) {
  auto slow = LineServer::Start(Shell("sleep 100 & sleep 100"));
  ASSERT_TRUE(slow);
  EXPECT_EQ((*slow)->Ask("", std::chrono::milliseconds(50))->kind,
            LineServer::Answer::Kind::kTimedOut);

  ProcessRequest flood = Shell("head -c 100000000 /dev/zero");
  flood.limits.output_bytes = 1 << 20;
  auto endless = LineServer::Start(flood);
  ASSERT_TRUE(endless);
  EXPECT_EQ((*endless)->Ask("", kLong)->kind, LineServer::Answer::Kind::kEnded);

  const std::atomic<bool> stop{true};
  ProcessRequest stopped = Shell("sleep 100");
  stopped.stop = &stop;
  auto server = LineServer::Start(stopped);
  ASSERT_TRUE(server);
  EXPECT_EQ((*server)->Ask("", kLong).error().code(), ErrorCode::kInterrupted);
}

TEST(LineServer, TheWholeGroupEndsWithItsOwner) {
  const auto folder = TemporaryDirectory::Create("optiml-test-");
  ASSERT_TRUE(folder);
  auto server = LineServer::Start(Shell("sleep 100 & echo $!; cat"));
  ASSERT_TRUE(server);
  const auto answer = (*server)->Ask("", kLong);
  ASSERT_TRUE(answer);
  const auto pid = static_cast<pid_t>(std::stol(answer->line));
  EXPECT_EQ(kill(pid, 0), 0);
  server->reset();
  // Whoever adopted it may not have reaped it yet: it is gone, or will be a zombie.
  std::string state;
  for (int i = 0; i < 500 && state != "gone" && state != "Z" && state != "X"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    state = "gone";
    stat >> number >> name >> state;
  }
  EXPECT_TRUE(state == "gone" || state == "Z" || state == "X") << state;
}

}  // namespace
}  // namespace optiml
