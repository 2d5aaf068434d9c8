#include "mot/mot_chat_model.h"

#include "llm/json_schema_grammar.h"

namespace optiml::mot {

std::string MotChatModel::name() const {
  std::string name = "mot";
  for (const BundleExpert& expert : generator_->pool().bundle().experts) {
    name += (name == "mot" ? ":" : "+") + expert.name;
  }
  return name;
}

Result<ChatReply> MotChatModel::Complete(const ChatRequest& request) {
  if (request.messages.empty() || request.max_tokens < 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "a request without a message or without room for an "
                 "answer");
  }
  PromptViews views;
  views.messages = request.messages;
  GenerateOptions options;
  if (!request.json_schema.empty()) {
    OPTIML_ASSIGN(options.sampling.grammar, JsonSchemaGrammar(request.json_schema));
    views.messages.back().text +=
        "\n\nAnswer with one JSON value, and nothing else, that follows this schema:\n" +
        request.json_schema;
  }
  if (parts_) {
    views.parts = parts_(request);
  }
  options.sampling.max_tokens = request.max_tokens;
  options.sampling.temperature = request.temperature;
  options.sampling.seed = request.seed;
  options.time_limit = request.time_limit;
  options.stop = request.stop;
  OPTIML_ASSIGN(Generated generated, generator_->Generate(views, 1, options));
  const Candidate& candidate = generated.candidates.front();
  ChatReply reply;
  reply.text = candidate.text;
  reply.end = candidate.cut ? ChatReply::End::kLength : ChatReply::End::kStop;
  reply.tokens.prompt = generated.prompt_tokens + generated.view_tokens;
  reply.tokens.cached_prompt = generated.prompt_reused ? generated.prompt_tokens : 0;
  reply.tokens.completion = candidate.tokens;
  return reply;
}

}  // namespace optiml::mot
