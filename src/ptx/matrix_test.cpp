// Matrix instructions against a reference that works on integers: mantissas, exponents and shifts,
// written apart from the emulator's arithmetic. What the GPU gives is compared by tests/agree.

#include <array>
#include <cmath>
#include <functional>

#include "base/rng.h"
#include "ptx/alu.h"
#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
};
constexpr Format kF16{5, 10};
constexpr Format kBf16{8, 7};
constexpr Format kTf32{8, 10};
constexpr Format kE4m3{4, 3};
constexpr Format kE5m2{5, 2};
constexpr Format kF32{8, 23};

// value = mantissa * 2^(exponent - fraction bits); `exponent` is that of the leading bit's place.
struct Number {
  int64_t mantissa = 0;
  int exponent = 0;
};

Number Split(uint64_t bits, Format format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto field =
      static_cast<int>(bits >> format.fraction_bits & ((1u << format.exponent_bits) - 1));
  auto mantissa = static_cast<int64_t>(bits & ((uint64_t{1} << format.fraction_bits) - 1));
  if (field != 0) {
    mantissa |= int64_t{1} << format.fraction_bits;
  }
  const bool negative = (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0;
  return {negative ? -mantissa : mantissa, (field == 0 ? 1 : field) - bias};
}

// The fused sum: products and c, each cut to `kept` bits below the largest exponent, rounded toward
// zero to an f32 with `result_bits` of fraction.
uint32_t FusedSum(const std::vector<std::pair<uint64_t, uint64_t>>& pairs, Format a, Format b,
                  uint32_t c, int kept, int result_bits) {
  struct Term {
    __int128 mantissa;
    int exponent;
    int fraction_bits;
  };
  std::vector<Term> terms;
  const Number addend = Split(c, kF32);
  terms.push_back({addend.mantissa, addend.exponent, kF32.fraction_bits});
  for (const auto& [x, y] : pairs) {
    const Number p = Split(x, a);
    const Number q = Split(y, b);
    terms.push_back({static_cast<__int128>(p.mantissa) * q.mantissa, p.exponent + q.exponent,
                     a.fraction_bits + b.fraction_bits});
  }
  int most = -10000;
  for (const Term& term : terms) {
    most = term.mantissa != 0 ? std::max(most, term.exponent) : most;
  }
  if (most == -10000) {
    return 0;
  }
  // In units of 2^(most - kept).
  __int128 sum = 0;
  for (const Term& term : terms) {
    const int shift = kept - term.fraction_bits - (most - term.exponent);
    const __int128 magnitude = term.mantissa < 0 ? -term.mantissa : term.mantissa;
    const __int128 units = shift >= 0 ? magnitude << shift : -shift > 100 ? 0 : magnitude >> -shift;
    sum += term.mantissa < 0 ? -units : units;
  }
  const bool negative = sum < 0;
  auto magnitude = static_cast<uint64_t>(negative ? -sum : sum);
  if (magnitude == 0) {
    return 0;
  }
  const int top = 63 - std::countl_zero(magnitude);
  const int exponent = most - kept + top;
  uint32_t result = 0;
  if (exponent > 127) {
    result = 0x7f800000;
  } else {
    const int places = exponent >= -126 ? result_bits : result_bits + exponent + 126;
    if (places >= 0) {
      const uint64_t fraction =
          places >= top ? magnitude << (places - top) : magnitude >> (top - places);
      result = static_cast<uint32_t>(fraction << (23 - result_bits));
      result = exponent >= -126 ? (result & 0x7fffff) | static_cast<uint32_t>(exponent + 127) << 23
                                : result;
    }
  }
  return result | (negative ? 0x80000000u : 0u);
}

// Registers of a warp, [lane][register].
using Fragment = std::vector<uint32_t>;

// Runs `body` on one warp with %a, %b, %c of so many registers; returns the registers %d.
Fragment RunWarp(const std::string& body, const std::vector<Fragment>& inputs, size_t results,
                 LaunchOutcome* outcome = nullptr, uint32_t threads = 32,
                 const std::string& module_level = {}) {
  std::string text = Header() + module_level + ".visible .entry k(";
  for (size_t i = 0; i <= inputs.size(); ++i) {
    text += fmt::format("{}.param .u64 p{}", i == 0 ? "" : ", ", i);
  }
  text += ")\n{\n.reg .b32 %t<16>;\n.reg .b64 %x, %u<8>;\n.reg .pred %p<4>;\n";
  text += "mov.u32 %t0, %tid.x;\n";
  const std::string_view names = "abc";
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t count = inputs[i].size() / threads;
    text +=
        fmt::format(".reg .b32 %{}<{}>;\nld.param.u64 %x, [p{}];\nmad.wide.u32 %x, %t0, {}, %x;\n",
                    names[i], count, i, 4 * count);
    for (size_t r = 0; r < count; ++r) {
      text += fmt::format("ld.global.b32 %{}{}, [%x+{}];\n", names[i], r, 4 * r);
    }
  }
  text += fmt::format(".reg .b32 %d<{}>;\n", results);
  for (size_t r = 0; r < results; ++r) {
    text += fmt::format("mov.b32 %d{}, 0;\n", r);
  }
  text += body;
  text += fmt::format("ld.param.u64 %x, [p{}];\nmad.wide.u32 %x, %t0, {}, %x;\n", inputs.size(),
                      4 * results);
  for (size_t r = 0; r < results; ++r) {
    text += fmt::format("st.global.b32 [%x+{}], %d{};\n", 4 * r, r);
  }
  text += "ret;\n}\n";
  const Module module = MustParse(text);
  DeviceMemory memory;
  std::vector<std::vector<std::byte>> arguments;
  for (const Fragment& input : inputs) {
    arguments.push_back(Argument(Upload(memory, "in", input)));
  }
  const uint64_t out = Upload(memory, "out", Fragment(results * threads));
  arguments.push_back(Argument(out));
  LaunchRequest request = Request(module, "k", {1}, {threads}, arguments);
  request.checks = {true, true, false, true};
  const LaunchOutcome got = Launch(request, memory);
  if (outcome != nullptr) {
    *outcome = got;
  } else {
    EXPECT_TRUE(got.clean()) << got.message << (got.findings.empty() ? "" : got.findings[0].detail)
                             << "\n"
                             << text;
  }
  return Download<uint32_t>(memory, out);
}

