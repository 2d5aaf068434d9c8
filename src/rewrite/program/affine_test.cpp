#include "rewrite/program/affine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rewrite/program/access.h"

namespace optiml::rewrite {
namespace {

ExprPtr I(const char* name) {
  return Symbol(name, Scalar::kI32);
}
ExprPtr Op(const char* op, ExprPtr a, ExprPtr b) {
  return Binary(op, std::move(a), std::move(b), Scalar::kI32);
}

std::string Show(const ExprPtr& index, const std::vector<Let>& lets = {}) {
  const std::vector<std::string> dims = {"row", "c"};
  const std::optional<Affine> affine = ToAffine(index, dims, lets);
  return affine ? FormatAffine(*affine, dims) : "none";
}

TEST(Affine, FindsTheSameFormWhateverTheOrderAndTheCasts) {
  const char* expected = "row*cols + c";
  EXPECT_EQ(Show(Op("+", Op("*", I("row"), I("cols")), I("c"))), expected);
  EXPECT_EQ(Show(Op("+", I("c"), Op("*", I("cols"), I("row")))), expected);
  EXPECT_EQ(Show(Op("+", Cast(Scalar::kU64, Op("*", Cast(Scalar::kI64, I("row")), I("cols"))),
                    Cast(Scalar::kU64, I("c")))),
            expected);
  EXPECT_EQ(
      Show(Op("-", Op("*", I("cols"), Op("+", I("row"), Int(1))), Op("-", I("cols"), I("c")))),
      expected);
}

TEST(Affine, UnderstandsShiftsMinusAndLets) {
  EXPECT_EQ(Show(Op("<<", Op("+", I("c"), Int(1)), Int(2))), "4*c + 4");
  EXPECT_EQ(Show(Unary("-", Op("-", I("c"), I("n")))), "-c + n");
  const std::vector<Let> lets = {{"base", Scalar::kI32, Op("*", I("row"), I("cols"))},
                                 {"at", Scalar::kI64, Op("+", I("base"), I("c"))}};
  EXPECT_EQ(Show(I("at"), lets), "row*cols + c");
}

TEST(Affine, HasNoFormForProductsOfDimsLoadsAndDivisionsOfDims) {
  EXPECT_EQ(Show(Op("*", I("row"), I("c"))), "none");
  EXPECT_EQ(Show(Op("/", I("c"), Int(2))), "none");
  EXPECT_EQ(Show(Op("%", I("c"), I("cols"))), "none");
  EXPECT_EQ(Show(Load("idx", I("c"), Scalar::kI32)), "none");
  EXPECT_EQ(Show(Cast(Scalar::kU8, I("c"))), "none");
  EXPECT_EQ(Show(I("bin"), {{"bin", Scalar::kI32, Load("idx", I("c"), Scalar::kI32)}}), "none");
}

TEST(Affine, HasNoFormForWhatAFloatLetGives) {
  const ExprPtr bin = Cast(Scalar::kI32, Symbol("value", Scalar::kF32));
  const std::vector<Let> lets = {{"value", Scalar::kF32, Load("data", I("c"), Scalar::kF32)},
                                 {"bin", Scalar::kI32, bin}};
  EXPECT_EQ(Show(bin, lets), "none");
  EXPECT_EQ(Show(I("bin"), lets), "none");
  EXPECT_EQ(Show(Op("+", bin, Op("*", I("row"), I("cols"))), lets), "none");
  EXPECT_EQ(Show(bin), "((int)value)");  // a parameter is invariant
}

TEST(Affine, KeepsInvariantDivisionsAsAtoms) {
  EXPECT_EQ(Show(Op("+", Op("*", I("row"), Op("/", I("n"), Int(2))), I("c"))), "row*(n / 2) + c");
}

TEST(Polynomial, ComputesAndPrints) {
  const Polynomial n = Polynomial::Of("n");
  const Polynomial m = Polynomial::Of("m");
  EXPECT_EQ(((n + Polynomial(1)) * (n - Polynomial(1))).Format(), "n*n - 1");
  EXPECT_EQ((n - n).Format(), "0");
  EXPECT_EQ((Polynomial(-2) * n).Format(), "-2*n");
  EXPECT_EQ(Print((m * n * Polynomial(2) - n + Polynomial(3)).ToExpr()), "2 * m * n - n + 3");
  EXPECT_EQ(Print((Polynomial(2) - n).ToExpr()), "-n + 2");
  EXPECT_EQ((m * n * Polynomial(4)).DividedBy(n * Polynomial(2)), m * Polynomial(2));
  EXPECT_EQ((m + Polynomial(1)).DividedBy(m), std::nullopt);
  EXPECT_EQ((n - n).Constant(), 0);
  EXPECT_EQ(n.Constant(), std::nullopt);
}

TEST(Polynomial, GivesBackTypesAndAtoms) {
  const ExprPtr half = Op("/", I("n"), Int(2));
  const ExprPtr wide = Symbol("total", Scalar::kI64);
  const std::optional<Polynomial> sum =
      ToPolynomial(Binary("+", Op("*", half, Int(3)), wide, Scalar::kI64));
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->Format(), "3*(n / 2) + total");
  EXPECT_EQ(Print(sum->ToExpr()), "3 * (n / 2) + total");
  EXPECT_EQ(sum->ToExpr()->type, Scalar::kI64);
  EXPECT_TRUE(Mentions(sum->ToExpr(), "n"));
}

std::vector<Dim> RowsAndColumns() {
  return {{"row", DimKind::kPar, I("rows")}, {"c", DimKind::kPar, I("cols")}};
}

bool Injective(const ExprPtr& index, const std::vector<Dim>& dims) {
  std::vector<std::string> names;
  for (const Dim& dim : dims) {
    names.push_back(dim.name);
  }
  const std::optional<Affine> affine = ToAffine(index, names);
  return affine && IsInjective(*affine, dims);
}

TEST(Injective, ProvesDenseLayoutsAndRefusesOverlaps) {
  const std::vector<Dim> dims = RowsAndColumns();
  EXPECT_TRUE(Injective(Op("+", Op("*", I("row"), I("cols")), I("c")), dims));
  EXPECT_TRUE(Injective(Op("+", Op("*", I("c"), I("rows")), I("row")), dims));
  EXPECT_TRUE(Injective(Op("-", Op("*", I("row"), I("cols")), I("c")), dims));
  EXPECT_FALSE(Injective(Op("+", Op("*", I("row"), I("rows")), I("c")), dims));
  EXPECT_FALSE(Injective(Op("+", I("row"), I("c")), dims));
  EXPECT_FALSE(Injective(I("row"), dims)) << "every c would meet";
  EXPECT_FALSE(Injective(Op("+", Op("*", I("row"), I("ld")), I("c")), dims));
  // Extents that are differences, as those of windows that lie inside of an image.
  const ExprPtr inner = Op("-", I("cols"), I("width"));
  const std::vector<Dim> windows = {{"row", DimKind::kPar, Op("-", I("rows"), I("height"))},
                                    {"c", DimKind::kPar, inner}};
  EXPECT_TRUE(Injective(Op("+", Op("*", I("row"), inner), I("c")), windows));
  EXPECT_TRUE(Injective(Op("-", Op("*", I("row"), inner), I("c")), windows));
  EXPECT_FALSE(Injective(Op("+", Op("*", I("row"), Op("-", inner, Int(1))), I("c")), windows));
  EXPECT_FALSE(Injective(Op("+", Op("*", I("row"), I("width")), I("c")), windows));
  EXPECT_FALSE(Injective(Op("*", I("row"), inner), windows)) << "every c would meet";
  const std::vector<Dim> volume = {{"d", DimKind::kPar, I("depth")},
                                   {"row", DimKind::kPar, I("rows")},
                                   {"c", DimKind::kPar, I("cols")}};
  const ExprPtr plane = Op("*", I("rows"), I("cols"));
  EXPECT_TRUE(Injective(
      Op("+", Op("*", I("d"), plane), Op("+", Op("*", I("row"), I("cols")), I("c"))), volume));
  EXPECT_FALSE(Injective(
      Op("+", Op("*", I("d"), I("rows")), Op("+", Op("*", I("row"), I("cols")), I("c"))), volume));
}

TEST(Injective, AllowsBordersThatShrinkTheExtents) {
  const std::vector<Dim> inner = {{"i", DimKind::kPar, Op("-", I("h"), Int(2))},
                                  {"j", DimKind::kPar, Op("-", I("w"), Int(2))}};
  const ExprPtr index = Op("+", Op("*", Op("+", I("i"), Int(1)), I("w")), Op("+", I("j"), Int(1)));
  EXPECT_TRUE(Injective(index, inner));
  const std::vector<Dim> wider = {{"i", DimKind::kPar, I("h")},
                                  {"j", DimKind::kPar, Op("+", I("w"), Int(1))}};
  EXPECT_FALSE(Injective(index, wider));
}

Program InPlace(const ExprPtr& load_index, const ExprPtr& store_index) {
  Program program;
  program.kernel = "k";
  program.parameters = {{"y", Scalar::kF32, true}, {"rows", Scalar::kI32}, {"cols", Scalar::kI32}};
  program.dims = {{"row", DimKind::kPar, I("rows"), 0}};
  Stage sum;
  sum.dims = {{"c", DimKind::kFold, I("cols")}};
  sum.accumulators = {{"s", Scalar::kF32, FoldOp::kSum, Identity(FoldOp::kSum, Scalar::kF32),
                       Load("y", load_index, Scalar::kF32), "+"}};
  Stage store;
  store.dims = {{"c", DimKind::kPar, I("cols")}};
  store.stores = {{"y", store_index, Symbol("s", Scalar::kF32)}};
  program.stages = {sum, store};
  return program;
}

TEST(Conflicts, InPlaceRowsAreSeparateAndShiftedOnesAreNot) {
  const ExprPtr same = Op("+", Op("*", I("row"), I("cols")), I("c"));
  Program program = InPlace(same, same);
  std::vector<Access> accesses = Accesses(program);
  ASSERT_EQ(accesses.size(), 2u);
  EXPECT_FALSE(accesses[0].is_store);
  EXPECT_FALSE(MayConflictAcrossPoints(program, accesses[0], accesses[1]));
  EXPECT_EQ(StrideOf(accesses[0], "c"), Stride::kOne);
  EXPECT_EQ(StrideOf(accesses[0], "row"), Stride::kSymbolic);
  EXPECT_TRUE(StageDependsOn(program, 1, 0));

  program = InPlace(Op("+", same, Int(1)), same);
  accesses = Accesses(program);
  EXPECT_TRUE(MayConflictAcrossPoints(program, accesses[0], accesses[1]));
}

TEST(Conflicts, MembersOfARecordAreSeparateAsLongAsTheStrideHasRoomForThem) {
  Program program = InPlace(I("row"), I("row"));
  const auto conflict = [&](const ExprPtr& a, const ExprPtr& b) {
    Stage stores;
    stores.stores = {{"y", a, Symbol("s", Scalar::kF32)}, {"y", b, Symbol("s", Scalar::kF32)}};
    program.stages[1] = stores;
    const std::vector<Access> accesses = Accesses(program);
    return MayConflictAcrossPoints(program, accesses[1], accesses[2]);
  };
  const auto at = [](int64_t stride, int64_t member) {
    return Op("+", Op("*", I("row"), Int(stride)), Int(member));
  };
  EXPECT_FALSE(conflict(at(3, 0), at(3, 1)));
  EXPECT_FALSE(conflict(at(3, 0), at(3, 2)));
  EXPECT_FALSE(conflict(at(3, 2), at(3, 0)));
  EXPECT_FALSE(conflict(at(-3, 2), at(-3, 1)));
  EXPECT_TRUE(conflict(at(3, 0), at(3, 3)));
  EXPECT_TRUE(conflict(at(1, 0), at(1, 1)));
  EXPECT_TRUE(conflict(at(3, 0), at(4, 1)));
  EXPECT_TRUE(conflict(at(3, 0), Op("+", at(3, 0), I("cols"))));
}

}  // namespace
}  // namespace optiml::rewrite
