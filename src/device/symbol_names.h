#ifndef OPTIML_DEVICE_SYMBOL_NAMES_H_
#define OPTIML_DEVICE_SYMBOL_NAMES_H_

// Names of module variables as two compilers write them. Variables of internal linkage (static
// ones, and those of namespaces without a name) are mangled in another way by the front end and by
// NVRTC:
//
//   source                        front end             NVRTC
//   static __constant__ w         _ZL1w                 w
//   namespace a { static ... q }  _ZN1aL1qE             _ZN31_INTERNAL_<file>1a1qE
//   namespace { ... t }           _ZN12_GLOBAL__N_11tE _ZN34_INTERNAL_<file>36_GLOBAL__N__<file>1tE

#include <string>
#include <string_view>

#include "ptx/module.h"

namespace optiml {

// The names of the scopes and of the variable, the same for both spellings: "a::q",
// "(nameless)::t". Empty for what is no plain qualified name (templates, variables of functions):
// those are spelled alike.
std::string QualifiedSymbol(std::string_view mangled);

// The module's own name of a variable that a plan names as the front end does; empty when the
// module has none: no kernel uses it.
std::string VariableName(const ptx::Module& module, const std::string& symbol);

}  // namespace optiml

#endif  // OPTIML_DEVICE_SYMBOL_NAMES_H_