std::string Vector(char name, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i) {
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  }
  return text + "}";
}

// Numbers without infinities: exponents spread over `spread` binades around one.
uint64_t RandomNumber(Rng& rng, Format format, int spread) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent =
      static_cast<int>(rng.NextBelow(static_cast<uint64_t>(2 * spread + 1))) - spread + bias;
  const uint64_t field = static_cast<uint64_t>(std::clamp(exponent, 0, 2 * bias));
  return (rng.Next() & 1) << (format.exponent_bits + format.fraction_bits) |
         field << format.fraction_bits | (rng.Next() & ((uint64_t{1} << format.fraction_bits) - 1));
}

class Matrices : public EveryHandlerTable {};

INSTANTIATE_TEST_SUITE_P(AllInstructionSets, Matrices, testing::Values(size_t{0}, size_t{1}));

// mma.sync with f32 results; element (row, k) of A is in the lane and register that PTX gives it.
struct MmaCase {
  const char* opcode;
  uint32_t k;
  uint32_t per_register;  // elements of A and B
  Format format;
  uint32_t bits;         // of an element in its register
  uint32_t value_shift;  // low bits of it that the number does not have (tf32)
  int spread;
};

TEST_P(Matrices, FloatProductsAreOneFusedTruncatedSum) {
  const MmaCase kCases[] = {
      {"m16n8k16.row.col.f32.f16.f16.f32", 16, 2, kF16, 16, 0, 4},
      {"m16n8k16.row.col.f32.f16.f16.f32", 16, 2, kF16, 16, 0, 16},
      {"m16n8k8.row.col.f32.f16.f16.f32", 8, 2, kF16, 16, 0, 8},
      {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2, kBf16, 16, 0, 20},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2, kBf16, 16, 0, 4},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1, kTf32, 32, 13, 20},
      {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 1, kTf32, 32, 13, 4},
  };
  Rng rng(11);
  for (const MmaCase& c : kCases) {
    const uint32_t a_registers = 16 * c.k / 32 / c.per_register;
    const uint32_t b_registers = 8 * c.k / 32 / c.per_register;
    std::vector<std::vector<uint64_t>> a(16, std::vector<uint64_t>(c.k));
    std::vector<std::vector<uint64_t>> b(c.k, std::vector<uint64_t>(8));
    Fragment fa(32 * a_registers);
    Fragment fb(32 * b_registers);
    Fragment fc(32 * 4);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t r = 0; r < a_registers; ++r) {
        for (uint32_t e = 0; e < c.per_register; ++e) {
          const uint64_t x = RandomNumber(rng, c.format, c.spread);
          a[lane / 4 + 8 * (r % 2)][r / 2 * 4 * c.per_register + lane % 4 * c.per_register + e] = x;
          // What lies below a tf32 number is ignored.
          const uint64_t noise = c.value_shift > 0 ? rng.Next() & 0x1fff : 0;
          fa[lane * a_registers + r] |=
              static_cast<uint32_t>((x << c.value_shift | noise) << (c.bits * e));
        }
      }
      for (uint32_t r = 0; r < b_registers; ++r) {
        for (uint32_t e = 0; e < c.per_register; ++e) {
          const uint64_t x = RandomNumber(rng, c.format, c.spread);
          b[r * 4 * c.per_register + lane % 4 * c.per_register + e][lane / 4] = x;
          fb[lane * b_registers + r] |= static_cast<uint32_t>((x << c.value_shift) << (c.bits * e));
        }
      }
      for (uint32_t r = 0; r < 4; ++r) {
        fc[lane * 4 + r] = static_cast<uint32_t>(RandomNumber(rng, kF32, c.spread + 4));
      }
    }
    const Fragment d =
        RunWarp(fmt::format("mma.sync.aligned.{} {}, {}, {}, {};\n", c.opcode, Vector('d', 4),
                            Vector('a', a_registers), Vector('b', b_registers), Vector('c', 4)),
                {fa, fb, fc}, 4);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t r = 0; r < 4; ++r) {
        const uint32_t row = lane / 4 + 8 * (r / 2);
        const uint32_t column = lane % 4 * 2 + r % 2;
        std::vector<std::pair<uint64_t, uint64_t>> pairs;
        for (uint32_t k = 0; k < c.k; ++k) {
          pairs.emplace_back(a[row][k], b[k][column]);
        }
        const uint32_t want = FusedSum(pairs, c.format, c.format, fc[lane * 4 + r], 25, 23);
        ASSERT_EQ(d[lane * 4 + r] & 0x7fffffffu, want & 0x7fffffffu)
            << c.opcode << " lane " << lane << " register " << r;
        ASSERT_TRUE(d[lane * 4 + r] == want || (want & 0x7fffffffu) == 0)
            << c.opcode << " lane " << lane;
      }
    }
  }
}

