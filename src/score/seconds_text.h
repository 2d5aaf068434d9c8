#ifndef OPTIML_SCORE_SECONDS_TEXT_H_
#define OPTIML_SCORE_SECONDS_TEXT_H_

#include <string>

namespace optiml {

// For the sentences of rewards and chains: "19.02 us"; four digits, in s, ms, us or ns.
std::string SecondsText(double seconds);

}  // namespace optiml

#endif  // OPTIML_SCORE_SECONDS_TEXT_H_
