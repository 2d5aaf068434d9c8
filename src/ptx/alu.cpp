#include "ptx/alu.h"

#include <array>

#include "base/check.h"

namespace optiml::ptx {

#define OPTIML_DECLARE_ISA(isa)                  \
  namespace isa {                                \
  Handler SelectInteger(const AluRequest&);      \
  Handler SelectFloat(const AluRequest&);        \
  Handler SelectConvert(const AluRequest&);      \
  Handler SelectMemory(const MemoryRequest&);    \
  MatrixKernel SelectMatrix(const MatrixShape&); \
  }

#ifdef OPTIML_PTX_HAS_plain
OPTIML_DECLARE_ISA(plain)
#endif
#ifdef OPTIML_PTX_HAS_avx2
OPTIML_DECLARE_ISA(avx2)
#endif

namespace {

#define OPTIML_TABLE(name, isa)                                                            \
  HandlerTable {                                                                           \
    name, &isa::SelectInteger, &isa::SelectFloat, &isa::SelectConvert, &isa::SelectMemory, \
        &isa::SelectMatrix                                                                 \
  }

#ifdef OPTIML_PTX_HAS_plain
constexpr HandlerTable kPlain = OPTIML_TABLE("x86-64", plain);
#endif
#ifdef OPTIML_PTX_HAS_avx2
constexpr HandlerTable kAvx2 = OPTIML_TABLE("x86-64-v3", avx2);
#endif

struct Tables {
  std::array<const HandlerTable*, 2> tables{};
  size_t count = 0;

  Tables() {
    __builtin_cpu_init();
#ifdef OPTIML_PTX_HAS_plain
    tables[count++] = &kPlain;
#endif
#ifdef OPTIML_PTX_HAS_avx2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("f16c")) {
      tables[count++] = &kAvx2;
    }
#endif
    OPTIML_CHECK(count > 0, "the emulator was built for instruction sets that this machine lacks");
  }
};

const Tables& HostTables() {
  static const Tables tables;
  return tables;
}

const HandlerTable* test_table = nullptr;

}  // namespace

void UseHandlersForTest(const HandlerTable* table) {
  test_table = table;
}

const HandlerTable& HandlersOfHost() {
  if (test_table != nullptr) {
    return *test_table;
  }
  return *HostTables().tables[HostTables().count - 1];
}

const HandlerTable* const* AllHandlers(size_t& count) {
  count = HostTables().count;
  return HostTables().tables.data();
}

}  // namespace optiml::ptx