TEST_P(Matrices, SpecialValuesGiveWhatIeeeGives) {
  const float inf = std::numeric_limits<float>::infinity();
  struct Special {
    uint32_t a, b, c;  // f16 twice, f16 twice, f32
    uint32_t want;
  };
  const Special kCases[] = {
      {0x7c007c00, 0x3c003c00, 0, 0x7f800000},                              // inf * 1
      {0x7c007c00, 0xbc00bc00, 0, 0xff800000},                              // inf * -1
      {0x7c007c00, 0x00000000, 0, 0x7fffffff},                              // inf * 0
      {0x7c007c00, 0xbc003c00, 0, 0x7fffffff},                              // inf - inf
      {0x7e007e00, 0x3c003c00, 0, 0x7fffffff},                              // NaN
      {0x3c003c00, 0x3c003c00, std::bit_cast<uint32_t>(inf), 0x7f800000},   // c
      {0x7c007c00, 0x3c003c00, std::bit_cast<uint32_t>(-inf), 0x7fffffff},  // inf - c
      {0x7bff7bff, 0x7bff7bff, 0x7f7fffff, 0x7f7fffff},  // no overflow by what is cut off
      {0, 0, 0x80000000, 0},                             // an empty sum is +0
  };
  for (const Special& s : kCases) {
    const Fragment d = RunWarp(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, "
        "%a3}, {%b0, %b1}, "
        "{%c0, %c1, %c2, %c3};\n",
        {Fragment(128, s.a), Fragment(64, s.b), Fragment(128, s.c)}, 4);
    for (const uint32_t got : d) {
      ASSERT_EQ(got, s.want) << fmt::format("{:x} {:x} {:x}", s.a, s.b, s.c);
    }
  }
}

