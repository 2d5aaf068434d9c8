// Every arithmetic instruction, type and edge value against host arithmetic written independently,
// on every instruction set of this machine.

#include <cmath>
#include <functional>
#include <limits>

#include "ptx/alu.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

const std::vector<uint64_t> kIntegers = {0,
                                         1,
                                         2,
                                         3,
                                         7,
                                         31,
                                         32,
                                         33,
                                         0x7f,
                                         0x80,
                                         0xff,
                                         0x7fff,
                                         0x8000,
                                         0xffff,
                                         0x10000,
                                         0x7fffffff,
                                         0x80000000,
                                         0xfffffffe,
                                         0xffffffff,
                                         0x123456789abcdef0,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff,
                                         0xdeadbeefcafebabe};

std::vector<uint64_t> FloatBits() {
  std::vector<uint64_t> bits;
  for (const float x : {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        0.5f,
                        1.5f,
                        2.5f,
                        -2.5f,
                        3.14159274f,
                        1e10f,
                        -1e10f,
                        1e-10f,
                        1.17549435e-38f,
                        1e-40f,
                        -1e-42f,
                        3.4028235e38f,
                        -3.4028235e38f,
                        16777217.0f,
                        2147483648.0f,
                        -2147483648.0f,
                        4294967296.0f,
                        65504.0f,
                        65520.0f,
                        0.1f,
                        1e20f,
                        std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()}) {
    bits.push_back(std::bit_cast<uint32_t>(x));
  }
  return bits;
}

std::vector<uint64_t> DoubleBits() {
  std::vector<uint64_t> bits;
  for (const double x :
       {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 1e300, -1e300, 1e-300, 4.9e-324, 1.0 / 3,
        9007199254740993.0, 9.2e18, -9.3e18, 1.9e19, 4294967295.5,
        std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    bits.push_back(std::bit_cast<uint64_t>(x));
  }
  return bits;
}

std::vector<Operands> Pairs(const std::vector<uint64_t>& values) {
  std::vector<Operands> cases;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < values.size(); ++k) {
      cases.push_back({values[i], values[k], values[(i * 7 + k * 3) % values.size()]});
    }
  }
  return cases;
}

