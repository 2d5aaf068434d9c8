#include "generate/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace optiml {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Found(std::string_view text) {
  std::vector<std::string> found;
  for (const Formula& formula : FindFormulas(text)) {
    found.push_back(FormatFormula(formula.root));
  }
  return found;
}

bool Fit(std::string_view pattern, std::string_view text) {
  const std::vector<FormulaNode> parsed = ParsePattern(pattern);
  const std::vector<Formula> formulas = FindFormulas(text);
  EXPECT_EQ(parsed.size(), 1u) << pattern;
  return parsed.size() == 1 && formulas.size() == 1 && Fits(parsed[0], formulas[0].root);
}

TEST(Formula, NotationsOfOneMeaningAreOne) {
  EXPECT_EQ(Found("q[t] = fmaxf(p[t], 2.0f)"), Found("q(t) = np.maximum(p(t), 2)"));
  EXPECT_EQ(Found("v = u*u"), Found("v = u**2"));
  EXPECT_EQ(Found("v = pow(u, 2)"), Found("v = u^2"));
  EXPECT_EQ(Found("1 / sqrt(u + 3)"), Found("rsqrtf(u + 3)"));
  EXPECT_EQ(Found("total += p[i]*q[i]"), Found("total = sum_i p[i]*q[i]"));
  EXPECT_EQ(Found("m[i*ld+j] = 2*w[i*ld+j]"), Found("m[i][j] = 2*w[i][j]"));
  EXPECT_EQ(Found("G = M.T @ M"), Found("G = M' @ M"));
}

TEST(Formula, ProseIsNone) {
  for (const char* text : {"row-wise",
                           "k-means of points",
                           "bias + relu",
                           "4096*1024 values",
                           "lo/hi",
                           "n = 1e6",
                           "the 2-norm",
                           "1-D array",
                           "gamma/beta",
                           "(B*T, 4C)",
                           "exp(x)",
                           "dim=-1",
                           "O(n^2) pairs",
                           "1/n",
                           "x and y",
                           "M=N=8192",
                           "",
                           "((((((",
                           "f(",
                           "= =",
                           "a[",
                           "1 <<"}) {
    EXPECT_THAT(Found(text), ElementsAre()) << text;
  }
}

TEST(Formula, NamesOfAPatternStandForAnyNames) {
  EXPECT_TRUE(Fit("y = y + %a * x", "acc -= rate*grad"));
  EXPECT_TRUE(Fit("max(x, 0)", "out[k] = fmaxf(0.0f, in[k])"));
  EXPECT_TRUE(Fit("B[j][i] = A[i][j]", "dst(c, r) = src(r, c)"));
  EXPECT_FALSE(Fit("B[j][i] = A[i][j]", "dst(r, c) = src(r, c) + 1"));
  // One name is one name, and different ones are different.
  EXPECT_FALSE(Fit("y = y + %a * x", "z = y + a*x"));
  EXPECT_FALSE(Fit("mean((x - y)^2)", "mean((p - p)^2)"));
}

TEST(Formula, MatricesArraysAndScalarsAreToldApart) {
  EXPECT_TRUE(Fit("A * B", "P = Q * R"));
  EXPECT_FALSE(Fit("A * B", "P = Q .* R"));
  EXPECT_TRUE(Fit("@x * @y", "P = Q .* R"));
  EXPECT_FALSE(Fit("$a * &x", "P = Q .* R"));
  EXPECT_TRUE(Fit("A * &x", "b = K*u"));
  EXPECT_TRUE(Fit("$a * &x", "u *= 0.25"));
  EXPECT_FALSE(Fit("$a * &x", "w = u*v"));
  EXPECT_FALSE(Fit("&x' * &y", "u * v'"));
}

TEST(Formula, WhatIsReadOnlyInPartFitsNothing) {
  EXPECT_FALSE(Fit("y[i] = x[i]", "v[t] = u[t] % 7"));
  EXPECT_FALSE(Fit("%a * &x + $b", "v = a*u + b*(the neighbours)"));
}

TEST(Formula, AnyTextIsReadInTime) {
  std::string nested;
  for (int i = 0; i < 500; ++i) {
    nested += "1/(a*";
  }
  Found(nested);
  Found(std::string(100'000, '('));
  Found(std::string(100'000, '-') + "x");
  std::string sum = "y = x";
  for (int i = 0; i < 900; ++i) {
    sum += "+x";
  }
  Found(sum);
  EXPECT_THAT(ParsePattern("x +"), ElementsAre());
  EXPECT_THAT(ParsePattern(""), ElementsAre());
}

}  // namespace
}  // namespace optiml