TEST_P(Matrices, HalfAccumulatorsRoundToNearest) {
  // 1 + 2^-11 lies halfway: to even. 1 + 2^-11 + 2^-20 goes up.
  const auto product = [](uint32_t first, uint32_t second) {
    Fragment a(32 * 4);
    Fragment b(32 * 2, 0x3c003c00);
    for (uint32_t lane = 0; lane < 32; lane += 4) {
      a[lane * 4] = first | second << 16;  // k = 0 and 1 of row lane / 4
    }
    return RunWarp(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, {%b0, "
        "%b1}, {%c0, %c1};\n",
        {a, b, Fragment(64, 0)}, 2)[0];
  };
  EXPECT_EQ(product(0x3c00, 0x1000), 0x3c003c00u);  // 2^-11
  EXPECT_EQ(product(0x3c01, 0x1000), 0x3c023c02u);
  EXPECT_EQ(product(0x3c00, 0x1002), 0x3c013c01u);  // 2^-11 * (1 + 2^-9)
}

TEST_P(Matrices, IntegersWrapOrClamp) {
  Rng rng(5);
  for (const bool clamp : {false, true}) {
    Fragment a(32 * 4);
    Fragment b(32 * 2);
    Fragment c(32 * 4);
    for (auto* fragment : {&a, &b, &c}) {
      for (uint32_t& word : *fragment) {
        word = static_cast<uint32_t>(rng.Next());
      }
    }
    for (size_t i = 0; i < c.size(); i += 2) {
      c[i] = i % 4 == 0 ? 0x7ffffff0 : 0x8000000f;  // near both ends
    }
    const Fragment d =
        RunWarp(fmt::format("mma.sync.aligned.m16n8k32.row.col{}.s32.u8.s8.s32 {}, {}, {}, {};\n",
                            clamp ? ".satfinite" : "", Vector('d', 4), Vector('a', 4),
                            Vector('b', 2), Vector('c', 4)),
                {a, b, c}, 4);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t r = 0; r < 4; ++r) {
        const uint32_t row = lane / 4 + 8 * (r / 2);
        const uint32_t column = lane % 4 * 2 + r % 2;
        int64_t sum = static_cast<int32_t>(c[lane * 4 + r]);
        for (uint32_t k = 0; k < 32; ++k) {
          const uint32_t a_word = a[(row % 8 * 4 + k % 16 / 4) * 4 + row / 8 + k / 16 * 2];
          const uint32_t b_word = b[(column * 4 + k % 16 / 4) * 2 + k / 16];
          sum += static_cast<int64_t>(static_cast<uint8_t>(a_word >> (8 * (k % 4)))) *
                 static_cast<int8_t>(b_word >> (8 * (k % 4)));
        }
        const int64_t clamped = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
        ASSERT_EQ(d[lane * 4 + r], static_cast<uint32_t>(clamp ? clamped : sum))
            << lane << " " << r;
      }
    }
  }
}