uint64_t Low(uint64_t value, uint32_t bytes) {
  return bytes == 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

int64_t SignExtend(uint64_t value, uint32_t bytes) {
  const uint32_t shift = 64 - 8 * bytes;
  return static_cast<int64_t>(value << shift) >> shift;
}

float AsFloat(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

uint64_t FromFloat(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<uint32_t>(x);
}

class Arithmetic : public EveryHandlerTable {
 protected:

  void Check(const std::string& instruction, std::array<uint32_t, 4> widths,
             const std::vector<Operands>& cases,
             const std::function<uint64_t(uint64_t, uint64_t, uint64_t, bool)>& expected) {
    const auto got = Apply(instruction, widths, cases);
    size_t shown = 0;
    for (size_t i = 0; i < cases.size() && shown < 3; ++i) {
      const uint64_t a = widths[1] != 0 ? Low(cases[i][0], widths[1]) : 0;
      const uint64_t b = widths[2] != 0 ? Low(cases[i][1], widths[2]) : 0;
      const uint64_t c = widths[3] != 0 ? Low(cases[i][2], widths[3]) : 0;
      const uint64_t want = Low(expected(a, b, c, i % 2 == 1), std::max(widths[0], 2u));
      if (got[i] != want) {
        ADD_FAILURE() << instruction
                      << fmt::format(" of {:#x}, {:#x}, {:#x}: got {:#x}, expected {:#x}", a, b, c,
                                     got[i], want);
        ++shown;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(AllInstructionSets, Arithmetic, testing::Values(size_t{0}, size_t{1}));

struct IntegerType {
  const char* name;
  uint32_t bytes;
  bool is_signed;
};
const IntegerType kTypes[] = {{"u16", 2, false}, {"s16", 2, true},  {"u32", 4, false},
                              {"s32", 4, true},  {"u64", 8, false}, {"s64", 8, true}};

TEST_P(Arithmetic, IntegersAgreeWithTheHost) {
  const auto cases = Pairs(kIntegers);
  for (const IntegerType& t : kTypes) {
    const uint32_t n = t.bytes;
    const auto check = [&](const std::string& op, uint32_t result, uint32_t sources, auto f) {
      Check(op + "." + t.name +
                (sources == 1   ? " %d, %a;"
                 : sources == 2 ? " %d, %a, %b;"
                                : " %d, %a, %b, %c;"),
            {result, n, sources >= 2 ? n : 0, sources >= 3 ? (result > n ? result : n) : 0}, cases,
            f);
    };
    const auto wide = [&](uint64_t x) -> __int128 {
      return t.is_signed ? static_cast<__int128>(SignExtend(x, n)) : static_cast<__int128>(x);
    };
    check("add", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) { return a + b; });
    check("sub", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) { return a - b; });
    check("mul.lo", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) { return a * b; });
    check("mad.lo", n, 3, [&](uint64_t a, uint64_t b, uint64_t c, bool) { return a * b + c; });
    const auto high = [&](uint64_t a, uint64_t b) {
      return t.is_signed
                 ? static_cast<uint64_t>((wide(a) * wide(b)) >> (8 * n))
                 : static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> (8 * n));
    };
    check("mul.hi", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) { return high(a, b); });
    check("mad.hi", n, 3, [&](uint64_t a, uint64_t b, uint64_t c, bool) { return high(a, b) + c; });
    if (n < 8) {
      check("mul.wide", 2 * n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) {
        return static_cast<uint64_t>(wide(a) * wide(b));
      });
      check("mad.wide", 2 * n, 3, [&](uint64_t a, uint64_t b, uint64_t c, bool) {
        return static_cast<uint64_t>(wide(a) * wide(b)) + c;
      });
    }
    check("min", n, 2,
          [&](uint64_t a, uint64_t b, uint64_t, bool) { return wide(a) < wide(b) ? a : b; });
    check("max", n, 2,
          [&](uint64_t a, uint64_t b, uint64_t, bool) { return wide(a) > wide(b) ? a : b; });
    check("div", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) {
      return b == 0 ? ~uint64_t{0} : static_cast<uint64_t>(wide(a) / wide(b));
    });
    check("rem", n, 2, [&](uint64_t a, uint64_t b, uint64_t, bool) {
      return b == 0 ? ~uint64_t{0} : static_cast<uint64_t>(wide(a) % wide(b));
    });
    check("sad", n, 3, [&](uint64_t a, uint64_t b, uint64_t c, bool) {
      const __int128 d = wide(a) - wide(b);
      return c + static_cast<uint64_t>(d < 0 ? -d : d);
    });
    if (t.is_signed) {
      check("neg", n, 1, [&](uint64_t a, uint64_t, uint64_t, bool) { return uint64_t{0} - a; });
      check("abs", n, 1, [&](uint64_t a, uint64_t, uint64_t, bool) {
        return SignExtend(a, n) < 0 ? uint64_t{0} - a : a;
      });
    }
    const std::pair<const char*, std::function<bool(__int128, __int128)>> compares[] = {
        {"eq", std::equal_to<>()},   {"ne", std::not_equal_to<>()}, {"lt", std::less<>()},
        {"le", std::less_equal<>()}, {"gt", std::greater<>()},      {"ge", std::greater_equal<>()}};
    for (const auto& [name, holds] : compares) {
      Check(fmt::format("setp.{}.{} %q, %a, %b;", name, t.name), {1, n, n, 0}, cases,
            [&](uint64_t a, uint64_t b, uint64_t, bool) {
              return uint64_t{holds(wide(a), wide(b))};
            });
      Check(fmt::format("setp.{}.or.{} %q, %a, %b, !%p;", name, t.name), {1, n, n, 0}, cases,
            [&](uint64_t a, uint64_t b, uint64_t, bool odd) {
              return uint64_t{holds(wide(a), wide(b)) || !odd};
            });
    }
    Check(fmt::format("shr.{} %d, %a, %b;", t.name), {n, n, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) {
            const uint64_t s = std::min<uint64_t>(b, 8 * n);
            if (t.is_signed) {
              return static_cast<uint64_t>(wide(a) >> std::min<uint64_t>(s, 8 * n - 1));
            }
            return s >= 8 * n ? uint64_t{0} : a >> s;
          });
    Check(fmt::format("selp.b{} %d, %a, %b, %p;", 8 * n), {n, n, n, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool odd) { return odd ? a : b; });
  }
}

