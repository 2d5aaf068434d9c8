#ifndef OPTIML_MOT_ANSWER_LOOP_H_
#define OPTIML_MOT_ANSWER_LOOP_H_

// AnswerLoop: n answers to a prompt that the primary has read, token by token, in batches of one
// fixed width. Answer i follows from its seed and the width alone: not from the other answers, nor
// from when they end.

#include <chrono>
#include <functional>
#include <span>
#include <vector>

#include "mot/mixture.h"
#include "mot/mot_generator.h"

namespace optiml::mot {

struct AnswerRequest {
  int64_t prompt_tokens = 0;
  std::span<const float> prompt_logits;
  int first = 0;  // index of the first answer, for its seed
  int count = 1;
  int width = 1;  // >= count; the primary has room for that many sequences
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// The prompt is the whole of the primary's sequence 0, before and afterwards.
Result<std::vector<Candidate>> RunAnswers(Expert& primary, Mixture& mixture,
                                          const GenerateOptions& options,
                                          const AnswerRequest& request);

}  // namespace optiml::mot

#endif  // OPTIML_MOT_ANSWER_LOOP_H_