// fp8 in mma.sync is two sums on top of each other and an addition of C.
TEST_P(Matrices, EightBitFloatsAreSummedInHalves) {
  Rng rng(21);
  Fragment fa(32 * 4);
  Fragment fb(32 * 2);
  Fragment fc(32 * 4);
  for (auto [fragment, format] : {std::pair{&fa, kE4m3}, std::pair{&fb, kE5m2}}) {
    for (uint32_t& word : *fragment) {
      for (uint32_t e = 0; e < 4; ++e) {
        word |= static_cast<uint32_t>(RandomNumber(rng, format, 3)) << (8 * e);
      }
    }
  }
  for (uint32_t& word : fc) {
    word = static_cast<uint32_t>(RandomNumber(rng, kF32, 6));
  }
  const Fragment d = RunWarp(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, "
      "%a3}, {%b0, %b1}, "
      "{%c0, %c1, %c2, %c3};\n",
      {fa, fb, fc}, 4);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t row = lane / 4 + 8 * (r / 2);
      const uint32_t column = lane % 4 * 2 + r % 2;
      uint32_t sum = 0;
      for (uint32_t half = 0; half < 2; ++half) {
        std::vector<std::pair<uint64_t, uint64_t>> pairs;
        for (uint32_t k = 0; k < 32; ++k) {
          if (k % 4 / 2 == half) {
            const uint32_t a_word = fa[(row % 8 * 4 + k % 16 / 4) * 4 + row / 8 + k / 16 * 2];
            const uint32_t b_word = fb[(column * 4 + k % 16 / 4) * 2 + k / 16];
            pairs.emplace_back(a_word >> (8 * (k % 4)) & 0xff, b_word >> (8 * (k % 4)) & 0xff);
          }
        }
        sum = FusedSum(pairs, kE4m3, kE5m2, sum, 25, 23);
      }
      const float want = std::bit_cast<float>(fc[lane * 4 + r]) + std::bit_cast<float>(sum);
      ASSERT_EQ(d[lane * 4 + r], std::bit_cast<uint32_t>(want)) << lane << " " << r;
    }
  }
}

