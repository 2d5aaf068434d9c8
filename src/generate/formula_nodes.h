#ifndef OPTIML_GENERATE_FORMULA_NODES_H_
#define OPTIML_GENERATE_FORMULA_NODES_H_

// What the parser, the rewriting and the matching of formulas share. Private to formula*.cpp.

#include <set>
#include <string>
#include <vector>

#include "generate/formula.h"

namespace optiml {

FormulaNode MakeNode(FormulaNode::Kind kind, std::vector<FormulaNode> kids, std::string name = "");
FormulaNode MakeNumber(double value);
FormulaNode MakeName(std::string name);

bool IsNumber(const FormulaNode& node, double value);
// "sum", "max": takes many values to one.
bool IsReduction(const std::string& name);
// A function that is called, never indexed.
bool IsFunction(const std::string& name);
// Calls whose operands tell operators apart: "dot(A, v)", "y.add_(x, alpha=a)".
bool IsArithmetic(const std::string& name);
bool IsIndexLetter(char c);
// A name that prose has as well: longer than a letter and its number, without underscore.
bool IsWordLike(const FormulaNode& node);
// Whether a part is there that only a formula has.
bool HasForm(const FormulaNode& node);
bool HasName(const FormulaNode& node);
// "alpha", "c", "1/n": a scalar by its look. `loosely`: any name in small letters.
bool IsScalar(const FormulaNode& node, bool loosely);

void Collect(const FormulaNode& node, FormulaNode::Kind kind,
             std::vector<const FormulaNode*>& found);
// Marks the names as arrays.
void MarkAll(FormulaNode& node, const std::set<std::string>& arrays);

}  // namespace optiml

#endif  // OPTIML_GENERATE_FORMULA_NODES_H_
