// A stack of the launcher's own: what it leaves there is as plain to see as its variables. Nothing
// of the recorder's main runs on it.

#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>

namespace optiml::recording {

constexpr uint64_t kStackBytes = uint64_t{8} << 20;  // as Linux gives a program
constexpr uint64_t kStackGuard = uint64_t{1} << 16;
// None of them near what a device buffer's address may be (protocol.h).
constexpr uint64_t kStackUsual = 0x5556'0000'0000;
constexpr uint64_t kStackOther = 0x2aaa'8000'0000;
constexpr uint64_t kStackHead = 64;  // at its top: where the recorder goes on

// Calls `function` with `argument` on the stack that ends at `top`. All registers that a function
// may save there hold zero, so that equal calls leave equal bytes.
extern "C" void optiml_recorder_on_stack(unsigned char* top, void (*function)(void*),
                                         void* argument);
asm(R"(
.text
.globl optiml_recorder_on_stack
.type optiml_recorder_on_stack, @function
optiml_recorder_on_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, -8(%rdi)
  leaq -64(%rdi), %rsp
  movq %rsi, %rax
  movq %rdx, %rdi
  xorl %esi, %esi
  xorl %edx, %edx
  xorl %ecx, %ecx
  xorl %ebx, %ebx
  xorl %ebp, %ebp
  xorl %r8d, %r8d
  xorl %r9d, %r9d
  xorl %r10d, %r10d
  xorl %r11d, %r11d
  xorl %r12d, %r12d
  xorl %r13d, %r13d
  xorl %r14d, %r14d
  xorl %r15d, %r15d
  pxor %xmm0, %xmm0
  pxor %xmm1, %xmm1
  pxor %xmm2, %xmm2
  pxor %xmm3, %xmm3
  pxor %xmm4, %xmm4
  pxor %xmm5, %xmm5
  pxor %xmm6, %xmm6
  pxor %xmm7, %xmm7
  pxor %xmm8, %xmm8
  pxor %xmm9, %xmm9
  pxor %xmm10, %xmm10
  pxor %xmm11, %xmm11
  pxor %xmm12, %xmm12
  pxor %xmm13, %xmm13
  pxor %xmm14, %xmm14
  pxor %xmm15, %xmm15
  call *%rax
  movq 56(%rsp), %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size optiml_recorder_on_stack, .-optiml_recorder_on_stack
)");

class Stack {
 public:
  // Below it lies nothing: calls that nest too deep end there.
  void Make(bool other) {
    begin_ = static_cast<unsigned char*>(
                 Reserve(kStackGuard + kStackBytes, other ? kStackOther : kStackUsual)) +
             kStackGuard;
    mprotect(begin_ - kStackGuard, kStackGuard, PROT_NONE);
    copy_ = static_cast<unsigned char*>(Reserve(kStackBytes, 0));
  }

  // Calls find the same below their frames, and another thing in other surroundings.
  void Paint(unsigned char fill) { std::memset(begin_, fill, kStackBytes - kStackHead); }

  void Run(void (*function)(void*), void* argument) {
    optiml_recorder_on_stack(begin_ + kStackBytes, function, argument);
  }

  void Copy() { std::memcpy(copy_, begin_, kStackBytes - kStackHead); }
  bool IsAsCopied() const { return std::memcmp(copy_, begin_, kStackBytes - kStackHead) == 0; }

 private:
  // At that address; 0: anywhere.
  static void* Reserve(uint64_t bytes, uint64_t at) {
    void* memory = mmap(
        reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (memory == MAP_FAILED) {
      __builtin_trap();
    }
    return memory;
  }

  unsigned char* begin_;
  unsigned char* copy_;
};

}  // namespace optiml::recording
