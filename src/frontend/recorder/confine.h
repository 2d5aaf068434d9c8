// What a recorded launcher may do beside computing: nothing. Everything that the system would do
// for it ends the program, with the reason in the trace. This is the second line: the program runs
// in a sandbox, and a launcher that names a function outside of a short list was refused before.

#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace optiml::recording {

[[noreturn]] void Fault(const char* what);
bool IsDeviceAddress(uint64_t address);

inline void OnSignal(int signal, siginfo_t* info, void* context) {
  char text[160];
  const auto* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (signal == SIGSYS) {
    std::snprintf(text, sizeof(text),
                  "launcher asks the operating system for something (system call %d)",
                  info->si_syscall);
    Fault(text);
  }
  if (signal == SIGFPE) {
    Fault("launcher divides by zero");
  }
  if (signal == SIGABRT) {
    Fault("launcher calls abort");
  }
  if (signal == SIGSEGV && info->si_code == SI_KERNEL) {
    const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
    if (code[0] == 0x0f && (code[1] == 0x31 || (code[1] == 0x01 && code[2] == 0xf9))) {
      Fault("launcher reads the time");
    }
    Fault("launcher reads or writes device memory on the host");
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    Fault(IsDeviceAddress(reinterpret_cast<uint64_t>(info->si_addr))
              ? "launcher reads or writes device memory on the host"
              : "launcher reads or writes through an invalid host pointer, or its calls nest too "
                "deep");
  }
  Fault("launcher executes an invalid instruction");
}

inline void CatchSignals(void* stack, size_t size) {
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = size;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) {
    sigaction(signal, &action, nullptr);
  }
}

// From here on the program may write what it already has open, manage memory, and end; and read its
// standard input in a live run.
inline void DenySystemCalls(bool reads = false) {
  // The C++ library wakes whoever waits for its initialisation: nobody.
  static const int kAllowed[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask,
                                 SYS_futex};
  constexpr int kCount = sizeof(kAllowed) / sizeof(kAllowed[0]);
  sock_filter code[kCount + 12];
  int n = 0;
  const auto add = [&](unsigned short op, unsigned k, unsigned char yes, unsigned char no) {
    code[n++] = sock_filter{op, yes, no, k};
  };
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch), 0, 0);
  add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr), 0, 0);
  if (reads) {
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args), 0, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, STDIN_FILENO, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  }
  for (int i = 0; i < kCount; ++i) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(kAllowed[i]),
        static_cast<unsigned char>(kCount - i), 0);
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
  sock_fprog program = {static_cast<unsigned short>(n), code};
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    Fault("the recorder cannot close the system's doors here (no seccomp)");
  }
}

}  // namespace optiml::recording
