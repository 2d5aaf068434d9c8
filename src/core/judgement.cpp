#include "core/judgement.h"

namespace optiml {

std::string VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kRefuted:
      return "refuted";
    case Verdict::kUnclear:
      return "unclear";
  }
  return "unclear";
}

}  // namespace optiml
