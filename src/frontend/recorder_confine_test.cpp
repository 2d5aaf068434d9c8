// The doors that a recorded launcher finds closed, whatever it managed to link.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#include <cstdlib>
#include <thread>

#include "frontend/recorder/confine.h"

namespace optiml::recording {

// The program's own writes a trace.
[[noreturn]] void Fault(const char* what) {
  [[maybe_unused]] const ssize_t n = write(2, what, std::strlen(what));
  _exit(7);
}
bool IsDeviceAddress(uint64_t address) {
  return address == 0x1000;
}

namespace {

template <typename Act>
[[noreturn]] void Confined(Act act, bool reads = false) {
  static unsigned char stack[1 << 16];
  CatchSignals(stack, sizeof(stack));
  DenySystemCalls(reads);
  act();
  _exit(0);
}

const auto kFault = ::testing::ExitedWithCode(7);

TEST(Confine, LeavesWritingAndTheEnd) {
  EXPECT_EXIT(Confined([] { [[maybe_unused]] const ssize_t n = write(2, "written", 7); }),
              ::testing::ExitedWithCode(0), "written");
}

TEST(Confine, OpensNoFile) {
  EXPECT_EXIT(Confined([] { open("/etc/passwd", O_RDONLY); }), kFault, "system call 257");
}

TEST(Confine, ReadsNothing) {
  EXPECT_EXIT(Confined([] {
                char c = 0;
                [[maybe_unused]] const ssize_t n = read(0, &c, 1);
              }),
              kFault, "asks the operating system");
}

TEST(Confine, ReadsItsInputAloneInALiveRun) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "ab", 2), 2);
  const auto from = [](int fd) {
    char c = 0;
    return read(fd, &c, 1) == 1 ? c : 'x';
  };
  EXPECT_EXIT((dup2(ends[0], 0), Confined([&] { _exit(from(0)); }, true)),
              ::testing::ExitedWithCode('a'), "");
  EXPECT_EXIT(Confined([&] { _exit(from(ends[0])); }, true), kFault, "system call 0");
  EXPECT_EXIT(Confined([] { fork(); }, true), kFault, "asks the operating system");
  EXPECT_EXIT(Confined([] { open("/etc/passwd", O_RDONLY); }, true), kFault, "system call 257");
}

TEST(Confine, OpensNoSocket) {
  EXPECT_EXIT(Confined([] { socket(AF_INET, SOCK_STREAM, 0); }), kFault,
              "asks the operating system");
}

TEST(Confine, StartsNoProcessAndNoThread) {
  EXPECT_EXIT(Confined([] { fork(); }), kFault, "asks the operating system");
  EXPECT_EXIT(Confined([] { std::thread([] {}).join(); }), kFault, "asks the operating system");
  EXPECT_EXIT(Confined([] { execl("/bin/true", "true", nullptr); }), kFault, "system call 59");
}

TEST(Confine, CannotChangeItsMemorysRights) {
  EXPECT_EXIT(Confined([] { mprotect(nullptr, 4096, PROT_EXEC); }), kFault, "system call 10");
}

TEST(Confine, HasNoClock) {
  EXPECT_EXIT(Confined([] {
                volatile unsigned long long t = __builtin_ia32_rdtsc();
                (void)t;
              }),
              kFault, "launcher reads the time");
  EXPECT_EXIT(Confined([] {
                timespec t = {};
                clock_gettime(CLOCK_MONOTONIC, &t);
              }),
              kFault, "launcher (reads the time|asks the operating system)");
}

TEST(Confine, SaysWhatAPointerWas) {
  EXPECT_EXIT(Confined([] { *reinterpret_cast<volatile int*>(uint64_t{1} << 57) = 1; }), kFault,
              "device memory on the host");
  EXPECT_EXIT(Confined([] { *reinterpret_cast<volatile int*>(0x1000) = 1; }), kFault,
              "device memory on the host");
  EXPECT_EXIT(Confined([] { *reinterpret_cast<volatile int*>(0x2000) = 1; }), kFault,
              "invalid host pointer");
}

}  // namespace
}  // namespace optiml::recording
