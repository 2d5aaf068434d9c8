#ifndef OPTIML_TESTS_AGREE_EMULATE_H_
#define OPTIML_TESTS_AGREE_EMULATE_H_

#include "base/result.h"
#include "corpus.h"

namespace optiml::agree {

// Runs a case on the emulator with every check. Fails with the reason when it cannot be executed,
// or when a check found something.
Result<Outputs> Emulate(const Case& c);

}  // namespace optiml::agree

#endif  // OPTIML_TESTS_AGREE_EMULATE_H_
