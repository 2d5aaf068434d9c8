#include "mot/mot_generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "mot/answer_loop.h"

namespace optiml::mot {
namespace {

Error BadOption(std::string what) {
  return Error(ErrorCode::kInvalidArgument, std::move(what));
}

}  // namespace

MotGenerator::MotGenerator(std::unique_ptr<ExpertPool> pool, const MotOptions& options)
    : pool_(std::move(pool)), options_(options), reader_(*pool_, options.latent_cache_bytes) {}

Result<std::unique_ptr<MotGenerator>> MotGenerator::Open(Bundle bundle, const ExpertFiles& files,
                                                         const MotOptions& options) {
  OPTIML_ASSIGN(auto pool, ExpertPool::Open(std::move(bundle), files, options.pool));
  std::unique_ptr<MotGenerator> generator(new MotGenerator(std::move(pool), options));
  OPTIML_TRY(generator->CheckOptions());
  const RouterWeights& router = generator->pool_->bundle().router;
  if (router.encoder == "ngrams") {
    generator->encoder_ = MakeNgramEncoder(router.code_width);
  } else if (router.encoder == "bert") {
    if (options.encoder.empty()) {
      return BadOption("the bundle's router needs its encoder's file");
    }
    OPTIML_ASSIGN(BertEncoder opened,
                  OpenBertEncoder(options.encoder, generator->pool_->expert(0).threads()));
    if (opened.model != router.encoder_model || opened.encoder->width() != router.code_width) {
      return BadOption(fmt::format("{} is not the encoder that the bundle's router was made for",
                                   options.encoder.string()));
    }
    generator->encoder_ = std::move(opened.encoder);
  }
  return generator;
}

Result<void> MotGenerator::CheckOptions() {
  const Bundle& bundle = pool_->bundle();
  if (!options_.primary.empty()) {
    OPTIML_ASSIGN(primary_, bundle.FindExpert(options_.primary));
    if (!bundle.experts[*primary_].can_be_primary) {
      return BadOption(fmt::format("expert {} cannot be the primary", options_.primary));
    }
  }
  const int experts = static_cast<int>(bundle.experts.size());
  if (options_.top_k < 0 || options_.top_k > experts) {
    return BadOption(fmt::format("{} experts cannot take part (1 to {})", options_.top_k, experts));
  }
  for (const auto& [name, view] : options_.views) {
    OPTIML_TRY(bundle.FindExpert(name));
    for (const std::string& part : view) {
      const auto& known = ViewParts();
      if (std::find(known.begin(), known.end(), part) == known.end()) {
        return BadOption(
            fmt::format("unknown part \"{}\" of a view (known: {})", part, fmt::join(known, " ")));
      }
    }
  }
  mixture_options_.mode = options_.mode.value_or(bundle.peer_mode);
  for (size_t q = 0; q < bundle.boundaries.size(); ++q) {
    const auto& depths = options_.depths;
    if (depths.empty() ||
        std::find(depths.begin(), depths.end(), static_cast<int>(q) + 1) != depths.end()) {
      mixture_options_.boundaries.push_back(q);
    }
  }
  for (const int depth : options_.depths) {
    if (depth < 1 || depth > static_cast<int>(bundle.boundaries.size())) {
      return BadOption(fmt::format("no boundary {} (1 to {})", depth, bundle.boundaries.size()));
    }
  }
  return {};
}

const std::vector<std::string>& MotGenerator::ViewOf(size_t expert) const {
  const BundleExpert& of_bundle = pool_->bundle().experts[expert];
  const auto found = options_.views.find(of_bundle.name);
  return found == options_.views.end() ? of_bundle.view : found->second;
}

Result<std::vector<llama_token>> MotGenerator::Tokens(size_t expert, const PromptViews& views) {
  const std::vector<ChatMessage> messages = ViewMessages(views, ViewOf(expert));
  if (messages.empty()) {
    return std::vector<llama_token>();
  }
  const Expert& model = pool_->expert(expert);
  OPTIML_ASSIGN(const std::string text,
                model.FormatPrompt(pool_->bundle().experts[expert].prompt_format, messages));
  return model.Tokenize(text);
}

Result<std::vector<float>> MotGenerator::Encode(const PromptViews& views) {
  if (encoder_ != nullptr) {
    return encoder_->Encode(WholeText(views));
  }
  const size_t smallest = SmallestExpert(pool_->bundle());
  OPTIML_ASSIGN(std::vector<llama_token> tokens, Tokens(smallest, views));
  if (tokens.empty()) {
    OPTIML_ASSIGN(tokens, pool_->expert(smallest).Tokenize(WholeText(views)));
  }
  OPTIML_ASSIGN(const auto read, reader_.Read(smallest, tokens));
  return read->mean;
}

Result<Route> MotGenerator::RouteOf(const PromptViews& views) {
  OPTIML_ASSIGN(const std::vector<float> code, Encode(views));
  const Bundle& bundle = pool_->bundle();
  const int top_k = options_.top_k > 0 ? options_.top_k : bundle.router.top_k;
  return ChooseRoute(bundle, RouterScores(bundle, code), top_k, primary_);
}

Result<std::vector<MixturePeer>> MotGenerator::Peers(const Route& route, const PromptViews& views) {
  std::vector<MixturePeer> peers;
  if (!options_.mixture) {
    return peers;
  }
  for (const size_t m : route.peers) {
    OPTIML_ASSIGN(std::vector<llama_token> view, Tokens(m, views));
    if (!view.empty()) {
      peers.push_back({m, std::move(view)});
    }
  }
  return peers;
}

Result<bool> MotGenerator::ReadPrompt(Mixture& mixture, Expert& primary, size_t index,
                                      const std::vector<llama_token>& prompt) {
  const ContentHash key = mixture.Key(prompt);
  if (pool_->prompt_key(index) == key) {
    return true;
  }
  pool_->prompt_key(index) = ContentHash();
  primary.Forget();
  OPTIML_TRY(primary.Prefill(prompt, 0, 0));
  const std::span<const float> logits = primary.Logits(-1);
  prompt_logits_.assign(logits.begin(), logits.end());
  for (size_t m = 0; m < pool_->bundle().experts.size(); ++m) {
    pool_->prompt_key(m) = ContentHash();  // there is one prompt_logits_
  }
  pool_->prompt_key(index) = key;
  return false;
}

Result<Generated> MotGenerator::Generate(const PromptViews& views, int n,
                                         const GenerateOptions& options) {
  OPTIML_CHECK(n >= 1 && !views.messages.empty(), "a request asks something");
  AnswerRequest request;
  if (options.time_limit.count() > 0) {
    request.deadline = std::chrono::steady_clock::now() + options.time_limit;
  }
  Generated generated;
  OPTIML_ASSIGN(generated.route, RouteOf(views));
  const size_t index = generated.route.primary;
  Expert& primary = pool_->expert(index);
  OPTIML_ASSIGN(const std::vector<llama_token> prompt, Tokens(index, views));
  OPTIML_ASSIGN(std::vector<MixturePeer> peers, Peers(generated.route, views));
  if (prompt.empty() || static_cast<int64_t>(prompt.size()) >= primary.context_tokens()) {
    return BadOption(
        fmt::format("a prompt of {} tokens leaves {} nothing to answer in (its "
                    "context is {})",
                    prompt.size(), primary.facts().file, primary.context_tokens()));
  }
  generated.prompt_tokens = static_cast<int64_t>(prompt.size());
  for (const MixturePeer& peer : peers) {
    generated.view_tokens += static_cast<int64_t>(peer.view.size());
  }
  Mixture mixture(*pool_, reader_, index, std::move(peers), mixture_options_);
  const bool one_at_a_time = mixture.answers_one_at_a_time();
  request.width = std::max(options.width, one_at_a_time ? 1 : n);
  if (primary.sequences() < request.width) {
    pool_->prompt_key(index) = ContentHash();
    OPTIML_TRY(primary.MakeRoom(request.width));
  }
  request.prompt_tokens = generated.prompt_tokens;
  OPTIML_TRY(mixture.Bind(generated.prompt_tokens, options.sampling.max_tokens));
  OPTIML_ASSIGN(generated.prompt_reused, ReadPrompt(mixture, primary, index, prompt));
  request.prompt_logits = prompt_logits_;
  request.count = one_at_a_time ? 1 : n;
  for (; request.first < n; request.first += request.count) {
    OPTIML_TRY(mixture.BeginAnswer());
    auto answered = RunAnswers(primary, mixture, options, request);
    if (!answered) {
      pool_->prompt_key(index) = ContentHash();
      return std::move(answered).error();
    }
    for (Candidate& candidate : *answered) {
      generated.candidates.push_back(std::move(candidate));
    }
  }
  return generated;
}

}  // namespace optiml::mot
