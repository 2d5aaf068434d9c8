#include "task/reference_driver.h"

#include <fmt/format.h>

namespace optiml {
namespace {

// Everything but the names, which are macros of the program that is put together below.
constexpr char kBody[] = R"CPP(
  namespace optiml_reference_driver {

  struct Slot {
    uint64_t kind = 0;
    uint64_t bytes = 0;
    uint64_t element_bytes = 1;
    unsigned char scalar[8] = {};
    unsigned char* mapping = nullptr;  // guard page, band and data, guard page
    uint64_t mapping_bytes = 0;
    unsigned char* data = nullptr;
  };

  const unsigned char kBand = 0xC5;
  const uint64_t kPage = 4096;
  Slot slots[kArgumentCount];

  // Where a run leaves what it has to say, for the server that started it.
  const int kSaid = 9;

  [[noreturn]] void Fail(const char* text) {
    if (write(kSaid, text, std::strlen(text)) < 0) {
    }
    _exit(40);
  }

  void OnFault(int, siginfo_t* info, void*) {
    const unsigned char* address = static_cast<const unsigned char*>(info->si_addr);
    char text[256] =
        "accesses memory that belongs to no argument (a wild pointer or a stack overflow)";
    for (int i = 0; i < kArgumentCount; ++i) {
      const Slot& slot = slots[i];
      if (slot.mapping == nullptr || address < slot.mapping ||
          address >= slot.mapping + slot.mapping_bytes) {
        continue;
      }
      const int64_t offset = address - slot.data;
      const int64_t size = static_cast<int64_t>(slot.element_bytes);
      const int64_t element = (offset - (offset < 0 ? size - 1 : 0)) / size;
      const long long count = static_cast<long long>(slot.bytes / slot.element_bytes);
      if (offset >= 0 && offset < static_cast<int64_t>(slot.bytes)) {
        std::snprintf(text, sizeof(text), "writes to element %lld of its input %s",
                      static_cast<long long>(element), kNames[i]);
      } else {
        std::snprintf(text, sizeof(text), "accesses element %lld of %s, which has %lld",
                      static_cast<long long>(element), kNames[i], count);
      }
    }
    Fail(text);
  }

  void Allocate(Slot& slot) {
    const uint64_t inner = (slot.bytes + kPage - 1) / kPage * kPage;
    slot.mapping_bytes = inner + 2 * kPage;
    void* memory = mmap(nullptr, slot.mapping_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      Fail("has not enough memory for its buffers");
    }
    slot.mapping = static_cast<unsigned char*>(memory);
    slot.data = slot.mapping + kPage + (inner - slot.bytes);
    std::memset(slot.mapping + kPage, kBand, inner - slot.bytes);
    mprotect(slot.mapping, kPage, PROT_NONE);
    mprotect(slot.mapping + kPage + inner, kPage, PROT_NONE);
  }

  template <typename T>
  void PrintCode() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_pointer_v<U>) {
      using E = std::remove_pointer_t<U>;
      std::printf(std::is_const_v<E> ? "c*" : "*");
      PrintCode<E>();
    } else if constexpr (std::is_same_v<U, void>) {
      std::printf("void ");
    } else if constexpr (std::is_same_v<U, bool>) {
      std::printf("bool ");
    } else if constexpr (std::is_same_v<U, float>) {
      std::printf("f32 ");
    } else if constexpr (std::is_same_v<U, double>) {
      std::printf("f64 ");
    } else if constexpr (std::is_integral_v<U>) {
      std::printf("%c%d ", std::is_signed_v<U> ? 'i' : 'u', static_cast<int>(8 * sizeof(U)));
    } else {
      std::printf("other ");
    }
  }

