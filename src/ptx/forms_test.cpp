// Every form of instruction that the kernels of the feasibility study use (base operation and
// modifiers) is accepted by the decoder. Asynchronous copies, mbarriers and clusters have their own
// tests.

#include <algorithm>
#include <map>

#include "ptx/test_support.h"

namespace optiml::ptx {
namespace {

struct Forms {
  const char* base;
  const char* modifiers;  // separated by blanks; "-": none
};

constexpr Forms kForms[] = {
    {"mov", "u32 f32 b32 f64 b64 u64 b16 pred s32 u16"},
    {"add", "s32 s64 f32 f64 u32 s16 rn.f32 rn.f64 f16x2 cc.u32 bf16"},
    {"ld",
     "param.u64 global.u32 shared.f32 global.nc.f32 global.f32 shared.u32 param.u32 shared.v4.f32 "
     "local.u32 "
     "global.u16 local.f32 global.f64 const.f32 shared.u16 param.f32 global.u64 param.b32 "
     "param.f64 param.s32 "
     "local.u64 global.u8 global.nc.v2.f64 shared.v4.u32 global.nc.u32 shared.v2.f32 shared.f64 "
     "param.u16 param.b64 "
     "global.v4.u32 global.v4.f32 global.v2.u32 global.nc.v4.u32 global.nc.v4.f32 global.nc.u64 "
     "global.lu.f32 "
     "global.cv.f32 global.cs.f32 global.cg.f32 acquire.gpu.u32 acquire.gpu.b32"},
    {"fma", "rn.f32 rn.f64 rm.f32 rn.f16 rz.f32 rn.bf16x2 rn.bf16"},
    {"setp",
     "eq.s32 ge.s32 lt.s32 gt.s32 ne.s32 lt.u32 lt.f32 eq.f32 eq.s64 geu.f32 gt.u32 eq.f64 ge.f32 "
     "ne.u32 ltu.f32 "
     "le.s32 gtu.f32 ne.s64 ltu.f64 lt.s64 lt.f64 leu.f32 gt.f32 ge.u32 eq.s16 gt.u64 ne.s16 "
     "num.f32 neu.f64 le.u32 "
     "gtu.f64 gt.s64 ge.s64 ge.f64 ne.b32 lt.u64 eq.b32"},
    {"mul",
     "f32 wide.s32 lo.s32 wide.u32 lo.s64 hi.u32 f64 rn.f32 rn.f64 hi.u64 wide.u16 lo.u32 f16x2"},
    {"bra", "- uni"},
    {"st",
     "global.f32 shared.u32 shared.f32 local.u32 global.u32 shared.u16 local.v2.u32 local.f32 "
     "local.v4.u32 param.b64 "
     "param.b32 global.v4.f32 param.f64 local.u64 global.u8 global.u64 param.f32 global.u16 "
     "global.f64 "
     "volatile.global.u32 u32 shared.v4.u32 shared.v2.f32 shared.f64 release.gpu.b32 local.f64 "
     "global.wt.f32 "
     "global.v4.u32 global.v2.u32 global.v2.f32 global.cs.v4.f32 global.cg.f32"},
    {"shl", "b32 b64 b16"},
    {"cvt",
     "s64.s32 u64.u32 u32.u64 rn.f32.u32 sat.f32.f32 rn.f32.s32 f64.f32 f32.f16 rn.f32.f64 u32.u16 "
     "rni.f32.f32 "
     "rn.f16.f32 rzi.f32.f32 rn.f64.s64 u16.u32 rzi.u32.f32 rzi.s32.f32 rni.s32.f32 rn.f64.s32 "
     "rn.f16x2.e4m3x2 s32.s16 "
     "rzi.u64.f64 rzi.s64.f64 rzi.s64.f32 rzi.s32.f64 rzi.f64.f64 rni.s32.f64 rn.f64.u32 "
     "rn.f32.s64 rn.bf16.f32 "
     "rmi.s32.f64 rmi.f64.f64 rmi.f32.f32 rn.satfinite.e5m2x2.f32 rn.satfinite.e4m3x2.f32 "
     "f32.bf16"},
    {"and", "b32 b64 pred b16"},
    {"xor", "b32 pred b64"},
    {"shr", "u32 s32 u64 b32 s64 u16"},
    {"cvta", "to.global.u64 global.u64 param.u64 local.u64"},
    {"sub", "s32 f32 f64 s64 cc.u32 s16"},
    {"selp", "f32 b32 u32 f64 b64 u64"},
    {"mad", "lo.s32 lo.cc.u32 wide.u32"},
    {"shfl", "sync.bfly.b32 sync.down.b32 sync.up.b32 sync.idx.b32"},
    {"or", "pred b32 b64 b16"},
    {"bar", "sync warp.sync red.popc.u32 red.or.pred red.and.pred"},
    {"div", "rn.f32 u32 s64 s32 approx.f32 rn.f64"},
    {"ret", "-"},
    {"neg", "f32 f64 s32 s64"},
    {"rem", "s32 u32 s64 u64"},
    {"max", "f32 s32 f64 f16x2"},
    {"ex2", "approx.ftz.f32 approx.f32"},
    {"atom",
     "global.add.f32 global.exch.b32 global.cas.b32 global.add.u64 global.add.u32 shared.add.u32 "
     "global.xor.b32 "
     "global.or.b32 global.min.s32 global.max.s32 global.inc.u32 global.dec.u32 global.and.b32 "
     "global.add.f64 "
     "add.release.gpu.u32 add.relaxed.gpu.s32 add.acquire.cta.f32"},
    {"wmma",
     "mma.sync.aligned.row.col.m16n16k16.f32.f32 load.b.sync.aligned.col.m16n16k16.global.f16 "
     "load.a.sync.aligned.row.m16n16k16.global.f16 store.d.sync.aligned.row.m16n16k16.global.f32"},
    {"abs", "f32 f64 s64"},
    {"not", "b32 pred"},
    {"call", "uni -"},
    {"sqrt", "rn.f32 rn.f64 approx.ftz.f32"},
    {"madc", "hi.u32 hi.cc.u32 lo.cc.u32"},
    {"rcp", "approx.ftz.f64 approx.ftz.f32 rn.f32"},
    {"rsqrt", "approx.f32"},
    {"sin", "approx.f32"},
    {"cos", "approx.f32"},
    {"popc", "b32 b64"},
    {"copysign", "f32 f64"},
    {"barrier", "sync"},
    {"addc", "u32 cc.u32"},
    {"set", "eq.f16.f16"},
    {"bmsk", "clamp.b32"},
    {"clz", "b64 b32"},
    {"vote", "sync.ballot.b32 sync.any.pred sync.all.pred"},
    {"wgmma",
     "wait_group.sync.aligned mma_async.sync.aligned.m64n8k16.f32.f16.f16 fence.sync.aligned "
     "commit_group.sync.aligned"},
    {"bfi", "b64"},
    {"nanosleep", "u32"},
    {"brev", "b32 b64"},
    {"subc", "cc.u32 u32"},
    {"min", "s32 u32 s64"},
    {"membar", "sys gl cta"},
    {"fence", "sc.cta"},
    {"activemask", "b32"},
    {"trap", "-"},
    {"ldmatrix", "sync.aligned.m8n8.x4.shared.b16 sync.aligned.m8n8.x2.trans.shared.b16"},
    {"match", "any.sync.b32 all.sync.b32"},
    {"tex", "2d.v4.f32.f32 1d.v4.f32.s32"},
    {"lg2", "approx.f32"},
    {"redux", "sync.max.s32"},
    {"mma", "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {"bfind", "shiftamt.u32"},
    {"prmt", "b32"},
    {"shf", "l.wrap.b32"},
    {"dp4a", "s32.s32"},
    {"sad", "s32"},
    {"prefetch", "global.L2"},
};

std::vector<std::string> Words(const std::string& text, char separator) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t next = std::min(text.find(separator, at), text.size());
    words.push_back(text.substr(at, next - at));
    at = next + 1;
  }
  return words;
}

// "%f3": a register of the type's class.
std::string Reg(Type type, int number) {
  const char* prefix = type == Type::kPred    ? "%p"
                       : type == Type::kF32   ? "%f"
                       : type == Type::kF64   ? "%fd"
                       : TypeBytes(type) == 8 ? "%rd"
                       : TypeBytes(type) <= 2 ? "%h"
                                              : "%r";
  return fmt::format("{}{}", prefix, number);
}

std::string Regs(Type type, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + Reg(type, first + i);
  }
  return text + "}";
}

