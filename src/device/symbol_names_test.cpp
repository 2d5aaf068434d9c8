#include "device/symbol_names.h"

#include <gtest/gtest.h>

namespace optiml {
namespace {

TEST(QualifiedSymbol, TwoCompilersAgree) {
  EXPECT_EQ(QualifiedSymbol("w"), "w");
  EXPECT_EQ(QualifiedSymbol("_ZL1w"), "w");
  EXPECT_EQ(QualifiedSymbol("_ZN1aL1qE"), "a::q");
  EXPECT_EQ(QualifiedSymbol("_ZN31_INTERNAL_00000000_4_m_cu__Z1fi1a1qE"), "a::q");
  EXPECT_EQ(QualifiedSymbol("_ZN12_GLOBAL__N_11tE"), "(nameless)::t");
  EXPECT_EQ(QualifiedSymbol("_ZN34_INTERNAL_00000000_4_k_cu_daaac7ba36_GLOBAL__N__00000000_4_k_cu_"
                            "daaac7ba1tE"),
            "(nameless)::t");
  EXPECT_EQ(QualifiedSymbol("_ZN34_INTERNAL_00000000_4_k_cu_daaac7ba1a36_GLOBAL__N__00000000_4_k_"
                            "cu_daaac7ba1b1zE"),
            "a::(nameless)::b::z");
  EXPECT_EQ(QualifiedSymbol("_ZN1a12_GLOBAL__N_11b1zE"), "a::(nameless)::b::z");
}

TEST(QualifiedSymbol, OfOtherNamesIsEmpty) {
  for (const char* name :
       {"_Z2tvIfE", "_ZZ1fiE3loc", "_ZN1a2tvIfEE", "_ZL", "_ZL9w", "_ZN99aE", "_ZL1wx", "_Z1w"}) {
    EXPECT_EQ(QualifiedSymbol(name), "") << name;
  }
}

}  // namespace
}  // namespace optiml
