#pragma once

#include <string>
#include <string_view>

namespace optiml {

// Choices written as statements or as in Python, as one expression: "if (m) y = a; else y = b;",
// "y = a if m else b", "if x > 0 then x else 0" are "m ? a : b". What is prose stays as it is.
std::string PlainConditionals(std::string_view text);

// "numpy's x" is no transpose: the s of a possessive is left out.
std::string WithoutPossessives(std::string_view text);

// Whether a function is called on one name: "np.exp(x)", "v.sum()", "MAXVAL(A)": it is data.
bool HasCallOnData(std::string_view text);

}  // namespace optiml
