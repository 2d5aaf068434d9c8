#include "rewrite/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/program/simplify.h"

namespace optiml::rewrite {
namespace {

using testing::HasSubstr;
using testing::Optional;

ExprPtr I(const char* name) {
  return Symbol(name, Scalar::kI32);
}
ExprPtr F(const char* name) {
  return Symbol(name, Scalar::kF32);
}
ExprPtr Op(const char* op, ExprPtr a, ExprPtr b) {
  const Scalar type = a->type;
  return Binary(op, std::move(a), std::move(b), type);
}
ExprPtr Less(ExprPtr a, ExprPtr b) {
  return Binary("<", std::move(a), std::move(b), Scalar::kBool);
}

TEST(Print, WritesOnlyTheParenthesesThatPrecedenceNeeds) {
  EXPECT_EQ(Print(Op("+", Op("*", I("a"), I("b")), I("c"))), "a * b + c");
  EXPECT_EQ(Print(Op("*", I("a"), Op("+", I("b"), I("c")))), "a * (b + c)");
  EXPECT_EQ(Print(Op("-", I("a"), Op("-", I("b"), I("c")))), "a - (b - c)");
  EXPECT_EQ(Print(Op("-", Op("-", I("a"), I("b")), I("c"))), "a - b - c");
  EXPECT_EQ(Print(Unary("-", Op("+", I("a"), I("b")))), "-(a + b)");
  EXPECT_EQ(Print(Op("/", Cast(Scalar::kF32, Op("+", I("a"), I("b"))), F("x"))), "(a + b) / x");
  EXPECT_EQ(
      Print(Select(Less(I("a"), I("b")), Select(Less(I("b"), I("c")), I("x"), I("y")), I("z"))),
      "a < b ? b < c ? x : y : z");
  EXPECT_EQ(Print(Op("*", Select(Less(I("a"), I("b")), I("x"), I("y")), I("z"))),
            "(a < b ? x : y) * z");
  EXPECT_EQ(Print(Op("&", Op("|", I("a"), I("b")), Op("<<", I("c"), Int(2)))), "(a | b) & c << 2");
}

TEST(Print, NeverJoinsTwoMinusSigns) {
  EXPECT_EQ(Print(Unary("-", Unary("-", I("a")))), "-(-a)");
  EXPECT_EQ(Print(Unary("-", Int(-1))), "-(-1)");
  EXPECT_EQ(Print(Op("-", I("a"), Int(-1))), "a - -1");
}

TEST(Print, LeavesOutCastsThatTheLanguageMakesAnyway) {
  const ExprPtr wide = Op("*", Cast(Scalar::kU64, I("row")), Cast(Scalar::kU64, I("cols")));
  EXPECT_EQ(Print(wide), "(size_t)row * cols");
  EXPECT_EQ(Print(Op("*", Cast(Scalar::kF32, I("i")), F("x"))), "i * x");
  EXPECT_EQ(Print(Op("+", Symbol("i", Scalar::kI64), Int(1, Scalar::kI64))), "i + 1");
  // Both sides would become 32-bit: the cast has to stay.
  EXPECT_EQ(Print(Op("*", Cast(Scalar::kI64, I("a")), Cast(Scalar::kI64, Int(8)))),
            "(long long)a * 8");
  EXPECT_EQ(Print(Op("/", Cast(Scalar::kF32, I("a")), Cast(Scalar::kF32, I("b")))), "(float)a / b");
}

TEST(Print, SpellsLiteralsWithTheirType) {
  EXPECT_EQ(Print(Int(5)), "5");
  EXPECT_EQ(Print(Int(5, Scalar::kU32)), "5u");
  EXPECT_EQ(Print(Int(-5, Scalar::kI64)), "-5ll");
  EXPECT_EQ(Print(Int(1, Scalar::kBool)), "true");
  EXPECT_EQ(Print(Identity(FoldOp::kMax, Scalar::kI32)), "-2147483647 - 1");
  EXPECT_EQ(Print(Identity(FoldOp::kMax, Scalar::kF32)), "-INFINITY");
  Expr number;
  number.kind = ExprKind::kFloat;
  number.type = Scalar::kF32;
  number.float_value = 2;
  EXPECT_EQ(Print(std::make_shared<const Expr>(number)), "2.0f");
  number.float_value = 1e-5f;
  EXPECT_EQ(Print(std::make_shared<const Expr>(number)), "1e-05f");
}

TEST(Print, LeavesPromotionsOfIndicesOut) {
  const ExprPtr bin = Load("x", I("i"), Scalar::kU8);
  EXPECT_EQ(Print(Load("h", Cast(Scalar::kI32, bin), Scalar::kI32)), "h[x[i]]");
}

TEST(Substitute, ReplacesSymbolsAndSharesWhatIsUntouched) {
  const ExprPtr load = Load("x", I("i"), Scalar::kF32);
  const ExprPtr sum = Op("+", load, F("b"));
  const ExprPtr replaced = Substitute(sum, {{"i", Op("+", I("j"), Int(1))}});
  EXPECT_EQ(Print(replaced), "x[j + 1] + b");
  EXPECT_EQ(Substitute(sum, {{"q", I("r")}}), sum);
  EXPECT_EQ(replaced->operands[1], sum->operands[1]);
  EXPECT_TRUE(Mentions(replaced, "j"));
  EXPECT_FALSE(Mentions(replaced, "i"));
  EXPECT_EQ(Loads(replaced).size(), 1u);
}

TEST(Equal, ComparesStructureAndTypes) {
  EXPECT_TRUE(Equal(Op("+", I("a"), Int(1)), Op("+", I("a"), Int(1))));
  EXPECT_FALSE(Equal(Op("+", I("a"), Int(1)), Op("+", I("a"), Int(2))));
  EXPECT_FALSE(Equal(Symbol("a", Scalar::kI32), Symbol("a", Scalar::kI64)));
  EXPECT_FALSE(Equal(Op("-", I("a"), I("b")), Op("-", I("b"), I("a"))));
}

TEST(Simplify, FoldsIntegersAndLeavesFloatsAlone) {
  const auto simple = [](const ExprPtr& expr) { return Print(Simplify(expr)); };
  EXPECT_EQ(simple(Op("+", Op("*", I("a"), Int(1)), Int(0))), "a");
  EXPECT_EQ(simple(Op("-", Op("+", I("a"), Int(2)), Int(1))), "a + 1");
  EXPECT_EQ(simple(Op("+", Op("-", I("a"), Int(2)), Int(2))), "a");
  EXPECT_EQ(simple(Op("*", Int(3), Int(4))), "12");
  EXPECT_EQ(simple(Op("*", I("a"), Int(0))), "0");
  EXPECT_EQ(simple(Op("+", I("a"), Int(-3))), "a - 3");
  const ExprPtr zero = Identity(FoldOp::kSum, Scalar::kF32);
  EXPECT_EQ(simple(Op("+", F("x"), zero)), "x + 0.0f");
  EXPECT_EQ(simple(Op("*", Int(1 << 20), Int(1 << 20))), "1048576 * 1048576") << "would overflow";
  EXPECT_EQ(simple(Op("/", I("a"), Int(0))), "a / 0");
  EXPECT_EQ(simple(Cast(Scalar::kI32, Cast(Scalar::kU32, I("a")))), "a");
  EXPECT_EQ(simple(Cast(Scalar::kI64, Cast(Scalar::kU32, I("a")))), "(long long)(unsigned int)a");
}

TEST(Negate, TurnsIntegerComparisonsAroundButNotFloatOnes) {
  EXPECT_EQ(Print(Negate(Less(I("a"), I("b")))), "a >= b");
  EXPECT_EQ(Print(Negate(Less(F("a"), F("b")))), "!(a < b)");
  EXPECT_EQ(Print(Negate(Binary("||", Less(I("a"), Int(0)), Less(I("b"), I("c")), Scalar::kBool))),
            "a >= 0 && b >= c");
}

TEST(Combine, KeepsTheSpellingOfTheSource) {
  Accumulator m{"m", Scalar::kF32, FoldOp::kMax, nullptr, nullptr, "fmaxf"};
  EXPECT_EQ(Print(Combine(m, F("m"), F("v"))), "fmaxf(m, v)");
  m.spelling = "u > a ? u : a";
  EXPECT_EQ(Print(Combine(m, F("m"), F("v"))), "v > m ? v : m");
  m.spelling = "a >= u ? a : u";
  EXPECT_EQ(Print(Combine(m, F("m"), F("v"))), "m >= v ? m : v");
  Accumulator s{"s", Scalar::kF32, FoldOp::kSum, nullptr, nullptr, "fmaf"};
  EXPECT_EQ(Print(Combine(s, F("s"), Op("*", F("x"), F("y")))), "fmaf(x, y, s)");
  EXPECT_EQ(Print(Combine(s, F("s"), F("t"))), "s + t");
}

// Row softmax as in the header's picture.
Program Softmax() {
  Program program;
  program.kernel = "softmax_kernel";
  program.parameters = {{"x", Scalar::kF32, true, true, false, true, false},
                        {"y", Scalar::kF32, true, false, false, false, true},
                        {"rows", Scalar::kI32},
                        {"cols", Scalar::kI32}};
  program.dims = {{"row", DimKind::kPar, I("rows"), 0}};
  const ExprPtr x = Load("x", Op("+", Op("*", I("row"), I("cols")), I("c")), Scalar::kF32);
  const ExprPtr e = Call("expf", {Op("-", x, F("m"))}, Scalar::kF32);
  Stage max;
  max.dims = {{"c", DimKind::kFold, I("cols")}};
  max.accumulators = {
      {"m", Scalar::kF32, FoldOp::kMax, Identity(FoldOp::kMax, Scalar::kF32), x, "fmaxf"}};
  Stage sum;
  sum.dims = max.dims;
  sum.accumulators = {{"s", Scalar::kF32, FoldOp::kSum, Int(0), e, "+"}};
  Stage store;
  store.dims = {{"c", DimKind::kPar, I("cols")}};
  store.stores = {{"y", x->operands[0], Op("/", e, F("s"))}};
  program.stages = {max, sum, store};
  return program;
}

TEST(Format, PrintsTheProgramAsARecipe) {
  EXPECT_EQ(Format(Softmax()),
            "Program  softmax_kernel(x, y, rows, cols)  par: row in [0, rows)\n"
            "  Stage  fold  m = max over c in [0, cols) of x[row*cols + c], from -INFINITY\n"
            "  Stage  fold  s = sum over c in [0, cols) of expf(x[row*cols + c] - m), from 0\n"
            "  Stage  par c in [0, cols):  y[row*cols + c] = expf(x[row*cols + c] - m) / s\n");
}

TEST(Validate, AcceptsSoftmaxAndNamesWhatIsBroken) {
  EXPECT_EQ(Validate(Softmax()), std::nullopt);
  Program program = Softmax();
  program.stages.erase(program.stages.begin());
  EXPECT_THAT(Validate(program), Optional(HasSubstr("uses m before it is defined")));
  program = Softmax();
  program.stages[1].accumulators[0].update = Op("+", F("s"), F("m"));
  EXPECT_THAT(Validate(program), Optional(HasSubstr("uses s before it is defined")));
  program = Softmax();
  program.stages[1].accumulators[0].name = "m";
  EXPECT_THAT(Validate(program), Optional(HasSubstr("m is defined twice")));
  program = Softmax();
  program.stages[2].dims[0].extent = I("row");
  EXPECT_THAT(Validate(program), Optional(HasSubstr("extent of c mentions row")));
  program = Softmax();
  program.stages[2].stores[0].buffer = "rows";
  EXPECT_THAT(Validate(program), Optional(HasSubstr("rows, which is no buffer")));
  program = Softmax();
  program.stages[2].dims[0].kind = DimKind::kFold;
  EXPECT_THAT(Validate(program), Optional(HasSubstr("wrong kind")));
}

}  // namespace
}  // namespace optiml::rewrite