TEST_P(Matrices, MatricesMoveBetweenLanes) {
  // Row r of matrix m is at byte 16 * (8 m + r); its elements are 100 m + 10 r + column.
  const std::string fill =
      "mov.u32 %t1, smem;\nmad.lo.u32 %t1, %t0, 16, %t1;\nshr.u32 %t2, %t0, 3;\nmul.lo.u32 %t2, "
      "%t2, 100;\n"
      "and.b32 %t3, %t0, 7;\nmad.lo.u32 %t2, %t3, 10, %t2;\nmad.lo.u32 %t2, %t2, 0x10001, "
      "0x10000;\n"
      "st.shared.b32 [%t1], %t2;\nadd.u32 %t2, %t2, 0x20002;\nst.shared.b32 [%t1+4], %t2;\nadd.u32 "
      "%t2, %t2, "
      "0x20002;\nst.shared.b32 [%t1+8], %t2;\nadd.u32 %t2, %t2, 0x20002;\nst.shared.b32 [%t1+12], "
      "%t2;\nbar.sync 0;\n";
  const std::string shared = ".shared .align 16 .b8 smem[1024];\n";
  const auto element = [](uint32_t m, uint32_t row, uint32_t column) {
    return 100 * m + 10 * row + column;
  };
  for (const bool transposed : {false, true}) {
    for (const uint32_t count : {1u, 2u, 4u}) {
      const std::string mnemonic = fmt::format("matrix.sync.aligned.m8n8.x{}{}.shared.b16", count,
                                               transposed ? ".trans" : "");
      const Fragment d =
          RunWarp(fill + fmt::format("ld{} {}, [%t1];\n", mnemonic, Vector('d', count)), {}, count,
                  nullptr, 32, shared);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        for (uint32_t m = 0; m < count; ++m) {
          const uint32_t outer = lane / 4;
          const uint32_t inner = lane % 4 * 2;
          const uint32_t want = transposed
                                    ? element(m, inner, outer) | element(m, inner + 1, outer) << 16
                                    : element(m, outer, inner) | element(m, outer, inner + 1) << 16;
          ASSERT_EQ(d[lane * count + m], want) << mnemonic << " lane " << lane;
        }
      }
      // And back: what ldmatrix read, stmatrix writes to the same rows elsewhere.
      const Fragment rows =
          RunWarp(fill + fmt::format("ld{0} {1}, [%t1];\nst{0} [%t1+512], {1};\nbar.sync "
                                     "0;\nsetp.lt.u32 %p0, %t0, {2};\n"
                                     "mov.u32 %d0, 0;\n@%p0 ld.shared.b32 %d0, [%t1+516];\n",
                                     mnemonic, Vector('d', count), 8 * count),
                  {}, count, nullptr, 32, shared);
      for (uint32_t lane = 0; lane < 8 * count; ++lane) {
        ASSERT_EQ(rows[lane * count],
                  element(lane / 8, lane % 8, 2) | element(lane / 8, lane % 8, 3) << 16)
            << mnemonic;
      }
    }
  }
  Fragment a(32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    a[lane] = element(0, lane / 4, lane % 4 * 2) | element(0, lane / 4, lane % 4 * 2 + 1) << 16;
  }
  const Fragment d = RunWarp("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;\n", {a}, 1);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    ASSERT_EQ(d[lane], element(0, lane % 4 * 2, lane / 4) | element(0, lane % 4 * 2 + 1, lane / 4)
                                                                << 16);
  }
}

TEST(MatrixChecks, PartOfAWarpIsAFault) {
  LaunchOutcome outcome;
  RunWarp(
      "setp.lt.u32 %p0, %t0, 16;\n@%p0 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, "
      "%d2, %d3}, {%a0, "
      "%a1}, {%b0}, {%c0, %c1, %c2, %c3};\n",
      {Fragment(64), Fragment(32), Fragment(128)}, 4, &outcome);
  ASSERT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outcome.findings[0].kind, "divergent warp instruction");
  EXPECT_NE(outcome.findings[0].detail.find("16 of 32 lanes"), std::string::npos)
      << outcome.findings[0].detail;
}

TEST(MatrixChecks, LdmatrixLooksAtTheRowsThatItReads) {
  LaunchOutcome outcome;
  // Lanes 0 to 7 give rows; the address of lane 8 is not looked at.
  const std::string shared = ".shared .align 16 .b8 smem[128];\n";
  const std::string fill =
      "mov.u32 %t1, smem;\nmad.lo.u32 %t1, %t0, 16, %t1;\nmov.u32 %t2, smem;\nmad.lo.u32 %t2, %t0, "
      "4, "
      "%t2;\nst.shared.b32 [%t2], %t0;\nbar.sync 0;\n";
  RunWarp(fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%t1];\n", {}, 1, &outcome, 32,
          shared);
  EXPECT_TRUE(outcome.clean()) << outcome.message;
  RunWarp(fill + "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%d0, %d1}, [%t1];\n", {}, 2, &outcome,
          32, shared);
  ASSERT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outcome.findings[0].kind, "out of bounds");
  RunWarp(fill + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d0}, [%t1+8];\n", {}, 1, &outcome, 32,
          shared);
  ASSERT_EQ(outcome.status, LaunchStatus::kFault);
  EXPECT_EQ(outcome.findings[0].kind, "misaligned");
}

}  // namespace
}  // namespace optiml::ptx