Type Wider(Type type) {
  return TypeBytes(type) == 2 ? Type::kU32 : Type::kU64;
}

// A minimal valid use of `base.modifiers` in the kernel of KernelText, or empty when the table has
// a form that this does not know.
std::string Use(const std::string& base, const std::string& modifiers) {
  const std::vector<std::string> words =
      modifiers == "-" ? std::vector<std::string>() : Words(modifiers, '.');
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  std::vector<Type> types;
  for (const std::string& word : words) {
    if (const Type type = ParseType(word); type != Type::kNone) {
      types.push_back(type);
    }
  }
  const Type type = types.empty() ? Type::kNone : types.back();
  const Type first = types.empty() ? Type::kNone : types.front();
  const std::string opcode = base + (modifiers == "-" ? "" : "." + modifiers);
  const auto make = [&](const std::string& operands) {
    return opcode + (operands.empty() ? "" : " ") + operands + ";";
  };
  const auto sources = [&](Type result, int count) {
    std::string text = Reg(result, 1);
    for (int i = 0; i < count; ++i) {
      text += ", " + Reg(type, i + 2);
    }
    return make(text);
  };
  static const std::map<std::string, int> kPlain = {
      {"mov", 1}, {"neg", 1},  {"abs", 1},  {"not", 1},  {"ex2", 1},   {"lg2", 1},
      {"sin", 1}, {"cos", 1},  {"sqrt", 1}, {"rcp", 1},  {"rsqrt", 1}, {"brev", 1},
      {"add", 2}, {"sub", 2},  {"and", 2},  {"or", 2},   {"xor", 2},   {"div", 2},
      {"rem", 2}, {"min", 2},  {"max", 2},  {"addc", 2}, {"subc", 2},  {"copysign", 2},
      {"fma", 3}, {"madc", 3}, {"sad", 3},  {"prmt", 3}, {"shf", 3},   {"dp4a", 3}};
  if (const auto it = kPlain.find(base); it != kPlain.end()) {
    return sources(type, it->second);
  }
  if (base == "mul") {
    return sources(has("wide") ? Wider(type) : type, 2);
  }
  if (base == "mad") {
    return has("wide") ? make(fmt::format("{}, {}, {}, {}", Reg(Wider(type), 1), Reg(type, 2),
                                          Reg(type, 3), Reg(Wider(type), 4)))
                       : sources(type, 3);
  }
  if (base == "ld" || base == "st") {
    const bool store = base == "st";
    const int vector = has("v4") ? 4 : has("v2") ? 2 : 1;
    const std::string value = vector == 1 ? Reg(type, 1) : Regs(type, 1, vector);
    const std::string place = has("shared")  ? "[smem]"
                              : has("local") ? "[lmem]"
                              : has("const") ? "[table]"
                              : has("param") ? (store ? "[q]" : "[p0]")
                                             : "[%rd9]";
    const std::string text = make(store ? place + ", " + value : value + ", " + place);
    return store && has("param") ? "{ .param .b64 q; " + text + " }" : text;
  }
  if (base == "setp") {
    return make(fmt::format("%p1, {}, {}", Reg(type, 1), Reg(type, 2)));
  }
  if (base == "set") {
    return make(fmt::format("{}, {}, {}", Reg(first, 1), Reg(type, 2), Reg(type, 3)));
  }
  if (base == "bra") {
    return make("over") + "\nover:";
  }
  if (base == "shl" || base == "shr") {
    return make(fmt::format("{}, {}, %r3", Reg(type, 1), Reg(type, 2)));
  }
  if (base == "cvt") {
    const bool two = type == Type::kF32 && (first == Type::kE4m3x2 || first == Type::kE5m2x2);
    return make(Reg(first, 1) + ", " + Reg(type, 2) + (two ? ", " + Reg(type, 3) : ""));
  }
  if (base == "cvta") {
    return make("%rd1, %rd2");
  }
  if (base == "selp") {
    return make(fmt::format("{}, {}, {}, %p1", Reg(type, 1), Reg(type, 2), Reg(type, 3)));
  }
  if (base == "shfl") {
    return make("%r1|%p1, %r2, 1, 31, -1");
  }
  if (base == "bar" || base == "barrier") {
    return has("warp")  ? make("-1")
           : has("red") ? make(has("popc") ? "%r1, 0, %p1" : "%p2, 0, %p1")
                        : make("0");
  }
  if (base == "ret" || base == "trap") {
    return "@%p1 " + make("");
  }
  if (base == "atom") {
    const std::string place = has("shared") ? "[smem]" : "[%rd9]";
    return make(fmt::format("{}, {}, {}{}", Reg(type, 1), place, Reg(type, 2),
                            has("cas") ? ", " + Reg(type, 3) : ""));
  }
  if (base == "popc" || base == "clz" || base == "bfind") {
    return make("%r1, " + Reg(type, 2));
  }
  if (base == "bmsk") {
    return make("%r1, %r2, %r3");
  }
  if (base == "bfi") {
    return make(fmt::format("{}, {}, {}, %r1, %r2", Reg(type, 1), Reg(type, 2), Reg(type, 3)));
  }
  if (base == "vote") {
    return make(fmt::format("{}, %p1, -1", has("ballot") ? "%r1" : "%p2"));
  }
  if (base == "nanosleep") {
    return make("20");
  }
  if (base == "membar" || base == "fence") {
    return make("");
  }
  if (base == "activemask") {
    return make("%r1");
  }
  if (base == "match") {
    return make(has("all") ? "%r1|%p1, %r2, -1" : "%r1, %r2, -1");
  }
  if (base == "redux") {
    return make("%r1, %r2, -1");
  }
  if (base == "prefetch") {
    return make("[%rd9]");
  }
  if (base == "call") {
    return "{ .param .b32 q; .param .b32 answer; st.param.b32 [q], %r1; " +
           make("(answer), callee, (q)") + " ld.param.b32 %r1, [answer]; }";
  }
  if (base == "tex") {
    return make(has("2d") ? "{%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]"
                          : "{%f1, %f2, %f3, %f4}, [%rd1, {%r1}]");
  }
  if (base == "ldmatrix") {
    return make(Regs(Type::kB32, 1, has("x4") ? 4 : 2) + ", [smem]");
  }
  if (base == "mma") {
    return make(fmt::format("{}, {}, {}, {}", Regs(Type::kF32, 0, 4), Regs(Type::kB32, 0, 4),
                            Regs(Type::kB32, 4, 2), Regs(Type::kF32, 4, 4)));
  }
  if (base == "wmma") {
    if (has("mma")) {
      return make(fmt::format("{}, {}, {}, {}", Regs(Type::kF32, 0, 8), Regs(Type::kB32, 0, 8),
                              Regs(Type::kB32, 8, 8), Regs(Type::kF32, 8, 8)));
    }
    return make(has("store") ? "[%rd9], " + Regs(Type::kF32, 0, 8) + ", %r20"
                             : Regs(Type::kB32, 0, 8) + ", [%rd9], %r20");
  }
  if (base == "wgmma") {
    return has("mma_async")    ? make(Regs(Type::kF32, 0, 4) + ", %rd1, %rd2, %p1, 1, 1, 0, 0")
           : has("wait_group") ? make("0")
                               : make("");
  }
  return {};
}

