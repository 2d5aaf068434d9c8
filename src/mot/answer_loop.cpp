#include "mot/answer_loop.h"

#include <algorithm>

namespace optiml::mot {
namespace {

struct Answer {
  TokenSampler sampler;
  Candidate candidate;
  llama_token last = 0;  // chosen, not yet read by the primary
  bool done = false;
};

// Takes the next token of an answer out of its logits.
Result<void> Advance(Answer& answer, std::span<const float> logits, const Expert& primary,
                     bool may_go_on) {
  answer.last = answer.sampler.Next(logits);
  if (answer.last == LLAMA_TOKEN_NULL) {
    return Error(ErrorCode::kInternal, "no token of the primary's vocabulary follows the grammar");
  }
  if (primary.EndsAnswer(answer.last)) {
    answer.done = true;
    return {};
  }
  answer.candidate.text += primary.PieceOf(answer.last);
  ++answer.candidate.tokens;
  if (!may_go_on) {
    answer.done = answer.candidate.cut = true;
  }
  return {};
}

Result<void> CheckLimits(const GenerateOptions& options, const AnswerRequest& request) {
  if (options.stop != nullptr && options.stop->load()) {
    return Error(ErrorCode::kInterrupted, "the answer was interrupted");
  }
  if (std::chrono::steady_clock::now() > request.deadline) {
    return Error(ErrorCode::kTimeout, "the answer was not ready in its time");
  }
  return {};
}

Result<std::vector<Answer>> Begin(Expert& primary, const GenerateOptions& options,
                                  const AnswerRequest& request) {
  std::vector<Answer> answers;
  for (int i = 0; i < request.count; ++i) {
    SamplingOptions sampling = options.sampling;
    sampling.seed += static_cast<uint64_t>(request.first + i);
    OPTIML_ASSIGN(TokenSampler sampler, TokenSampler::Make(sampling, primary.vocabulary()));
    answers.push_back({std::move(sampler), {}, 0, false});
  }
  for (int i = 1; i < request.width; ++i) {
    primary.CopySequence(0, i);
  }
  return answers;
}

Result<void> Run(Expert& primary, Mixture& mixture, const GenerateOptions& options,
                 const AnswerRequest& request, std::vector<Answer>& answers) {
  const int64_t room = primary.context_tokens() - request.prompt_tokens;
  const int64_t most = std::min<int64_t>(options.sampling.max_tokens, room);
  for (Answer& answer : answers) {
    OPTIML_TRY(Advance(answer, request.prompt_logits, primary, most > 1));
  }
  std::vector<TokenRow> rows(static_cast<size_t>(request.width));
  for (int64_t place = 0; place + 1 < most; ++place) {
    if (std::all_of(answers.begin(), answers.end(), [](const Answer& a) { return a.done; })) {
      break;
    }
    OPTIML_TRY(CheckLimits(options, request));
    // Answers that are done, and rows that never were one, repeat a token: nobody looks at them.
    for (size_t i = 0; i < rows.size(); ++i) {
      const llama_token token = i < answers.size() ? answers[i].last : answers[0].last;
      rows[i] = {token, static_cast<llama_pos>(request.prompt_tokens + place),
                 static_cast<llama_seq_id>(i), true};
    }
    OPTIML_TRY(mixture.BeforeToken(answers[0].last, place));
    OPTIML_TRY(primary.Decode(rows));
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i].done) {
        OPTIML_TRY(
            Advance(answers[i], primary.Logits(static_cast<int>(i)), primary, place + 2 < most));
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Candidate>> RunAnswers(Expert& primary, Mixture& mixture,
                                          const GenerateOptions& options,
                                          const AnswerRequest& request) {
  OPTIML_ASSIGN(std::vector<Answer> answers, Begin(primary, options, request));
  const auto done = Run(primary, mixture, options, request, answers);
  primary.CutSequence(0, static_cast<llama_pos>(request.prompt_tokens));
  for (int i = 1; i < request.width; ++i) {
    primary.CutSequence(i, 0);
  }
  if (!done) {
    return done.error();
  }
  std::vector<Candidate> candidates;
  for (Answer& answer : answers) {
    candidates.push_back(std::move(answer.candidate));
  }
  return candidates;
}

}  // namespace optiml::mot