TEST_P(Arithmetic, LogicAndBitsAgreeWithTheHost) {
  const auto cases = Pairs(kIntegers);
  for (const uint32_t n : {2u, 4u, 8u}) {
    const auto name = [&](const std::string& op) { return fmt::format("{}.b{}", op, 8 * n); };
    Check(name("and") + " %d, %a, %b;", {n, n, n, 0}, cases,
          [](uint64_t a, uint64_t b, uint64_t, bool) { return a & b; });
    Check(name("or") + " %d, %a, %b;", {n, n, n, 0}, cases,
          [](uint64_t a, uint64_t b, uint64_t, bool) { return a | b; });
    Check(name("xor") + " %d, %a, %b;", {n, n, n, 0}, cases,
          [](uint64_t a, uint64_t b, uint64_t, bool) { return a ^ b; });
    Check(name("not") + " %d, %a;", {n, n, 0, 0}, cases,
          [](uint64_t a, uint64_t, uint64_t, bool) { return ~a; });
    Check(name("cnot") + " %d, %a;", {n, n, 0, 0}, cases,
          [](uint64_t a, uint64_t, uint64_t, bool) { return uint64_t{a == 0}; });
    Check(name("shl") + " %d, %a, %b;", {n, n, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) { return b >= 8 * n ? 0 : a << b; });
  }
  for (const uint32_t n : {4u, 8u}) {
    const uint32_t bits = 8 * n;
    Check(fmt::format("popc.b{} %d, %a;", bits), {4, n, 0, 0}, cases,
          [](uint64_t a, uint64_t, uint64_t, bool) {
            return static_cast<uint64_t>(std::popcount(a));
          });
    Check(fmt::format("clz.b{} %d, %a;", bits), {4, n, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) {
            return static_cast<uint64_t>(std::countl_zero(a)) - (64 - bits);
          });
    Check(fmt::format("brev.b{} %d, %a;", bits), {n, n, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) {
            uint64_t r = 0;
            for (uint32_t i = 0; i < bits; ++i) {
              r |= ((a >> i) & 1) << (bits - 1 - i);
            }
            return r;
          });
    Check(fmt::format("bfind.u{} %d, %a;", bits), {4, n, 0, 0}, cases,
          [](uint64_t a, uint64_t, uint64_t, bool) {
            return a == 0 ? 0xffffffff : 63 - static_cast<uint64_t>(std::countl_zero(a));
          });
    // PTX ISA's own pseudo code.
    for (const bool is_signed : {false, true}) {
      Check(fmt::format("bfe.{}{} %d, %a, %b, %c;", is_signed ? "s" : "u", bits), {n, n, 4, 4},
            cases, [&](uint64_t a, uint64_t b, uint64_t c, bool) {
              const uint64_t msb = bits - 1;
              const uint64_t pos = bits == 64 ? std::min<uint64_t>(b, 255) : b & 0xff;
              const uint64_t len = bits == 64 ? std::min<uint64_t>(c, 255) : c & 0xff;
              const uint64_t sign =
                  !is_signed || len == 0 ? 0 : (a >> std::min(pos + len - 1, msb)) & 1;
              uint64_t d = 0;
              for (uint64_t i = 0; i <= msb; ++i) {
                d |= (i < len && pos + i <= msb ? (a >> (pos + i)) & 1 : sign) << i;
              }
              return d;
            });
    }
    Check(fmt::format("bfi.b{} %d, %a, %b, %c, 5;", bits), {n, n, n, 4}, cases,
          [&](uint64_t a, uint64_t b, uint64_t c, bool) {
            uint64_t d = b;
            const uint64_t pos = bits == 64 ? std::min<uint64_t>(c, 255) : c & 0xff;
            for (uint64_t i = 0; i < 5 && pos + i < bits; ++i) {
              d = (d & ~(uint64_t{1} << (pos + i))) | (((a >> i) & 1) << (pos + i));
            }
            return d;
          });
  }
  for (const uint32_t table : {0x96u, 0xe8u, 0x1au, 0x80u}) {
    Check(fmt::format("lop3.b32 %d, %a, %b, %c, {};", table), {4, 4, 4, 4}, cases,
          [&](uint64_t a, uint64_t b, uint64_t c, bool) {
            uint64_t d = 0;
            for (int i = 0; i < 32; ++i) {
              const uint64_t index = (((a >> i) & 1) << 2) | (((b >> i) & 1) << 1) | ((c >> i) & 1);
              d |= uint64_t{(table >> index) & 1} << i;
            }
            return d;
          });
  }
  Check("shf.l.wrap.b32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) { return ((b << 32 | a) << (c & 31)) >> 32; });
  Check("shf.r.clamp.b32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) {
          return (b << 32 | a) >> std::min<uint64_t>(c, 32);
        });
  Check("prmt.b32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) {
          uint64_t d = 0;
          for (int i = 0; i < 4; ++i) {
            const uint64_t s = (c >> (4 * i)) & 15;
            uint64_t byte = ((b << 32 | a) >> (8 * (s & 7))) & 0xff;
            byte = (s & 8) != 0 ? ((byte & 0x80) != 0 ? 0xff : 0) : byte;
            d |= byte << (8 * i);
          }
          return d;
        });
  Check("dp4a.s32.u32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) {
          int64_t sum = static_cast<int64_t>(c);
          for (int i = 0; i < 4; ++i) {
            sum += static_cast<int8_t>(a >> (8 * i)) * static_cast<int64_t>((b >> (8 * i)) & 0xff);
          }
          return static_cast<uint64_t>(sum);
        });
  Check("bmsk.clamp.b32 %d, %a, %b;", {4, 4, 4, 0}, cases,
        [](uint64_t a, uint64_t b, uint64_t, bool) {
          return ((uint64_t{1} << std::min<uint64_t>(b, 32)) - 1) << std::min<uint64_t>(a, 32);
        });
  Check("slct.b32.s32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) {
          return static_cast<int32_t>(c) >= 0 ? a : b;
        });
  Check("add.sat.s32 %d, %a, %b;", {4, 4, 4, 0}, cases, [](uint64_t a, uint64_t b, uint64_t, bool) {
    return static_cast<uint64_t>(
        std::clamp<int64_t>(SignExtend(a, 4) + SignExtend(b, 4), INT32_MIN, INT32_MAX));
  });
  Check("set.lt.u32.s32 %d, %a, %b;", {4, 4, 4, 0}, cases,
        [](uint64_t a, uint64_t b, uint64_t, bool) {
          return SignExtend(a, 4) < SignExtend(b, 4) ? 0xffffffffu : 0u;
        });
}