const char* const kModule =
    ".shared .align 16 .b8 smem[64];\n.const .align 4 .f32 table[4];\n"
    ".func (.param .b32 r) callee(.param .b32 x)\n{\n.reg .b32 %v;\nld.param.b32 %v, "
    "[x];\nst.param.b32 [r], %v;\nret;\n}\n";

TEST(Forms, EveryFormOfTheStudyIsAccepted) {
  size_t count = 0;
  for (const Forms& forms : kForms) {
    for (const std::string& modifiers : Words(forms.modifiers, ' ')) {
      ++count;
      const std::string text = Use(forms.base, modifiers);
      ASSERT_FALSE(text.empty()) << forms.base << "." << modifiers << " has no example";
      const Module module = MustParse(KernelText(
          ".local .align 16 .b8 lmem[64];\nld.param.u64 %rd9, [p0];\n" + text, 1, kModule));
      const auto unsupported = UnsupportedInstructions(module, "k");
      EXPECT_TRUE(unsupported.empty()) << text << ": " << unsupported.front();
    }
  }
  EXPECT_GT(count, 300u);
}

// What is not executed is named and refused, never half done.
TEST(Forms, WhatIsNotExecutedIsRefusedByName) {
  const char* const kRefused[] = {
      "min.f32 %f1, %f2, %f3, %f4;",  // three operands: compute capability 10.0
      "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
      "%r4}, {%r5, %r6}, {%f5, "
      "%f6, %f7, %f8};",
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5, "
      "%r6}, {%f5, %f6, %f7, "
      "%f8};",
      "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, "
      "{%r5, %r6}, {%f5, %f6, "
      "%f7, %f8}, %r7, 0;",
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
      "%r4}, {%r5, %r6}, "
      "{%f5, %f6};",
      "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, "
      "1, 1, 0, 0;",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 2, "
      "1, 0, 0;",
      "wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
      "[%rd1], 16;",
      "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f4}];",
      "sust.p.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};",
      "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1, %r2, %r3}, [smem];",
  };
  for (const char* text : kRefused) {
    const Module module = MustParse(KernelText(text, 1, kModule));
    const auto unsupported = UnsupportedInstructions(module, "k");
    ASSERT_EQ(unsupported.size(), 1u) << text;
    EXPECT_NE(unsupported.front().find(std::string(text).substr(0, std::string(text).find(' '))),
              std::string::npos)
        << unsupported.front();
  }
}

}  // namespace
}  // namespace optiml::ptx