  template <typename T>
  T Argument(const Slot& slot) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(slot.data);
    } else {
      T value;
      std::memcpy(&value, slot.scalar, sizeof(T) < 8 ? sizeof(T) : 8);
      return value;
    }
  }

  template <typename... A>
  void PrintParameters(void (*)(A...)) {
    (PrintCode<A>(), ...);
  }

  // One line: the parameters of the function, and after a bar those of the range function.
  void PrintSignature() {
    std::printf("\n%s", OPTIML_MARK);
    PrintParameters(&OPTIML_ENTRY);
#if OPTIML_HAS_RANGE
    std::printf("| ");
    PrintParameters(&OPTIML_RANGE);
#endif
    std::printf("\n");
  }

  template <typename... A, size_t... I>
  void CallWith(void (*function)(A...), std::index_sequence<I...>) {
    function(Argument<A>(slots[I])...);
  }

  template <typename... A>
  void Call(void (*function)(A...)) {
    CallWith(function, std::index_sequence_for<A...>());
  }

  template <typename T>
  T Bound(int64_t bound) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bound);
    } else {
      return T();  // never called: its signature is refused
    }
  }

  template <typename B, typename E, typename... A, size_t... I>
  void CallRangeWith(void (*function)(B, E, A...), int64_t begin, int64_t end,
                     std::index_sequence<I...>) {
    function(Bound<B>(begin), Bound<E>(end), Argument<A>(slots[I])...);
  }

  template <typename B, typename E, typename... A>
  void CallRange(int64_t begin, int64_t end, void (*function)(B, E, A...)) {
    CallRangeWith(function, begin, end, std::index_sequence_for<A...>());
  }

  // Of a function with less than two parameters: never called, as above.
  void CallRange(int64_t, int64_t, ...) {}

  uint64_t ReadWord(FILE* file) {
    uint64_t word = 0;
    if (std::fread(&word, sizeof(word), 1, file) != 1) {
      Fail("got a request that is cut short");
    }
    return word;
  }

  int Run(const char* request, const char* answer) {
    FILE* in = std::fopen(request, "rb");
    if (in == nullptr) {
      Fail("got no request");
    }
    const uint64_t count = ReadWord(in);
    const int64_t begin = static_cast<int64_t>(ReadWord(in));
    const int64_t end = static_cast<int64_t>(ReadWord(in));
    const bool range = (ReadWord(in) & 1) != 0;
    if (count != kArgumentCount) {
      Fail("got a request for another function");
    }
    for (Slot& slot : slots) {
      slot.kind = ReadWord(in);
      slot.bytes = ReadWord(in);
      slot.element_bytes = ReadWord(in);
      if (slot.kind != 0) {
        Allocate(slot);
      }
      unsigned char* to = slot.kind == 0 ? slot.scalar : slot.data;
      if (slot.bytes != 0 && std::fread(to, 1, slot.bytes, in) != slot.bytes) {
        Fail("got a request that is cut short");
      }
      if (slot.kind == 1) {
        mprotect(slot.mapping + kPage, slot.mapping_bytes - 2 * kPage, PROT_READ);
      }
    }
    std::fclose(in);

    static unsigned char stack[1 << 16];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof(stack);
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);

    try {
#if OPTIML_HAS_RANGE
      if (range) {
        CallRange(begin, end, &OPTIML_RANGE);
      } else {
        Call(&OPTIML_ENTRY);
      }
#else
      (void)range;
      (void)begin;
      (void)end;
      Call(&OPTIML_ENTRY);
#endif
    } catch (const std::exception& error) {
      char text[512];
      std::snprintf(text, sizeof(text), "throws: %s", error.what());
      Fail(text);
    } catch (...) {
      Fail("throws something that is no std::exception");
    }

    FILE* out = std::fopen(answer, "wb");
    if (out == nullptr) {
      Fail("cannot write its answer");
    }
    for (int i = 0; i < kArgumentCount; ++i) {
      const Slot& slot = slots[i];
      for (const unsigned char* at = slot.mapping == nullptr ? slot.data : slot.mapping + kPage;
           at != slot.data; ++at) {
        if (*at != kBand) {
          char text[256];
          std::snprintf(text, sizeof(text), "writes before the first element of %s", kNames[i]);
          Fail(text);
        }
      }
      if (slot.kind == 2 && slot.bytes != 0 &&
          std::fwrite(slot.data, 1, slot.bytes, out) != slot.bytes) {
        Fail("cannot write its answer");
      }
    }
    return std::fclose(out) == 0 ? 0 : 41;
  }

  // Starts this program anew for one request, so that no run knows of another one; says how it
  // ended in a line: exit code, signal, whether processes of it are left, its message.
  bool RunOne(char** argv, int control, int nothing) {
    int said[2];
    if (pipe(said) != 0) {
      return false;
    }
    fcntl(said[0], F_SETFL, O_NONBLOCK);
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(nothing, 0);
      dup2(nothing, 1);
      dup2(nothing, 2);
      dup2(said[1], kSaid);
      close(said[0]);
      if (said[1] != kSaid) {
        close(said[1]);
      }
      char* const run[] = {argv[0], argv[2], argv[3], nullptr};
      execv(argv[0], run);
      _exit(43);
    }
    close(said[1]);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
      return false;
    }
    pid_t other = 0;
    int ignored = 0;
    while ((other = waitpid(-1, &ignored, WNOHANG)) > 0) {
    }
    char text[1024] = {};
    if (read(said[0], text, sizeof(text) - 1) < 0) {
      text[0] = 0;
    }
    close(said[0]);
    for (char* at = text; *at != 0; ++at) {
      *at = *at == '\n' ? ' ' : *at;
    }
    dprintf(control, "%s%d %d %d %s\n", OPTIML_MARK, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            WIFSIGNALED(status) ? WTERMSIG(status) : 0, other == 0 ? 1 : 0, text);
    return true;
  }

  // Says the signature, then runs the request once for each byte that comes in.
  int Serve(char** argv) {
    PrintSignature();
    std::fflush(stdout);
    const int control = fcntl(1, F_DUPFD_CLOEXEC, kSaid + 1);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    char byte = 0;
    while (control >= 0 && nothing >= 0 && read(0, &byte, 1) == 1) {
      if (!RunOne(argv, control, nothing)) {
        return 44;
      }
    }
    return 0;
  }

  }  // namespace optiml_reference_driver

  int main(int argc, char** argv) {
    if (argc == 4) {
      return optiml_reference_driver::Serve(argv);
    }
    return argc == 3 ? optiml_reference_driver::Run(argv[1], argv[2]) : 42;
  }
)CPP";

}  // namespace