TEST_P(Arithmetic, CarryChainsAddMultiWordNumbers) {
  const auto cases = Pairs(kIntegers);
  const std::string split =
      ".reg .b32 %l0, %l1, %l2, %l3;\nmov.b64 {%l0, %l1}, %a;\nmov.b64 {%l2, %l3}, %b;\n";
  Check(split + "add.cc.u32 %l0, %l0, %l2;\naddc.u32 %l1, %l1, %l3;\nmov.b64 %d, {%l0, %l1};",
        {8, 8, 8, 0}, cases, [](uint64_t a, uint64_t b, uint64_t, bool) { return a + b; });
  Check(split + "sub.cc.u32 %l0, %l0, %l2;\nsubc.u32 %l1, %l1, %l3;\nmov.b64 %d, {%l0, %l1};",
        {8, 8, 8, 0}, cases, [](uint64_t a, uint64_t b, uint64_t, bool) { return a - b; });
  Check(split +
            "mul.lo.u32 %t, %l0, %l2;\nmov.u32 %m, 5;\nmad.lo.cc.u32 %m, %l0, %l2, "
            "%m;\nmadc.hi.u32 %l1, %l0, %l2, 0;\nmov.b64 %d, {%m, %l1};",
        {8, 8, 8, 0}, cases, [](uint64_t a, uint64_t b, uint64_t, bool) {
          return (a & 0xffffffff) * (b & 0xffffffff) + 5;
        });
}