std::string MakeDriverText(const DriverText& parts) {
  std::string text = "// Made by OptiML around a task's reference function.\n";
  // C headers and three small ones: the program compiles in half the time that <string> would take.
  for (const char* header :
       {"cstddef", "cstdint", "cstdio", "cstring", "exception", "type_traits", "utility"}) {
    text += fmt::format("#include <{}>\n", header);
  }
  text +=
      "#include <fcntl.h>\n#include <signal.h>\n#include <sys/mman.h>\n#include <sys/prctl.h>\n"
      "#include <sys/wait.h>\n#include <unistd.h>\n";
  text += fmt::format("#include \"{}\"\n", parts.reference.string());
  text += fmt::format("#define OPTIML_ENTRY {}_reference\n", parts.entry);
  text += fmt::format("#define OPTIML_RANGE {}_reference_range\n", parts.entry);
  text += fmt::format("#define OPTIML_HAS_RANGE {}\n", parts.has_range ? 1 : 0);
  text += fmt::format("#define OPTIML_MARK \"{}\"\n", kDriverMark);
  text += "static const char* const kNames[] = {";
  for (const std::string& name : parts.argument_names) {
    text += fmt::format("\"{}\", ", name);
  }
  text += "\"\"};\n";
  text += fmt::format("enum {{ kArgumentCount = {} }};\n", parts.argument_names.size());
  return text + kBody;
}

}  // namespace optiml