TEST_P(Arithmetic, SingleFloatsAgreeWithTheHost) {
  const auto cases = Pairs(FloatBits());
  const auto check2 = [&](const std::string& op, auto f) {
    Check(op + " %d, %a, %b;", {4, 4, 4, 0}, cases, [&](uint64_t a, uint64_t b, uint64_t, bool) {
      return FromFloat(f(AsFloat(a), AsFloat(b)));
    });
  };
  check2("add.f32", [](float a, float b) { return a + b; });
  check2("sub.f32", [](float a, float b) { return a - b; });
  check2("mul.f32", [](float a, float b) { return a * b; });
  check2("div.rn.f32", [](float a, float b) { return a / b; });
  check2("min.f32",
         [](float a, float b) { return a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b); });
  check2("max.f32",
         [](float a, float b) { return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b); });
  check2("max.NaN.f32", [](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? NAN
           : a == b                       ? (std::signbit(a) ? b : a)
                                          : std::fmax(a, b);
  });
  check2("add.sat.f32", [](float a, float b) {
    return std::isnan(a + b) ? 0.0f : a + b > 0 ? std::min(a + b, 1.0f) : 0.0f;
  });
  const auto flush = [](float x) {
    return std::fabs(x) < 1.17549435e-38f ? std::copysign(0.0f, x) : x;
  };
  check2("mul.ftz.f32", [&](float a, float b) { return flush(flush(a) * flush(b)); });
  Check("fma.rn.f32 %d, %a, %b, %c;", {4, 4, 4, 4}, cases,
        [](uint64_t a, uint64_t b, uint64_t c, bool) {
          return FromFloat(std::fma(AsFloat(a), AsFloat(b), AsFloat(c)));
        });
  const auto check1 = [&](const std::string& op, auto f) {
    Check(op + " %d, %a;", {4, 4, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) { return FromFloat(f(AsFloat(a))); });
  };
  check1("sqrt.rn.f32", [](float a) { return std::sqrt(a); });
  check1("rcp.rn.f32", [](float a) { return 1.0f / a; });
  check1("ex2.approx.f32",
         [](float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); });
  check1("lg2.approx.f32",
         [](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); });
  check1("rsqrt.approx.f32",
         [](float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); });
  // sin and cos go through a division by 2 pi that rounds: close where the argument is small.
  for (const bool sine : {true, false}) {
    const auto got =
        Apply(sine ? "sin.approx.f32 %d, %a;" : "cos.approx.f32 %d, %a;", {4, 4, 0, 0}, cases);
    for (size_t i = 0; i < cases.size(); ++i) {
      const float a = AsFloat(cases[i][0]);
      if (std::fabs(a) < 4) {
        EXPECT_NEAR(AsFloat(got[i]), sine ? std::sin(a) : std::cos(a), 6e-7f) << a;
      } else if (!std::isfinite(a)) {
        EXPECT_EQ(got[i], 0x7fffffffu);
      }
    }
  }
  check1("tanh.approx.f32",
         [](float a) { return static_cast<float>(std::tanh(static_cast<double>(a))); });
  Check("neg.f32 %d, %a;", {4, 4, 0, 0}, cases,
        [](uint64_t a, uint64_t, uint64_t, bool) { return FromFloat(-AsFloat(a)); });
  Check("abs.f32 %d, %a;", {4, 4, 0, 0}, cases,
        [](uint64_t a, uint64_t, uint64_t, bool) { return FromFloat(std::fabs(AsFloat(a))); });
  Check(
      "copysign.f32 %d, %a, %b;", {4, 4, 4, 0}, cases,
      [](uint64_t a, uint64_t b, uint64_t, bool) { return (b & 0x7fffffffu) | (a & 0x80000000u); });
  const std::pair<const char*, std::function<bool(float, float)>> compares[] = {
      {"lt", [](float a, float b) { return a < b; }},
      {"ne", [](float a, float b) { return a < b || a > b; }},
      {"ltu", [](float a, float b) { return !(a >= b); }},
      {"equ", [](float a, float b) { return a == b || std::isnan(a) || std::isnan(b); }},
      {"neu", [](float a, float b) { return !(a == b); }},
      {"geu", [](float a, float b) { return !(a < b); }},
      {"num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); }},
      {"nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); }}};
  for (const auto& [name, holds] : compares) {
    Check(fmt::format("setp.{}.f32 %q, %a, %b;", name), {1, 4, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) {
            return uint64_t{holds(AsFloat(a), AsFloat(b))};
          });
  }
}

// Directed rounding of f32 through exact arithmetic: products and sums of floats are exact in long
// double or differ from it by far less than an ulp of float; the neighbours decide.
float Directed(long double exact, float nearest, int direction) {
  if (exact == 0 && direction < 0 && nearest == 0) {
    return -0.0f;  // the sum of opposites (no operand here is zero)
  }
  if (static_cast<long double>(nearest) == exact || std::isnan(nearest) || std::isinf(nearest)) {
    return nearest;
  }
  const bool above = static_cast<long double>(nearest) > exact;
  if (direction == 0) {  // towards zero
    direction = exact > 0 ? -1 : 1;
  }
  if (direction < 0) {
    return above ? std::nextafter(nearest, -INFINITY) : nearest;
  }
  return above ? nearest : std::nextafter(nearest, INFINITY);
}

TEST_P(Arithmetic, DirectedRoundingGoesToTheNamedSide) {
  std::vector<uint64_t> values;
  for (const float x : {1.0f, 3.0f, 0.1f, -0.1f, 1.0000001f, -7.3f, 1e-3f, 12345.678f, 8388609.0f,
                        0.333333343f, -2.71828f}) {
    values.push_back(std::bit_cast<uint32_t>(x));
  }
  const auto cases = Pairs(values);
  const std::pair<const char*, int> modes[] = {{"rz", 0}, {"rm", -1}, {"rp", 1}};
  for (const auto& [name, direction] : modes) {
    Check(fmt::format("add.{}.f32 %d, %a, %b;", name), {4, 4, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) {
            return FromFloat(Directed(static_cast<long double>(AsFloat(a)) + AsFloat(b),
                                      AsFloat(a) + AsFloat(b), direction));
          });
    Check(fmt::format("mul.{}.f32 %d, %a, %b;", name), {4, 4, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) {
            return FromFloat(Directed(static_cast<long double>(AsFloat(a)) * AsFloat(b),
                                      AsFloat(a) * AsFloat(b), direction));
          });
    Check(fmt::format("fma.{}.f32 %d, %a, %b, %c;", name), {4, 4, 4, 4}, cases,
          [&](uint64_t a, uint64_t b, uint64_t c, bool) {
            const long double exact =
                static_cast<long double>(AsFloat(a)) * AsFloat(b) + AsFloat(c);
            return FromFloat(
                Directed(exact, std::fma(AsFloat(a), AsFloat(b), AsFloat(c)), direction));
          });
    Check(fmt::format("div.{}.f32 %d, %a, %b;", name), {4, 4, 4, 0}, cases,
          [&](uint64_t a, uint64_t b, uint64_t, bool) {
            return FromFloat(Directed(static_cast<long double>(AsFloat(a)) / AsFloat(b),
                                      AsFloat(a) / AsFloat(b), direction));
          });
  }
}

TEST_P(Arithmetic, DoublesAgreeWithTheHost) {
  const auto cases = Pairs(DoubleBits());
  const auto d = [](uint64_t bits) { return std::bit_cast<double>(bits); };
  const auto bits = [](double x) {
    return std::isnan(x) ? 0xfff8000000000000 : std::bit_cast<uint64_t>(x);
  };
  Check("add.f64 %d, %a, %b;", {8, 8, 8, 0}, cases,
        [&](uint64_t a, uint64_t b, uint64_t, bool) { return bits(d(a) + d(b)); });
  Check("mul.rn.f64 %d, %a, %b;", {8, 8, 8, 0}, cases,
        [&](uint64_t a, uint64_t b, uint64_t, bool) { return bits(d(a) * d(b)); });
  Check("fma.rn.f64 %d, %a, %b, %c;", {8, 8, 8, 8}, cases,
        [&](uint64_t a, uint64_t b, uint64_t c, bool) { return bits(std::fma(d(a), d(b), d(c))); });
  Check("div.rn.f64 %d, %a, %b;", {8, 8, 8, 0}, cases,
        [&](uint64_t a, uint64_t b, uint64_t, bool) { return bits(d(a) / d(b)); });
  Check("sqrt.rn.f64 %d, %a;", {8, 8, 0, 0}, cases,
        [&](uint64_t a, uint64_t, uint64_t, bool) { return bits(std::sqrt(d(a))); });
  Check("setp.gtu.f64 %q, %a, %b;", {1, 8, 8, 0}, cases,
        [&](uint64_t a, uint64_t b, uint64_t, bool) { return uint64_t{!(d(a) <= d(b))}; });
}

// Independent of the code under test: all 65,536 patterns decoded by arithmetic, rounding by
// searching the neighbours.
double HalfValue(uint32_t h, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(h >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = (h & ((1u << fraction_bits) - 1)) / std::ldexp(1.0, fraction_bits);
  const double sign = (h & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? NAN : sign * INFINITY;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

uint64_t NearestHalf(double x, int exponent_bits, int fraction_bits) {
  if (std::isnan(x)) {
    return 0x7fff;
  }
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  uint32_t low = 0;
  uint32_t high = infinity;
  const double magnitude = std::fabs(x);
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (HalfValue(middle, exponent_bits, fraction_bits) <= magnitude ? low : high) = middle;
  }
  const double beyond = high == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                                         : HalfValue(high, exponent_bits, fraction_bits);
  const double below = magnitude - HalfValue(low, exponent_bits, fraction_bits);
  const double above = beyond - magnitude;
  return sign | (std::isinf(x) || above < below || (above == below && (low & 1) != 0) ? high : low);
}

TEST_P(Arithmetic, HalvesAreRoundedOnce) {
  std::vector<uint64_t> values;
  for (uint64_t h = 0; h < 0x10000; h += 1499) {
    values.push_back(h);
  }
  for (const uint64_t h : {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0x7c00,
                           0xfc00, 0x3c01, 0x3555}) {
    values.push_back(h);
  }
  const auto cases = Pairs(values);
  const std::tuple<const char*, int, int> formats[] = {{"f16", 5, 10}, {"bf16", 8, 7}};
  for (const auto& [name, e, f] : formats) {
    const auto v = [&, e = e, f = f](uint64_t h) {
      return HalfValue(static_cast<uint32_t>(h), e, f);
    };
    Check(fmt::format("add.{} %d, %a, %b;", name), {2, 2, 2, 0}, cases,
          [&, e = e, f = f](uint64_t a, uint64_t b, uint64_t, bool) {
            // bf16 sums are exact in double only while the exponents are near; float addition
            // rounds far sums as well.
            return NearestHalf(
                e == 8 ? static_cast<double>(static_cast<float>(v(a)) + static_cast<float>(v(b)))
                       : v(a) + v(b),
                e, f);
          });
    Check(fmt::format("mul.{} %d, %a, %b;", name), {2, 2, 2, 0}, cases,
          [&, e = e, f = f](uint64_t a, uint64_t b, uint64_t, bool) {
            return NearestHalf(v(a) * v(b), e, f);
          });
    Check(
        fmt::format("fma.rn.{} %d, %a, %b, %c;", name), {2, 2, 2, 2}, cases,
        [&, e = e, f = f](uint64_t a, uint64_t b, uint64_t c, bool) {
          // long double holds f16's sums exactly; for bf16 an exact remainder decides ties.
          const long double product = static_cast<long double>(v(a)) * v(b);
          const long double sum = product + v(c);
          double rounded = static_cast<double>(sum);
          long double lost = sum - rounded;
          if (lost == 0 && product != 0 && v(c) != 0 && (sum == product || sum == v(c))) {
            lost = sum == product ? v(c) : product;  // one term vanished beside the other
          }
          if (lost != 0 && std::isfinite(rounded) && (std::bit_cast<uint64_t>(rounded) & 1) == 0) {
            rounded = std::nextafter(rounded, lost > 0 ? INFINITY : -INFINITY);
          }
          return NearestHalf(rounded, e, f);
        });
    Check(
        fmt::format("cvt.f32.{} %d, %a;", name), {4, 2, 0, 0}, cases,
        [&](uint64_t a, uint64_t, uint64_t, bool) { return FromFloat(static_cast<float>(v(a))); });
    Check(fmt::format("cvt.rn.{}.f32 %d, %a;", name), {2, 4, 0, 0}, Pairs(FloatBits()),
          [&, e = e, f = f](uint64_t a, uint64_t, uint64_t, bool) {
            return NearestHalf(AsFloat(a), e, f);
          });
    Check(fmt::format("fma.rn.{}x2 %d, %a, %b, %c;", name), {4, 4, 4, 4},
          {{0x3c003c00, 0x40003c00, 0x00003c00}},
          [&, e = e, f = f](uint64_t a, uint64_t b, uint64_t c, bool) {
            const auto one = [&](int shift) {
              return NearestHalf(
                  v((a >> shift) & 0xffff) * v((b >> shift) & 0xffff) + v((c >> shift) & 0xffff), e,
                  f);
            };
            return one(0) | (one(16) << 16);
          });
  }
}

TEST_P(Arithmetic, FloatsToIntegersClampAndRound) {
  const std::pair<const char*, double (*)(double)> roundings[] = {
      {"rni", [](double x) { return std::nearbyint(x); }},
      {"rzi", [](double x) { return std::trunc(x); }},
      {"rmi", [](double x) { return std::floor(x); }},
      {"rpi", [](double x) { return std::ceil(x); }}};
  for (const bool from_double : {false, true}) {
    auto values = from_double ? DoubleBits() : FloatBits();
    values.push_back(from_double ? 0x7ff8000000000000 : 0x7fc00000);
    const auto cases = Pairs(values);
    for (const IntegerType& t : kTypes) {
      for (const auto& [name, round] : roundings) {
        Check(fmt::format("cvt.{}.{}.{} %d, %a;", name, t.name, from_double ? "f64" : "f32"),
              {t.bytes, from_double ? 8u : 4u, 0, 0}, cases,
              [&, round = round](uint64_t a, uint64_t, uint64_t, bool) -> uint64_t {
                const double x =
                    from_double ? std::bit_cast<double>(a) : static_cast<double>(AsFloat(a));
                const uint32_t bits = 8 * t.bytes;
                if (std::isnan(x)) {
                  return from_double || t.bytes == 8 ? uint64_t{1} << (bits - 1) : 0;
                }
                const long double r = round(x);
                const long double high =
                    std::ldexp(1.0L, static_cast<int>(t.is_signed ? bits - 1 : bits)) - 1;
                const long double low =
                    t.is_signed ? -std::ldexp(1.0L, static_cast<int>(bits - 1)) : 0;
                if (r > high) {
                  return t.is_signed ? (uint64_t{1} << (bits - 1)) - 1 : ~uint64_t{0};
                }
                return r < low       ? (t.is_signed ? uint64_t{1} << (bits - 1) : 0)
                       : t.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(r))
                                     : static_cast<uint64_t>(r);
              });
      }
    }
  }
}

TEST_P(Arithmetic, IntegersConvertByTheirTypes) {
  const auto cases = Pairs(kIntegers);
  for (const IntegerType& s : kTypes) {
    const auto value = [&](uint64_t a) -> __int128 {
      return s.is_signed ? static_cast<__int128>(SignExtend(a, s.bytes)) : static_cast<__int128>(a);
    };
    for (const IntegerType& d : kTypes) {
      Check(fmt::format("cvt.{}.{} %d, %a;", d.name, s.name), {d.bytes, s.bytes, 0, 0}, cases,
            [&](uint64_t a, uint64_t, uint64_t, bool) { return static_cast<uint64_t>(value(a)); });
      Check(fmt::format("cvt.sat.{}.{} %d, %a;", d.name, s.name), {d.bytes, s.bytes, 0, 0}, cases,
            [&](uint64_t a, uint64_t, uint64_t, bool) {
              const uint32_t bits = 8 * d.bytes;
              const __int128 one = 1;
              const __int128 high = (one << (d.is_signed ? bits - 1 : bits)) - 1;
              const __int128 low = d.is_signed ? -(one << (bits - 1)) : 0;
              return static_cast<uint64_t>(std::min(std::max(value(a), low), high));
            });
    }
    Check(fmt::format("cvt.rn.f32.{} %d, %a;", s.name), {4, s.bytes, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) {
            return FromFloat(static_cast<float>(value(a)));
          });
    Check(fmt::format("cvt.rn.f64.{} %d, %a;", s.name), {8, s.bytes, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) {
            return std::bit_cast<uint64_t>(static_cast<double>(value(a)));
          });
    Check(fmt::format("cvt.rz.f32.{} %d, %a;", s.name), {4, s.bytes, 0, 0}, cases,
          [&](uint64_t a, uint64_t, uint64_t, bool) {
            const long double exact = static_cast<long double>(value(a));
            return FromFloat(Directed(exact, static_cast<float>(value(a)), 0));
          });
  }
}

TEST_P(Arithmetic, EightBitFloatsSaturateAndRoundTrip) {
  std::vector<Operands> cases;
  for (uint64_t code = 0; code < 0x10000; code += 257 * 3) {
    cases.push_back({code, 0, 0});
  }
  // e4m3 and e5m2 values are all halves: there and back again gives the same code, but for NaN and
  // infinity.
  for (const char* format : {"e4m3x2", "e5m2x2"}) {
    Check(fmt::format("cvt.rn.f16x2.{} %t, %a;\ncvt.rn.satfinite.{}.f16x2 %d, %t;", format, format),
          {2, 2, 0, 0}, cases, [&](uint64_t a, uint64_t, uint64_t, bool) {
            const auto canonical = [&](uint64_t c) -> uint64_t {
              const bool e4m3 = format[1] == '4';
              if (e4m3 ? (c & 0x7f) == 0x7f : (c & 0x7f) > 0x7c) {
                return 0x7f;
              }
              return !e4m3 && (c & 0x7f) == 0x7c ? (c & 0x80) | 0x7b : c;
            };
            return canonical(a & 0xff) | (canonical(a >> 8) << 8);
          });
  }
  const auto one = [](float hi, float lo) {
    return Operands{std::bit_cast<uint32_t>(hi), std::bit_cast<uint32_t>(lo), 0};
  };
  // 448 is e4m3's largest; 464 lies between it and 480: saturates. 2^-10 ties to even at zero below
  // 2^-9.
  const auto got =
      Apply("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", {2, 4, 4, 0},
            {one(1.0f, 448.0f), one(1000.0f, -0.0009765625f), one(NAN, 0.0029296875f)});
  EXPECT_EQ(got[0], 0x387eu);
  EXPECT_EQ(got[1], 0x7e80u);
  EXPECT_EQ(got[2], 0x7f02u);
}

}  // namespace
}  // namespace optiml::ptx
